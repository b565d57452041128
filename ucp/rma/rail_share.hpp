// How much of a long transfer a rail carries.
#pragma once

#include <algorithm>

namespace ucp {

// A rail's weight among those of its peer. Follows when its part of a transfer ended: who is ready
// before the others gets more next time, until all end together. So what counts is what a rail can
// do beside the others, on its own device or on a processor or link that they share. (The bytes per
// second of each would not do: of two that share a bottleneck the one with the larger part is
// alone at the end, looks faster, and would be given still more.) Value type; owner context.
class rail_share {
public:
    // `nominal`: what the port says, in any unit that all rails have in common.
    [[nodiscard]] double weight(double nominal) const noexcept { return nominal * factor_; }

    // This rail's part took so long; all parts on average so long. In seconds, not 0.
    void adapt(double own, double average) noexcept {
        const double wish = std::clamp(average / own, 1 / farthest, farthest);
        factor_ = std::clamp(factor_ * (1 + gain * (wish - 1)), smallest, 1 / smallest);
    }

private:
    static constexpr double gain = 0.25;      // of each transfer, so that one pause changes little
    static constexpr double farthest = 2;     // that one transfer may ask for
    static constexpr double smallest = 0.02;  // it always carries something, and can recover

    double factor_ = 1;
};

}  // namespace ucp
