// On-demand paging (ODP): memory that the device reaches without its pages being pinned.
#pragma once

#include <infiniband/verbs.h>

#include <string>

#include "ucs/config/option.hpp"

namespace uct::ib {

// What the device says it can do; nothing where it does not say.
[[nodiscard]] ibv_odp_caps on_demand_abilities(ibv_context& device) noexcept;

// What is missing of all that the transports do with a program's memory, for people: "RC: send".
// Empty: nothing is. Atomic operations count where `with_atomics` says that the device has any.
[[nodiscard]] std::string missing_on_demand(const ibv_odp_caps& can, bool with_atomics);

// Whether a program's memory is registered so. Of those that were told to and cannot, the first
// says so in the log; they pin it.
[[nodiscard]] bool registers_on_demand(ucs::config::ternary wanted, ibv_context& device,
                                       bool with_atomics, const std::string& name);

}  // namespace uct::ib
