#include "ucg/sim/moe_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <new>

#include "ucg/moe/combine.hpp"
#include "ucg/moe/dispatch.hpp"
#include "ucg/moe/notify.hpp"
#include "ucg/sim/judging.hpp"
#include "ucg/sim/low_latency_experiment.hpp"
#include "ucg/sim/moe_gate.hpp"
#include "ucg/sim/trial.hpp"

namespace ucg::sim {
namespace {

using moe::values;

constexpr std::uint32_t carried = 8;  // elements of a row that are in memory; the rest is charged
                                      // for

moe::link_costs moe_costs_of(const machine& on) noexcept {
    moe::link_costs made;
    made.between = made.inside = costs_of(on);
    made.inside.latency = made.between.inside.latency;
    made.inside.per_byte = made.between.inside.per_byte;
    made.inside.per_message = made.between.inside.per_message;
    made.inside.gap = made.between.inside.gap;
    return made;
}

// What each rank gives, and the plans that notify makes of it.
class gated {
public:
    gated(const machine& on, const moe_experiment& what)
        : on_(on), gate_(on.ranks, what), where_(placement_of(on)) {}

    ucs_status_t init() {
        for (rank_t rank = 0; rank < on_.ranks; ++rank) {
            auto made = moe::team::make(where_, rank, gate_.experts());
            if (!made) return made.status();
            moe::settings by;
            by.how = gate_.what().how;
            by.token_bytes = gate_.what().row_bytes;
            by.costs = moe_costs_of(on_);
            const ucs_status_t status = routing_.emplace_back().init(
                std::make_shared<const moe::team>(*std::move(made)), gate_.topk(rank), by);
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

    // How many ranks get a token.
    [[nodiscard]] std::uint32_t holders(rank_t source, std::uint32_t token) const {
        const moe::plan& by = *plans_[source];
        return moe::for_each_rank(*by.of, by.chosen.of(token), [](rank_t) {});
    }
    // What came to a rank is what the choices of all say: source and token of each row.
    [[nodiscard]] std::string wrong_rows(rank_t rank) const {
        const moe::arriving& in = plans_[rank]->in;
        std::uint32_t row = 0;
        for (rank_t source = 0; source < on_.ranks; ++source) {
            for (std::uint32_t token = 0; token < gate_.what().tokens; ++token) {
                if (!gate_.goes(source, token, rank)) continue;
                const bool right = row < in.rows && in.origins[row].source == source &&
                                   in.origins[row].token == token;
                if (!right) return fmt::format("row {} of rank {}", row, rank);
                ++row;
            }
        }
        return row == in.rows ? "" : fmt::format("{} rows of rank {}", in.rows, rank);
    }

private:
    const machine& on_;
    const moe_gate gate_;
    schedule::placement where_;
    std::deque<moe::notify> routing_;
    std::vector<std::shared_ptr<const moe::plan>> plans_;
};

// Dispatch or combine of all ranks, with the memory that they work on.
struct moved {
    std::deque<moe::dispatch> there;
    std::deque<moe::combine> back;
    std::deque<carried_rows> from, into;
    std::vector<schedule::program*> programs;

    ucs_status_t add_dispatch(const gated& by, rank_t rank, std::uint32_t tokens) {
        carried_rows& x = from.emplace_back(tokens, carried);
        for (std::uint32_t token = 0; token < tokens; ++token)
            x.put(token, rank, token);
        moe::dispatch_tensors what;
        what.from[values] = x.view();
        what.into.into[values] = into.emplace_back(by.plan(rank)->in.rows, carried).view();
        programs.push_back(&there.emplace_back());
        return there.back().init(by.plan(rank), what);
    }
    ucs_status_t add_combine(const gated& by, rank_t rank, std::uint32_t tokens) {
        const moe::arriving& in = by.plan(rank)->in;
        carried_rows& x = from.emplace_back(in.rows, carried);
        for (std::uint32_t row = 0; row < in.rows; ++row)
            x.put(row, in.origins[row].source, in.origins[row].token);
        moe::combine_tensors what;
        what.from[values] = x.view();
        what.into[values] = into.emplace_back(tokens, carried).view();
        programs.push_back(&back.emplace_back());
        return back.back().init(by.plan(rank), what);
    }

    // Every row as it was sent, or as many times as ranks had the token.
    [[nodiscard]] std::string wrong(const gated& by, exchange what, rank_t rank) const {
        const moe::arriving& in = by.plan(rank)->in;
        for (std::uint32_t row = 0; row < into[rank].rows(); ++row) {
            const bool sums = what == exchange::moe_combine;
            const rank_t source = sums ? rank : in.origins[row].source;
            const std::uint32_t token = sums ? row : in.origins[row].token;
            const float times = sums ? static_cast<float>(by.holders(rank, token)) : 1;
            if (!into[rank].has(row, source, token, times))
                return fmt::format("row {} of rank {}", row, rank);
        }
        return {};
    }
};

// By the formulas that choose routes: all other nodes one after the other.
void predict(const gated& by, const machine& on, moe_outcome& result) {
    for (rank_t rank = 0; rank < on.ranks; ++rank) {
        const moe::plan& plan = *by.plan(rank);
        const double latency = plan.by.costs.between.latency;
        double all = 0;
        for (rank_t node = 0; node < plan.of->nodes(); ++node) {
            if (node == plan.of->node()) continue;
            const moe::traffic to = plan.out.traffic_to(*plan.of, plan.by, node);
            if (to.tokens == 0) continue;
            const bool relayed = plan.out.relayed[node] != 0;
            (relayed ? result.relayed : result.direct) += 1;
            all += (relayed ? relayed_time(to, plan.by.costs) : direct_time(to, plan.by.costs)) -
                   latency;
        }
        if (all > 0) result.predicted = std::max(result.predicted, all + latency);
    }
}

}  // namespace

const char* name(exchange which) noexcept {
    static constexpr const char* names[exchange_count] = {
        "moe_notify", "moe_dispatch", "moe_combine", "moe_ll_dispatch", "moe_ll_combine"};
    return names[static_cast<std::size_t>(which)];
}

ucs::result<moe_outcome> measure(const machine& on, const moe_experiment& what) try {
    if (what.tokens == 0 || what.k == 0 || what.experts == 0 || what.row_bytes <= 0 ||
        what.k > std::uint64_t{what.experts} * on.ranks)
        return UCS_ERR_INVALID_PARAM;
    if (is_low_latency(what.what)) return measure_low_latency(on, what);
    gated by(on, what);
    if (const ucs_status_t status = by.init(); status != UCS_OK) return status;
    machine plain = on;
    plain.weight = 1;
    trial first(plain);
    first.run(by.notifies());
    moe_outcome made;
    judge(first.net, first.operations, made.found);
    if (made.found.status != UCS_OK) return made;
    by.take_plans();
    predict(by, on, made);
    if (what.what == exchange::moe_notify) {
        made.predicted = 0;
        for (rank_t rank = 0; rank < on.ranks && made.found.wrong.empty(); ++rank)
            made.found.wrong = by.wrong_rows(rank);
        count_traffic(first.net, made.found);
        return made;
    }
    moved data;
    for (rank_t rank = 0; rank < on.ranks; ++rank) {
        const ucs_status_t status = what.what == exchange::moe_dispatch
                                        ? data.add_dispatch(by, rank, what.tokens)
                                        : data.add_combine(by, rank, what.tokens);
        if (status != UCS_OK) return status;
    }
    constexpr double element_bytes = sizeof(std::uint16_t);
    machine scaled = on;
    scaled.weight = std::ceil(what.row_bytes / element_bytes) / carried;
    trial second(scaled);
    second.run(data.programs);
    made.found = {};
    made.found.weight = scaled.weight;
    judge(second.net, second.operations, made.found);
    for (rank_t rank = 0; rank < on.ranks && made.found.wrong.empty(); ++rank) {
        made.found.wrong = by.wrong_rows(rank);
        if (made.found.wrong.empty()) made.found.wrong = data.wrong(by, what.what, rank);
    }
    count_traffic(second.net, made.found);
    return made;
} catch (const std::bad_alloc&) {
    return UCS_ERR_NO_MEMORY;
}

}  // namespace ucg::sim
