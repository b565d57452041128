// Recognizes repeated connection requests by the numbers that their senders give them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "ucs/random/siphash.hpp"
#include "ucs/security/key_pair.hpp"

namespace ucp::wireup {

// A worker numbers all requests that it sends, to any peer and also when it repeats one. The proof
// of the request covers the number. The receiver accepts a request only if its number is higher
// than that of every other request of the sender that came. So a request that an attacker has
// recorded, or that was delayed, takes no endpoint that waits for the sender. The requests of a
// worker to one peer come in order, because all go over one lane, and the worker repeats a request
// with a new number when the lane changes.
//
// The table of senders has a fixed size, so that a server does not grow with each client. It is
// made for the first request, and the system gives memory only for pages that are used. Each sender
// has a place in one of the sets; a full set forgets the sender that has been silent for longest. A
// hash with a random key selects the set, so no sender can aim at the set of another worker. Owner
// context.
class request_order {
public:
    static constexpr std::size_t senders_of_set = 8;
    static constexpr std::size_t most_senders = 16'384;

    // `most` is a multiple of senders_of_set.
    explicit request_order(std::size_t most = most_senders) noexcept
        : sets_(most / senders_of_set) {}

    // Returns the number of the next request that this worker sends, from 1.
    [[nodiscard]] std::uint64_t next() noexcept { return ++sent_; }

    // Returns whether a request of the worker with this key is newer than all its others that came,
    // and stores its number then. The caller has verified the proof of the request. Throws
    // std::bad_alloc if there is no memory for the table.
    [[nodiscard]] bool take(const ucs::security::public_key& sender, std::uint64_t number);

private:
    struct place {
        std::uint64_t sender;  // the hash of its key
        std::uint64_t last;    // the highest number so far, 0 in a free place
    };
    struct release {
        void operator()(place* table) const noexcept { std::free(table); }
    };

    [[nodiscard]] std::uint64_t hash_of(const ucs::security::public_key& sender) const noexcept;

    const std::size_t sets_;
    std::uint64_t sent_ = 0;
    ucs::sys::hash_key secret_{};  // random, made with the table
    std::unique_ptr<place[], release> table_;
};

}  // namespace ucp::wireup
