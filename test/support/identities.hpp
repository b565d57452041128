// Random identities that follow a seed, so that a test repeats also where they are compared.
#pragma once

#include <cstdint>

namespace test {

// While one is alive, what the library asks the kernel's generator for comes from the seed. For
// programs that link identities.cpp; one at a time, one thread only, no forks meanwhile.
class seeded_identities {
public:
    explicit seeded_identities(std::uint64_t seed) noexcept;
    ~seeded_identities();
    seeded_identities(const seeded_identities&) = delete;
    seeded_identities& operator=(const seeded_identities&) = delete;
};

}  // namespace test
