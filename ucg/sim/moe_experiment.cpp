#include "ucg/sim/moe_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <new>

#include "ucg/moe/combine.hpp"
#include "ucg/moe/dispatch.hpp"
#include "ucg/moe/notify.hpp"
#include "ucg/reduce/narrow_float.hpp"
#include "ucg/schedule/operation.hpp"
#include "ucg/sim/judging.hpp"
#include "ucg/sim/network.hpp"

namespace ucg::sim {
namespace {

using moe::values;
using reduce::element;

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

// Small whole numbers: sums are exact.
std::uint16_t number_of(rank_t source, std::uint32_t token, std::uint32_t i) noexcept {
    return reduce::narrow<reduce::bf16_format>(static_cast<float>(1 + (source + token + i) % 3));
}

// Rows of bf16.
struct rows {
    std::vector<std::uint16_t> all;
    moe::matrix view;

    explicit rows(std::uint64_t count)
        : all(count * carried),
          view(moe::dense_matrix(reinterpret_cast<std::byte*>(all.data()), count, carried,
                                 element::bf16)) {}
    [[nodiscard]] std::uint16_t& at(std::uint64_t row, std::uint32_t i) {
        return all[row * carried + i];
    }
};

// What each rank gives, and the plans that notify makes of it.
class gated {
public:
    gated(const machine& on, const moe_experiment& what)
        : on_(on), what_(what), where_(placement_of(on)) {
        topk_.resize(on.ranks);
        for (rank_t rank = 0; rank < on.ranks; ++rank)
            choose(rank);
    }

    ucs_status_t init() {
        for (rank_t rank = 0; rank < on_.ranks; ++rank) {
            auto made = moe::team::make(where_, rank, experts());
            if (!made) return made.status();
            moe::settings by;
            by.how = what_.how;
            by.token_bytes = what_.row_bytes;
            by.costs = moe_costs_of(on_);
            const moe::const_matrix topk =
                moe::dense_matrix(reinterpret_cast<const std::byte*>(topk_[rank].data()),
                                  what_.tokens, what_.k, element::int32);
            const ucs_status_t status = routing_.emplace_back().init(
                std::make_shared<const moe::team>(*std::move(made)), topk, by);
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
            for (std::uint32_t token = 0; token < what_.tokens; ++token) {
                if (!goes(source, token, rank)) continue;
                const bool right = row < in.rows && in.origins[row].source == source &&
                                   in.origins[row].token == token;
                if (!right) return fmt::format("row {} of rank {}", row, rank);
                ++row;
            }
        }
        return row == in.rows ? "" : fmt::format("{} rows of rank {}", in.rows, rank);
    }

private:
    [[nodiscard]] std::uint32_t experts() const noexcept { return what_.experts * on_.ranks; }
    [[nodiscard]] bool goes(rank_t source, std::uint32_t token, rank_t to) const {
        const auto begin = topk_[source].begin() + std::ptrdiff_t{token} * what_.k;
        return std::any_of(begin, begin + what_.k, [&](std::int32_t expert) {
            return static_cast<std::uint32_t>(expert) / what_.experts == to;
        });
    }
    void choose(rank_t rank) {
        uct::sim::random dice(what_.seed * 0x9e3779b97f4a7c15 + rank);
        std::vector<std::int32_t>& mine = topk_[rank];
        for (std::uint32_t token = 0; token < what_.tokens; ++token) {
            for (std::uint32_t j = 0; j < what_.k; ++j) {
                // The next one that the token has not: ends, since there are as many as choices.
                auto expert = static_cast<std::int32_t>(dice.below(experts()));
                const auto before = mine.end() - std::ptrdiff_t{j};
                while (std::find(before, mine.end(), expert) != mine.end())
                    expert = (expert + 1) % static_cast<std::int32_t>(experts());
                mine.push_back(expert);
            }
        }
    }

    const machine& on_;
    const moe_experiment& what_;
    schedule::placement where_;
    std::vector<std::vector<std::int32_t>> topk_;
    std::deque<moe::notify> routing_;
    std::vector<std::shared_ptr<const moe::plan>> plans_;
};

class trial {
public:
    explicit trial(const machine& like) : net(like) {}

    void run(const std::vector<schedule::program*>& what) {
        for (rank_t rank = 0; rank < what.size(); ++rank)
            operations.emplace_back(net.of(rank), net.frames()).init(*what[rank]);
        for (schedule::operation& each : operations)
            each.start();
        net.run();
    }

    network net;
    std::deque<schedule::operation> operations;
};

// Dispatch or combine of all ranks, with the memory that they work on.
struct moved {
    std::deque<moe::dispatch> there;
    std::deque<moe::combine> back;
    std::deque<rows> from, into;
    std::vector<schedule::program*> programs;

    ucs_status_t add_dispatch(const gated& by, rank_t rank, std::uint32_t tokens) {
        rows& x = from.emplace_back(tokens);
        for (std::uint32_t token = 0; token < tokens; ++token)
            for (std::uint32_t i = 0; i < carried; ++i)
                x.at(token, i) = number_of(rank, token, i);
        moe::dispatch_tensors what;
        what.from[values] = x.view;
        what.into.into[values] = into.emplace_back(by.plan(rank)->in.rows).view;
        programs.push_back(&there.emplace_back());
        return there.back().init(by.plan(rank), what);
    }
    ucs_status_t add_combine(const gated& by, rank_t rank, std::uint32_t tokens) {
        const moe::arriving& in = by.plan(rank)->in;
        rows& x = from.emplace_back(in.rows);
        for (std::uint32_t row = 0; row < in.rows; ++row)
            for (std::uint32_t i = 0; i < carried; ++i)
                x.at(row, i) = number_of(in.origins[row].source, in.origins[row].token, i);
        moe::combine_tensors what;
        what.from[values] = x.view;
        what.into[values] = into.emplace_back(tokens).view;
        programs.push_back(&back.emplace_back());
        return back.back().init(by.plan(rank), what);
    }

    // Every row as it was sent, or as many times as ranks had the token.
    [[nodiscard]] std::string wrong(const gated& by, exchange what, rank_t rank) {
        rows& made = into[rank];
        const moe::arriving& in = by.plan(rank)->in;
        for (std::uint32_t row = 0; row < made.view.rows; ++row) {
            const bool sums = what == exchange::moe_combine;
            const rank_t source = sums ? rank : in.origins[row].source;
            const std::uint32_t token = sums ? row : in.origins[row].token;
            const float times = sums ? static_cast<float>(by.holders(rank, token)) : 1;
            for (std::uint32_t i = 0; i < carried; ++i) {
                const float one = reduce::widen<reduce::bf16_format>(number_of(source, token, i));
                const float got = reduce::widen<reduce::bf16_format>(made.at(row, i));
                if (got != times * one)
                    return fmt::format("row {} of rank {} is {}", row, rank, got);
            }
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
    static constexpr const char* names[exchange_count] = {"moe_notify", "moe_dispatch",
                                                          "moe_combine"};
    return names[static_cast<std::size_t>(which)];
}

ucs::result<moe_outcome> measure(const machine& on, const moe_experiment& what) try {
    if (what.tokens == 0 || what.k == 0 || what.experts == 0 || what.row_bytes <= 0 ||
        what.k > std::uint64_t{what.experts} * on.ranks)
        return UCS_ERR_INVALID_PARAM;
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
