#include "test/support/identities.hpp"

#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <optional>

#include "ucs/random/seeded.hpp"

namespace test {

namespace {
std::optional<ucs::sys::random> generator;  // empty: the kernel's generator
}

seeded_identities::seeded_identities(std::uint64_t seed) noexcept {
    generator.emplace(~seed);
}

seeded_identities::~seeded_identities() {
    generator.reset();
}

}  // namespace test

// Replaces the C library's function, which the library calls (ucs/random/random_bytes.cpp).
// Exported, so that libsodium calls it, too.
extern "C" [[gnu::visibility("default")]] ssize_t getrandom(void* into, size_t size,
                                                            unsigned flags) {
    if (!test::generator) return ::syscall(SYS_getrandom, into, size, flags);
    auto* position = static_cast<char*>(into);
    for (std::size_t done = 0; done < size;) {
        const std::uint64_t word = test::generator->next();
        const std::size_t part = size - done < sizeof word ? size - done : sizeof word;
        std::memcpy(position + done, &word, part);
        done += part;
    }
    return static_cast<ssize_t>(size);
}
