// On-demand paging (ODP): registered memory whose pages are not pinned.
#pragma once

#include <infiniband/verbs.h>

#include <string>

#include "ucs/config/option.hpp"

namespace uct::ib {

// Returns the abilities that the device reports; none if it reports nothing.
[[nodiscard]] ibv_odp_caps on_demand_abilities(ibv_context& device) noexcept;

// Returns what is missing for all uses that the transports make of a program's memory, as text:
// "RC: send". Empty if nothing is missing. Atomic operations count if `with_atomics` is set, which
// means that the device has any.
[[nodiscard]] std::string missing_on_demand(const ibv_odp_caps& can, bool with_atomics);

// Returns true if a program's memory is registered with on-demand paging. If it was requested and
// is not possible, the memory is pinned, and the first such device is logged.
[[nodiscard]] bool registers_on_demand(ucs::config::ternary wanted, ibv_context& device,
                                       bool with_atomics, const std::string& name);

}  // namespace uct::ib
