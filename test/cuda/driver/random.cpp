#include "test/cuda/driver/random.hpp"

#include <atomic>

#include "test/cuda/driver/settings.hpp"
#include "test/cuda/driver/standin.h"

namespace standin {
namespace {

std::atomic<std::uint64_t>& seed() {
    static std::atomic<std::uint64_t> only{options().seed};
    return only;
}

std::atomic<unsigned>& usual_delay_us() {
    static std::atomic<unsigned> only{options().delay_us};
    return only;
}

}  // namespace

void set_seed(std::uint64_t wanted) noexcept {
    seed() = wanted;
}

std::uint64_t current_seed() noexcept {
    return seed();
}

std::uint64_t delay_of(std::uint64_t stream, std::uint64_t operation) noexcept {
    const std::uint64_t drawn = mix(mix(mix(current_seed()) ^ stream) ^ operation);
    const std::uint64_t usual = std::uint64_t{usual_delay_us()} * 1000;
    if (usual == 0 || drawn % 4 == 0) return 0;
    const std::uint64_t most = drawn % 8 == 1 ? usual * 8 : usual;
    return (drawn >> 8U) % most;
}

}  // namespace standin

void standin_set_seed(unsigned long long seed) {
    standin::set_seed(seed);
}

void standin_set_delay(unsigned microseconds) {
    standin::usual_delay_us() = microseconds;
}
