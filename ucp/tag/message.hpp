// A message that arrived before its receive was posted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ucp/rndv/announcement.hpp"
#include "ucp/tag/budget.hpp"
#include "ucp/tag/match/unexpected.hpp"
#include "ucs/type/status.h"

namespace ucp {

struct assembly;

// Stored by the matcher until a receive or a probe takes it. Takes the space that its data needs:
// a small message is one recycled object, a longer one owns memory of just its length. Owner
// context.
struct message : tag::unexpected_entry, kept_announcement {
    enum class kind : std::uint8_t { eager, rendezvous };

    static constexpr std::size_t inline_capacity = 128;

    // What a fragment behind the first takes beside its data, and a message that is not all here.
    static constexpr std::size_t fragment_cost = 96;
    static constexpr std::size_t unfinished_cost = 192;
    // Returns the bytes that the attached keys of an announcement take.
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
    std::uint64_t ep = 0;       // whom to answer; 0: nobody waits for an answer
    std::uint64_t request = 0;  // the sender's request that waits for ack, data request or status
    std::uint64_t address = 0;  // rendezvous: where the data can be read, or 0
    std::unique_ptr<mem::reached_memory> memory;  // see announced
    kind type = kind::eager;
    bool confirm = false;            // rendezvous: see announced
    ucs_status_t status = UCS_OK;    // set when the sender failed, or memory did
    bool queued = false;             // false: a probe took it out
    assembly* unfinished = nullptr;  // more fragments are to come
    std::size_t accounted = 0;       // of the worker's room for messages
    std::uint64_t connection = 0;    // that this counts for; 0: none
    std::size_t inline_length = 0;
    std::vector<fragment> fragments;
    message* next_spare = nullptr;
    alignas(8) std::byte inline_data[inline_capacity];

    // Keeps a copy of a piece of the data. False: no memory.
    [[nodiscard]] bool keep(std::size_t offset, const std::byte* data, std::size_t length) noexcept;
};

// With what the heap and the tables add.
static_assert(sizeof(message) + 32 <= eager_budget::message_cost);

}  // namespace ucp
