// A fragmented message on its way in.
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

// What becomes of the parts: one constant table per kind of message. None of the functions is
// called with an assembly that is over.
struct assembly_sink {
    // Takes the part that follows what came before. Must not throw.
    void (*add)(worker& owner, assembly& into, const std::byte* data, std::size_t length);
    // Where that part belongs in one piece of memory, or nullptr: then `add` takes it.
    void* (*place)(const assembly& into) noexcept;
    // All is here. `whole` is a copy: the assembly itself is gone.
    void (*done)(worker& owner, const assembly& whole);
    // The rest will not come, because the sender behind `from` is gone. A copy as well.
    void (*lost)(worker& owner, ep& from, const assembly& half);
};

// Owned by the worker's assembler. Owner context.
struct assembly {
    std::uint64_t ep;      // receiving endpoint, as the sender names it
    std::uint64_t number;  // of the message on that endpoint
    std::uint64_t total;
    std::uint64_t received;  // fragments of one endpoint come in order
    std::uint64_t first;     // length of the first fragment
    std::uint64_t started;   // when it came, ns
    const assembly_sink* sink;

    // Where the data goes; all nullptr: it is dropped.
    request* receiver;  // a matched receive,
    message* stored;    // or an unexpected message,
    am_block* block;    // or memory for an active message

    ucs::datastruct::auto_unlink_hook sender_hook;  // in its endpoint's list
};

}  // namespace ucp
