// Random identities that are computed from a seed, so that tests are repeatable even if they
// compare identities.
#pragma once

#include <cstdint>

namespace test {

// During its lifetime the library gets random bytes from the seed instead of the kernel. For
// programs that link identities.cpp; one object at a time, one thread only, no forks meanwhile.
class seeded_identities {
public:
    explicit seeded_identities(std::uint64_t seed) noexcept;
    ~seeded_identities();
    seeded_identities(const seeded_identities&) = delete;
    seeded_identities& operator=(const seeded_identities&) = delete;
};

}  // namespace test
