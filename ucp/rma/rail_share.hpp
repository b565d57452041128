// How much of a long transfer a rail carries.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ucp {

// A rail's weight among those of its peer: what its port says, times a factor that is learned from
// transfers whose pieces the rails took one after the other, whenever they had ended one. What each
// carried then is what it can do beside the others, also where they share a link or a processor.
// (Times would not do: of two that share a bottleneck the one with the larger part is alone at the
// end, looks faster, and would be given still more.) Value type; owner context.
class rail_share {
public:
    // `nominal`: in any unit that all rails have in common.
    [[nodiscard]] double weight(double nominal) const noexcept { return nominal * factor_; }

    // Whether this transfer is one to learn from, if it is not long enough for that anyway: the
    // second one, and then one of so many. Asked of the first rail.
    [[nodiscard]] bool is_due() noexcept { return ++transfers_ % interval == 2; }

    // `carried`: this rail's bytes for each unit of its nominal weight; the average is of all
    // rails.
    void learn(double carried, double average) noexcept {
        factor_ += gain * (std::max(smallest, carried / average) - factor_);
    }

private:
    static constexpr std::uint32_t interval = 64;
    static constexpr double gain = 0.5;
    static constexpr double smallest = 0.05;  // it always carries something

    double factor_ = 1;
    std::uint32_t transfers_ = 0;
};

}  // namespace ucp
