#include "test/sim/identities.hpp"

#include <sys/random.h>

#include <cstring>

#include "uct/sim/random.hpp"

namespace sim_test {

namespace {
uct::sim::random generator(0);
}

void seed_identities(std::uint64_t seed) noexcept {
    generator = uct::sim::random(~seed);
}

}  // namespace sim_test

// In place of the function of the C library, which the library calls (ucs/sys/uuid.cpp).
extern "C" ssize_t getrandom(void* into, size_t size, unsigned) {
    auto* at = static_cast<char*>(into);
    for (std::size_t done = 0; done < size;) {
        const std::uint64_t word = sim_test::generator.next();
        const std::size_t part = size - done < sizeof word ? size - done : sizeof word;
        std::memcpy(at + done, &word, part);
        done += part;
    }
    return static_cast<ssize_t>(size);
}
