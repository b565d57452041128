// A rendezvous message as its receiver knows it from the RTS, also while no receive matches it.
#pragma once

#include <cstdint>
#include <memory>

#include "ucp/core/slots.hpp"
#include "ucp/mem/access_path.hpp"
#include "ucs/datastruct/intrusive.hpp"

namespace ucp {

// The contents of an RTS.
struct rts_info {
    std::uint64_t total = 0;
    std::uint64_t request = 0;  // the sender's request
    std::uint64_t address = 0;  // address that the data can be read from, or 0
    bool confirm = false;       // the receiver must ask, after reading, whether the send still ran
    std::unique_ptr<mem::access_path> memory = nullptr;  // access by keys, if the RTS has keys
};

// Base of the objects that store an RTS until a receive matches it. It is in its endpoint's list,
// so that it is notified when the sender is gone. Owner context.
struct unexpected_rts {
    // The sender behind `from` is gone; the object is in no list any more.
    void (*lost)(worker& owner, ep& from, unexpected_rts& self) = nullptr;
    ucs::datastruct::auto_unlink_hook sender_hook;
};

// Slot of an endpoint: they cannot end without the peer, and are dropped when it is gone.
struct unexpected_rts_messages {
    explicit unexpected_rts_messages(ep&) noexcept {}

    ucs::datastruct::auto_list<unexpected_rts, &unexpected_rts::sender_hook> list;
};

}  // namespace ucp
