// State of a fragmented message that is being received.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ucs/datastruct/intrusive.hpp"

namespace ucp {

class ep;
class worker;
struct am_block;
struct assembly;
struct message;
struct request;

// Receives the data of fragmented messages: one constant table per kind of message. No function is
// called for an assembly that has ended.
struct assembly_sink {
    // Takes the next fragment. Must not throw.
    void (*add)(worker& owner, assembly& into, const std::byte* data, std::size_t length);
    // Returns the address for the next fragment in contiguous memory, or nullptr if `add` must take
    // it.
    void* (*locate)(const assembly& into) noexcept;
    // Called when all data has arrived. `whole` is a copy; the assembly itself is gone.
    void (*done)(worker& owner, const assembly& whole);
    // Called when the rest will not arrive, because the sender behind `from` is gone. `incomplete`
    // is a copy, too.
    void (*lost)(worker& owner, ep& from, const assembly& incomplete);
};

// Owned by the worker's assembler. Owner context.
struct assembly {
    std::uint64_t ep;      // receiving endpoint, as the sender names it
    std::uint64_t number;  // number of the message on that endpoint
    std::uint64_t total;
    std::uint64_t received;  // fragments of one endpoint come in order
    std::uint64_t first;     // length of the first fragment
    std::uint64_t started;   // arrival of the first fragment, ns
    const assembly_sink* sink;

    // Destination of the data; if all are nullptr, the data is dropped.
    request* receiver;  // a matched receive
    message* stored;    // an unexpected message
    am_block* block;    // memory for an active message

    ucs::datastruct::auto_unlink_hook sender_hook;  // in its endpoint's list
};

}  // namespace ucp
