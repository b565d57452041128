// Descriptors: memory that the device sends from or writes results into, with the work to do at the
// end.
#pragma once

#include <array>
#include <cstring>

#include "ucs/memory/mpool.hpp"
#include "uct/ib/base/memory/local_pieces.hpp"
#include "uct/ib/base/memory/registered_chunks.hpp"
#include "uct/ib/rc/base/tx_op.hpp"

namespace uct::rc {

// A whole message, or a block of a read or write. The message begins after one byte of header, at a
// multiple of 8.
struct bounce final : tx_op {
    std::uint32_t key;
    void* into;  // of a read: the program's destination
    std::size_t length;
    alignas(8) std::byte pad[7];
    std::byte data[1];  // the allocation is longer

    [[nodiscard]] std::byte* message() noexcept { return data + 1; }
    // As tx_op::finish: the bytes have been sent, and no caller waits.
    static void end(tx_op& self) noexcept { ucs::memory::mpool::put(&static_cast<bounce&>(self)); }
    [[nodiscard]] ibv_sge piece(const std::byte* from, std::size_t bytes) const noexcept {
        return {reinterpret_cast<std::uint64_t>(from), static_cast<std::uint32_t>(bytes), key};
    }
};

// An operation on the program's own memory, with some bytes of its own: a header, or the result of
// an atomic operation.
struct direct final : stepped_op {
    static constexpr std::size_t extra_bytes = 256;

    ib::local_pieces pieces;
    std::uint32_t key = 0;
    bool asked = false;  // of an atomic operation: the device will return a result
    alignas(8) std::array<std::byte, extra_bytes> bytes;

    [[nodiscard]] ibv_sge extra_piece(std::size_t length) const noexcept {
        return {reinterpret_cast<std::uint64_t>(bytes.data()), static_cast<std::uint32_t>(length),
                key};
    }

    direct() noexcept { for_user = holds_memory = true; }
    // Returns the descriptor to its pool.
    void put_back() noexcept {
        stepped_hook.unlink();
        pieces.release();
        ucs::memory::mpool::put(this);
    }
    // As tx_op::finish: calls the completion.
    static void end(tx_op& self) noexcept {
        auto& op = static_cast<direct&>(self);
        completion* const waiting = op.done;
        const ucs_status_t result = op.status;
        op.put_back();
        if (waiting != nullptr) waiting->finish(result);
    }
};

using descriptors = ib::descriptor_pools<bounce, direct>;

}  // namespace uct::rc
