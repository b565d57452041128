// Wire format of the message by which a receiver lets deferred sends continue.
#pragma once

#include "ucp/core/wire.hpp"

namespace ucp::wire {

struct more_header {
    std::uint64_t ep;  // the sender's endpoint whose RTS said that it stopped
    std::uint64_t stopped;
};

}  // namespace ucp::wire
