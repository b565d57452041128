// An announced message that no receive has yet.
#pragma once

#include <cstdint>
#include <memory>

#include "ucp/mem/reached.hpp"
#include "ucs/datastruct/intrusive.hpp"

namespace ucp {

class ep;
class worker;

// An announced message as its receiver knows it.
struct announced {
    std::uint64_t total = 0;
    std::uint64_t request = 0;  // of the sender
    std::uint64_t address = 0;  // where the data can be read, or 0
    bool confirm = false;       // who has read it asks whether the send still ran
    std::unique_ptr<mem::reached_memory> memory = nullptr;  // to be read by, if it has keys
};

// Base of what keeps one until it is wanted. It is in its endpoint's list, so that it learns when
// the sender is gone. Owner context.
struct kept_announcement {
    // The sender behind `from` is gone; the announcement is in no list any more.
    void (*lost)(worker& owner, ep& from, kept_announcement& self) = nullptr;
    ucs::datastruct::auto_unlink_hook sender_hook;
};

}  // namespace ucp
