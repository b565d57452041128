// Statistics of how often a program uses the same memory again for transfers.
#pragma once

#include <cstdint>

#include "uct/api/memory.hpp"

namespace ucp {

// The cost of registering memory counts only for the share of transfers that do not use the memory
// again. Memory that a device does not know is expected to behave as the memory of the last
// transfers did: if it was known, the program had used it again. One decision counts as one
// transfer, whatever follows. Value type, one per worker; owner context.
class reuse_history {
public:
    // Returns the share of the preparation's seconds that counts.
    [[nodiscard]] double price_of(const uct::preparation& ready) noexcept {
        if (!ready.lasts) return ready.seconds;
        if (ready.seconds <= 0) {
            note(known_);
            return 0;
        }
        note(unknown_);
        // Now and then the memory is registered in any case, so that a change of behaviour is
        // noticed.
        if (asked_++ % benefit_of_doubt == 0) return 0;
        return ready.seconds * unknown_ / (known_ + unknown_ + trusted);
    }

private:
    static constexpr double trusted = 16;  // transfers that count as known beforehand
    static constexpr double memory = 256;  // transfers, after which older ones count half
    static constexpr std::uint32_t benefit_of_doubt = 64;

    void note(double& count) noexcept {
        count += 1;
        if (known_ + unknown_ < memory) return;
        known_ /= 2;
        unknown_ /= 2;
    }

    double known_ = 0;
    double unknown_ = 0;
    std::uint32_t asked_ = 0;
};

}  // namespace ucp
