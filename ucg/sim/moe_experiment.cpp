#include "ucg/sim/moe_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <new>

#include "ucg/moe/normal/combine.hpp"
#include "ucg/moe/normal/dispatch.hpp"
#include "ucg/moe/normal/notify.hpp"
#include "ucg/sim/moe_gate.hpp"
#include "ucg/sim/trial.hpp"

namespace ucg::sim {
namespace {

using moe::values;

constexpr std::uint32_t carried = 8;  // elements of a row that memory holds

moe::link_costs moe_costs_of(const machine& spec) noexcept {
    moe::link_costs made;
    made.between_nodes = made.within_node = costs_of(spec);
    made.within_node.latency = made.between_nodes.inside.latency;
    made.within_node.per_byte = made.between_nodes.inside.per_byte;
    made.within_node.per_message = made.between_nodes.inside.per_message;
    made.within_node.gap = made.between_nodes.inside.gap;
    return made;
}

// The routing input of each rank, and the plans that notify builds from it.
class gated {
public:
    gated(const machine& spec, const moe_experiment& setup)
        : spec_(spec), gate_(spec.ranks, setup), placement_(placement_of(spec)) {}

    ucs_status_t init() {
        for (rank_t rank = 0; rank < spec_.ranks; ++rank) {
            auto made = moe::team::make(placement_, rank, gate_.experts());
            if (!made) return made.status();
            moe::settings settings;
            settings.routing = gate_.setup().route;
            settings.token_bytes = gate_.setup().row_bytes;
            settings.costs = moe_costs_of(spec_);
            const ucs_status_t status = routing_.emplace_back().init(
                std::make_shared<const moe::team>(*std::move(made)), gate_.topk(rank), settings);
            if (status != UCS_OK) return status;
        }
        return UCS_OK;
    }
    [[nodiscard]] std::vector<schedule::program*> notifies() {
        std::vector<schedule::program*> made;
        for (moe::notify& each : routing_)
            made.push_back(&each);
        return made;
    }
    void take_plans() {
        for (moe::notify& each : routing_)
            plans_.push_back(each.take());
    }
    [[nodiscard]] const std::shared_ptr<const moe::plan>& plan(rank_t rank) const {
        return plans_[rank];
    }

    // Number of ranks that receive a token.
    [[nodiscard]] std::uint32_t holders(rank_t source, std::uint32_t token) const {
        const moe::plan& plan = *plans_[source];
        return moe::for_each_rank(*plan.group, plan.chosen.experts_of(token), [](rank_t) {});
    }
    // Checks source and token of each row of a rank against the choices of all ranks. Returns the
    // first error, or an empty string.
    [[nodiscard]] std::string wrong_rows(rank_t rank) const {
        const moe::receive_plan& receives = plans_[rank]->receives;
        std::uint32_t row = 0;
        for (rank_t source = 0; source < spec_.ranks; ++source) {
            for (std::uint32_t token = 0; token < gate_.setup().tokens; ++token) {
                if (!gate_.is_sent(source, token, rank)) continue;
                const bool right = row < receives.rows && receives.origins[row].source == source &&
                                   receives.origins[row].token == token;
                if (!right) return fmt::format("row {} of rank {}", row, rank);
                ++row;
            }
        }
        return row == receives.rows ? "" : fmt::format("{} rows of rank {}", receives.rows, rank);
    }

private:
    const machine& spec_;
    const moe_gate gate_;
    schedule::placement placement_;
    std::deque<moe::notify> routing_;
    std::vector<std::shared_ptr<const moe::plan>> plans_;
};

// Dispatch or combine of all ranks, with the memory that they use.
struct moved {
    std::deque<moe::dispatch> dispatches;
    std::deque<moe::combine> combines;
    std::deque<carried_rows> from, into;
    std::vector<schedule::program*> programs;

    ucs_status_t add_dispatch(const gated& routing, rank_t rank, std::uint32_t tokens) {
        carried_rows& x = from.emplace_back(tokens, carried);
        for (std::uint32_t token = 0; token < tokens; ++token)
            x.put(token, rank, token);
        moe::dispatch_tensors tensors;
        tensors.from[values] = x.view();
        tensors.into.into[values] =
            into.emplace_back(routing.plan(rank)->receives.rows, carried).view();
        programs.push_back(&dispatches.emplace_back());
        return dispatches.back().init(routing.plan(rank), tensors);
    }
    ucs_status_t add_combine(const gated& routing, rank_t rank, std::uint32_t tokens) {
        const moe::receive_plan& receives = routing.plan(rank)->receives;
        carried_rows& x = from.emplace_back(receives.rows, carried);
        for (std::uint32_t row = 0; row < receives.rows; ++row)
            x.put(row, receives.origins[row].source, receives.origins[row].token);
        moe::combine_tensors tensors;
        tensors.from[values] = x.view();
        tensors.into[values] = into.emplace_back(tokens, carried).view();
        programs.push_back(&combines.emplace_back());
        return combines.back().init(routing.plan(rank), tensors);
    }

