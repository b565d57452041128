// A fragmented message on its way in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

#include "ucs/datastruct/intrusive.hpp"
#include "ucs/sys/uuid.hpp"

namespace ucp {

struct message;
struct request;

// Either goes into a matched receive or is stored as an unexpected message. Owner context.
struct assembly {
    std::uint64_t ep;      // receiving endpoint, as the sender names it
    std::uint64_t number;  // of the message on that endpoint
    std::uint64_t total;
    std::uint64_t received;                         // fragments of one endpoint come in order
    std::uint64_t first;                            // length of the first fragment
    std::uint64_t started;                          // when it came, ns
    request* receiver;                              // or nullptr
    message* stored;                                // or nullptr; both nullptr: the rest is dropped
    ucs::datastruct::auto_unlink_hook sender_hook;  // in its endpoint's list
};

struct assembly_key {
    std::uint64_t ep;
    std::uint64_t number;
    bool operator==(const assembly_key&) const = default;
};

struct assembly_hash {
    std::size_t operator()(const assembly_key& key) const noexcept {
        return ucs::sys::mix(key.ep ^ ucs::sys::mix(key.number));
    }
};

using assembly_map = std::unordered_map<assembly_key, assembly, assembly_hash>;

}  // namespace ucp
