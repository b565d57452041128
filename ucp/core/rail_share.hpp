// Share of a long transfer that a rail carries.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ucp {

// Weight of a rail among the rails of its peer: the bandwidth of its port, times a learned factor.
// The factor is learned from transfers in which each rail takes its next piece when it has finished
// one. The bytes that a rail carries then show its speed while all rails work, even if they share a
// link or a processor. (Measuring times would mislead: of two rails that share a bottleneck, the
// one with the larger part is alone at the end, appears faster, and would get still more.) Value
// type; owner context.
class rail_share {
public:
    // `nominal` may be in any unit that all rails have in common.
    [[nodiscard]] double weight(double nominal) const noexcept { return nominal * factor_; }

    // Returns true if this transfer should be used for learning even if it is short: the second
    // one, and then one of each `interval`. Called for the first rail.
    [[nodiscard]] bool is_due() noexcept { return ++transfers_ % interval == 2; }

    // `carried` is this rail's bytes for each unit of its nominal weight; `average` is the average
    // over all rails.
    void learn(double carried, double average) noexcept {
        factor_ += gain * (std::max(smallest, carried / average) - factor_);
    }

private:
    static constexpr std::uint32_t interval = 64;
    static constexpr double gain = 0.5;
    static constexpr double smallest = 0.05;  // a rail always carries some data

    double factor_ = 1;
    std::uint32_t transfers_ = 0;
};

}  // namespace ucp
