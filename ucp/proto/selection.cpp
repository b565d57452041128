#include "ucp/proto/selection.hpp"

#include <fmt/format.h>

#include <bit>

#include "ucp/proto/remote_choice.hpp"

namespace ucp {

namespace {

// The receiver may have to store an eager message until it is received. A rendezvous never needs
// that, so it is preferred if it costs at most this factor of the cheapest eager protocol.
constexpr double rendezvous_tolerance = 1.07;

constexpr std::size_t largest = ~std::size_t{0};

std::string size_text(std::size_t bytes) {
    if (bytes == largest) return "inf";
    if (bytes >= (1U << 20) && bytes % (1U << 20) == 0) return fmt::format("{}M", bytes >> 20);
    if (bytes >= (1U << 10) && bytes % (1U << 10) == 0) return fmt::format("{}K", bytes >> 10);
    return fmt::format("{}", bytes);
}

// Sizes at which the protocols are compared: every power of two and three steps in between.
std::size_t next_sample(std::size_t length) noexcept {
    if (length < 16) return length + 1;
    return length + std::max<std::size_t>(1, std::bit_floor(length) / 4);
}
constexpr std::size_t last_sample = std::size_t{1} << 40;

std::string cost_text(const estimate& cost) {
    if (cost.why_not != nullptr) return cost.why_not;
    return fmt::format("{:.2f} us", cost.seconds * 1e6);
}

}  // namespace

protocol_table::protocol_table(const lane_set& lanes) : lanes_(lanes) {
    const range& first = ranges_for({send_kind::tag, true}).front();
    if (first.chosen == &eager_short) {
        max_short_ = static_cast<std::ptrdiff_t>(std::min(first.last, lanes.am->max_short));
    }
}

estimate protocol_table::probe_row(const protocol& row, send_class send, std::size_t length) const {
    const kind_traits& kind = traits(send.kind);
    if (row.rendezvous ? !kind.rendezvous : !kind.eager) {
        return estimate::refused("not wanted by the program");
    }
    return row.probe(lanes_, send, length);
}

const protocol* protocol_table::best(send_class send, std::size_t length) const {
    const protocol* chosen[2] = {nullptr, nullptr};  // eager, rendezvous
    double cost[2] = {0, 0};
    for (const protocol* candidate : all_protocols()) {
        const estimate predicted = probe_row(*candidate, send, length);
        if (predicted.why_not != nullptr) continue;
        const std::size_t kind = candidate->rendezvous ? 1 : 0;
        if (chosen[kind] == nullptr || predicted.seconds < cost[kind]) {
            chosen[kind] = candidate;
            cost[kind] = predicted.seconds;
        }
    }
    if (chosen[0] == nullptr || chosen[1] == nullptr) {
        return chosen[0] == nullptr ? chosen[1] : chosen[0];
    }
    const auto& threshold = lanes_.options->rndv_threshold.for_scope(lanes_.am->reach);
    const bool rendezvous =
        threshold.is_auto() ? cost[1] <= cost[0] * rendezvous_tolerance : length >= threshold.bytes;
    return chosen[rendezvous ? 1 : 0];
}

protocol_table::ranges protocol_table::build(send_class send) const {
    ranges list;
    // Rendezvous does not apply to an empty message. A kind without eager protocols treats it as
    // one byte.
    std::size_t length = traits(send.kind).eager && !send.on_device ? 0 : 1;
    const protocol* current = best(send, length);
    while (length < last_sample) {
        const std::size_t next = next_sample(length);
        const protocol* follower = best(send, next);
        if (follower != current) {
            // The exact boundary lies between two samples.
            std::size_t low = length;
            std::size_t high = next;
            while (high - low > 1) {
                const std::size_t middle = low + (high - low) / 2;
                if (best(send, middle) == current) {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            list.push_back({low, current});
            current = best(send, high);
            length = high;
            continue;
        }
        length = next;
    }
    list.push_back({largest, current});
    return list;
}

double protocol_table::predict(send_class send, std::size_t length) const {
    return probe_row(select(send, length), send, length).seconds;
}

void protocol_table::explain_class(send_class send, std::string& text) const {
    text += fmt::format("#   {}, {}:\n", traits(send.kind).title,
                        send.on_device    ? "on a device"
                        : send.contiguous ? "contiguous"
                                          : "iov or generic");
    std::size_t first = 0;
    for (const range& each : ranges_for(send)) {
        // A size in the middle of the range, the same for all protocols compared.
        const std::size_t sample =
            each.last == largest ? std::max<std::size_t>(first * 4, 4096) : (first + each.last) / 2;
        text += fmt::format("#     {:>8}..{:<8} {:<12} {}\n", size_text(first),
                            size_text(each.last), each.chosen->name, each.chosen->summary);
        text += fmt::format("#                        predicted {} at {} bytes",
                            cost_text(probe_row(*each.chosen, send, sample)), sample);
        for (const protocol* other : all_protocols()) {
            if (other == each.chosen) continue;
            text +=
                fmt::format("; {}: {}", other->name, cost_text(probe_row(*other, send, sample)));
        }
        text += '\n';
        first = each.last + 1;
    }
}

std::string protocol_table::explain(std::uint64_t features) const {
    std::string text;
    for (std::size_t i = 0; i < message_kind_count; ++i) {
        const auto kind = static_cast<send_kind>(i);
        if ((traits(kind).feature & features) == 0) continue;
        explain_class({kind, true}, text);
        explain_class({kind, false}, text);
        // An eager protocol would send data of a device from host memory.
        if (lanes_.device_copy != nullptr && traits(kind).rendezvous)
            explain_class({kind, true, true}, text);
    }
    text += fmt::format(
        "#   rendezvous is preferred up to {:.0f}% above the cheapest eager protocol, because it "
        "needs no memory at the receiver{}\n",
        (rendezvous_tolerance - 1) * 100,
        lanes_.options->rndv_threshold.for_scope(lanes_.am->reach).is_auto()
            ? ""
            : "; UCX_RNDV_THRESH overrides this");
    constexpr std::uint64_t remote_memory = UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64;
    if ((features & remote_memory) != 0) text += explain_remote(lanes_);
    return text;
}

std::span<const protocol* const> all_protocols() noexcept {
    static constexpr const protocol* all[] = {&eager_short, &eager_bcopy, &eager_multi,
                                              &rndv_in_place, &rndv_stream};
    return all;
}

}  // namespace ucp
