// Injection of network faults, for tests.
#pragma once

#include "ucs/random/seeded.hpp"

namespace uct::ud {

// Decides for each received datagram whether it is lost, duplicated or delayed. Equal seeds give
// equal decisions. Value type.
class faults {
public:
    struct settings {
        double drop = 0;  // all from 0 to 1
        double duplicate = 0;
        double reorder = 0;
        std::uint64_t seed = 1;
        double forget = 0;
    };
    struct fate {
        bool lost = false;
        bool twice = false;
        unsigned overtaken_by = 0;  // number of later datagrams that are handled first
    };
    explicit faults(const settings& with) noexcept : with_(with), dice_(with.seed) {}

    [[nodiscard]] bool any() const noexcept {
        return with_.drop > 0 || with_.duplicate > 0 || with_.reorder > 0;
    }
    [[nodiscard]] fate next() noexcept {
        fate made;
        made.lost = dice_.chance(with_.drop);
        made.twice = dice_.chance(with_.duplicate);
        const bool late = dice_.chance(with_.reorder);
        if (late) made.overtaken_by = 1 + static_cast<unsigned>(dice_.below(most_overtakers));
        return made;
    }
    // Returns true if a connection that may be forgotten is forgotten now.
    [[nodiscard]] bool forgets() noexcept { return dice_.chance(with_.forget); }

private:
    static constexpr std::uint64_t most_overtakers = 5;

    const settings with_;
    ucs::sys::random dice_;
};

}  // namespace uct::ud
