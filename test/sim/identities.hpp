// Random identities that follow the seed.
#pragma once

#include <cstdint>

namespace sim_test {

// What the library asks the kernel's generator for comes from this seed from now on, so that a run
// repeats also where identities are compared. One thread only.
void seed_identities(std::uint64_t seed) noexcept;

}  // namespace sim_test
