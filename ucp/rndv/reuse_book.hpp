// Whether a program uses its memory again.
#pragma once

#include <cstdint>

#include "uct/api/memory.hpp"

namespace ucp {

// What registering memory costs counts only as far as it serves one transfer alone. Of memory that
// a device does not know, it is expected to be as the last transfers were: those whose memory was
// known used it again. One decision is one transfer, whatever it does afterwards. Value type, one
// per worker; owner context.
class reuse_book {
public:
    // Seconds that count of those which making memory ready takes.
    [[nodiscard]] double price_of(const uct::preparation& ready) noexcept {
        if (!ready.lasts) return ready.seconds;
        if (ready.seconds <= 0) {
            note(known_);
            return 0;
        }
        note(unknown_);
        // Now and then it is trusted whatever happened, so that a change is noticed.
        if (asked_++ % benefit_of_doubt == 0) return 0;
        return ready.seconds * unknown_ / (known_ + unknown_ + trusted);
    }

private:
    static constexpr double trusted = 16;  // transfers that count as known beforehand
    static constexpr double memory = 256;  // transfers, after which older ones count half
    static constexpr std::uint32_t benefit_of_doubt = 64;

    void note(double& which) noexcept {
        which += 1;
        if (known_ + unknown_ < memory) return;
        known_ /= 2;
        unknown_ /= 2;
    }

    double known_ = 0;
    double unknown_ = 0;
    std::uint32_t asked_ = 0;
};

}  // namespace ucp
