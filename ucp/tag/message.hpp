// A message that arrived before its receive was posted (an unexpected message).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "ucp/proto/eager_window.hpp"
#include "ucp/rndv/rts.hpp"
#include "ucp/tag/match/unexpected.hpp"
#include "ucs/type/allocated.hpp"
#include "ucs/type/status.h"

namespace ucp {

struct assembly;

// The matcher stores the message until a receive or a probe takes it. Its size follows its data: a
// small message is one recycled object, a longer one owns memory of exactly its length. Owner
// context.
struct message : tag::unexpected_entry, unexpected_rts {
    enum class kind : std::uint8_t { eager, rendezvous };

    static constexpr std::size_t inline_capacity = 128;

    // Memory cost, in addition to the data, of each further fragment and of a message whose
    // fragments have not all arrived.
    static constexpr std::size_t fragment_cost = 96;
    static constexpr std::size_t unfinished_cost = 192;
    // Returns the memory cost of the keys attached to an RTS.
    [[nodiscard]] static constexpr std::size_t keys_cost(std::size_t packed_length) noexcept {
        return packed_length == 0 ? 0 : 256 + packed_length;
    }

    // A fragment of a longer message.
    struct fragment {
        std::size_t offset;
        std::size_t length;
        std::unique_ptr<std::byte[]> data;
    };

    std::uint64_t total = 0;
    std::uint64_t ep = 0;  // endpoint for the reply; 0: no reply is expected
    // the sender's request that waits for an ack, a data request or a status
    std::uint64_t request = 0;
    std::uint64_t address = 0;  // rendezvous: address from which the data can be read, or 0
    std::unique_ptr<mem::access_path> memory;  // see rts_info
    kind type = kind::eager;
    bool confirm = false;            // rendezvous: see rts_info
    ucs_status_t status = UCS_OK;    // set when the sender failed or memory ran out
    bool queued = false;             // false: a probe removed it
    assembly* unfinished = nullptr;  // set while more fragments are to come
    std::size_t accounted = 0;       // bytes that this message counts in unexpected_memory
    std::uint64_t connection = 0;    // the connection that this message counts for; 0: none
    std::size_t inline_length = 0;
    std::vector<fragment> fragments;
    message* next_spare = nullptr;
    alignas(8) std::byte inline_data[inline_capacity];

    // Keeps a copy of a fragment. Returns false if there is no memory.
    [[nodiscard]] bool keep(std::size_t offset, const std::byte* data,
                            std::size_t length) noexcept {
        const bool kept = ucs::allocated([&] {
            fragments.push_back(
                {offset, length, std::make_unique_for_overwrite<std::byte[]>(length)});
        });
        if (!kept) return false;
        std::memcpy(fragments.back().data.get(), data, length);
        return true;
    }
};

// The cost includes the overhead of the heap and the tables.
static_assert(sizeof(message) + 32 <= eager_window::message_cost);

}  // namespace ucp
