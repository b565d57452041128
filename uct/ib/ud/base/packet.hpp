// Packets in memory that the device sends from.
#pragma once

#include <cstring>

#include "uct/api/types.hpp"
#include "uct/ib/base/memory/local_pieces.hpp"
#include "uct/ib/ud/base/send_window.hpp"
#include "uct/ib/ud/base/wire.hpp"

namespace uct::ud {

class connection;

// A header and the bytes after it. A packet is first in a send window, and then, until the device
// is done with it, with the transmitter. Allocated from a pool; owner context.
struct packet : tx_packet {
    connection* conn = nullptr;
    std::byte* bytes = nullptr;  // the header and the copied bytes after it
    std::uint32_t length = 0;    // of `bytes`
    std::uint32_t key = 0;
    std::uint32_t request = 0;  // the last work request that carried it
    bool at_device = false;     // the device may be reading it
    const bool from_memory;     // the packet is a `direct`

    [[nodiscard]] wire::header head() const noexcept {
        wire::header read;
        std::memcpy(&read, bytes, sizeof read);
        return read;
    }
    void set_head(const wire::header& with) noexcept { std::memcpy(bytes, &with, sizeof with); }

protected:
    explicit packet(bool direct) noexcept : from_memory(direct) {}
};

// A packet whose bytes are all copied. The body is aligned to 8 bytes.
struct bounce final : packet {
    bounce() noexcept : packet(false) { bytes = buffer; }
    [[nodiscard]] std::byte* body() noexcept { return buffer + wire::header_size; }

    alignas(8) std::byte buffer[wire::header_size];  // the allocation is longer
};

// A packet whose end lies in the program's memory.
struct direct final : packet {
    static constexpr std::size_t most_copied = 128;

    direct() noexcept : packet(true) { bytes = buffer; }

    ib::local_pieces pieces;
    ibv_sge list[1 + ib::local_pieces::most];  // the first is for `bytes`
    completion* done = nullptr;
    ucs_status_t status = UCS_OK;
    alignas(8) std::byte buffer[wire::header_size + most_copied];
};

}  // namespace uct::ud