    // Checks that each row is as it was sent (dispatch), or as many times that as ranks held the
    // token (combine).
    [[nodiscard]] std::string wrong(const gated& routing, exchange kind, rank_t rank) const {
        const moe::receive_plan& receives = routing.plan(rank)->receives;
        for (std::uint32_t row = 0; row < into[rank].rows(); ++row) {
            const bool sums = kind == exchange::moe_combine;
            const rank_t source = sums ? rank : receives.origins[row].source;
            const std::uint32_t token = sums ? row : receives.origins[row].token;
            const float times = sums ? static_cast<float>(routing.holders(rank, token)) : 1;
            if (!into[rank].has(row, source, token, times))
                return fmt::format("row {} of rank {}", row, rank);
        }
        return {};
    }
};

// Predicts with the cost formulas that choose routes. Messages to the other nodes follow one
// another.
void predict(const gated& routing, const machine& spec, moe_outcome& result) {
    for (rank_t rank = 0; rank < spec.ranks; ++rank) {
        const moe::plan& plan = *routing.plan(rank);
        const double latency = plan.options.costs.between_nodes.latency;
        double all = 0;
        for (rank_t node = 0; node < plan.group->nodes(); ++node) {
            if (node == plan.group->node()) continue;
            const moe::traffic to = plan.sends.traffic_to(*plan.group, plan.options, node);
            if (to.tokens == 0) continue;
            const bool relayed = plan.sends.relayed[node] != 0;
            (relayed ? result.relayed : result.direct) += 1;
            all += (relayed ? relayed_time(to, plan.options.costs)
                            : direct_time(to, plan.options.costs)) -
                   latency;
        }
        if (all > 0) result.predicted = std::max(result.predicted, all + latency);
    }
}

}  // namespace

const char* name(exchange kind) noexcept {
    static constexpr const char* names[exchange_count] = {
        "moe_notify", "moe_dispatch", "moe_combine", "moe_ll_dispatch", "moe_ll_combine"};
    return names[static_cast<std::size_t>(kind)];
}

ucs::result<moe_outcome> measure(const machine& spec, const moe_experiment& setup) try {
    if (setup.tokens == 0 || setup.k == 0 || setup.experts == 0 || setup.row_bytes <= 0 ||
        setup.k > std::uint64_t{setup.experts} * spec.ranks)
        return UCS_ERR_INVALID_PARAM;
    if (is_low_latency(setup.kind)) return measure_low_latency(spec, setup);
    gated routing(spec, setup);
    if (const ucs_status_t status = routing.init(); status != UCS_OK) return status;
    machine plain = spec;
    plain.weight = 1;
    trial first(plain);
    first.run(routing.notifies());
    moe_outcome made;
    collect_results(first.net, first.operations, made.outcome);
    if (made.outcome.status != UCS_OK) return made;
    routing.take_plans();
    predict(routing, spec, made);
    if (setup.kind == exchange::moe_notify) {
        made.predicted = 0;
        for (rank_t rank = 0; rank < spec.ranks && made.outcome.wrong.empty(); ++rank)
            made.outcome.wrong = routing.wrong_rows(rank);
        count_traffic(first.net, made.outcome);
        return made;
    }
    moved data;
    for (rank_t rank = 0; rank < spec.ranks; ++rank) {
        const ucs_status_t status = setup.kind == exchange::moe_dispatch
                                        ? data.add_dispatch(routing, rank, setup.tokens)
                                        : data.add_combine(routing, rank, setup.tokens);
        if (status != UCS_OK) return status;
    }
    constexpr double element_bytes = sizeof(std::uint16_t);
    machine scaled = spec;
    scaled.weight = std::ceil(setup.row_bytes / element_bytes) / carried;
    trial second(scaled);
    second.run(data.programs);
    made.outcome = {};
    made.outcome.weight = scaled.weight;
    collect_results(second.net, second.operations, made.outcome);
    for (rank_t rank = 0; rank < spec.ranks && made.outcome.wrong.empty(); ++rank) {
        made.outcome.wrong = routing.wrong_rows(rank);
        if (made.outcome.wrong.empty()) made.outcome.wrong = data.wrong(routing, setup.kind, rank);
    }
    count_traffic(second.net, made.outcome);
    return made;
} catch (const std::bad_alloc&) {
    return UCS_ERR_NO_MEMORY;
}

}  // namespace ucg::sim
