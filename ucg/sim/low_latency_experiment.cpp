#include "ucg/sim/low_latency_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "ucg/moe/low_latency_combine.hpp"
#include "ucg/moe/low_latency_dispatch.hpp"
#include "ucg/moe/wire.hpp"
#include "ucg/sim/judging.hpp"
#include "ucg/sim/moe_gate.hpp"
#include "ucg/sim/trial.hpp"

namespace ucg::sim {
namespace {

constexpr double element_bytes = sizeof(std::uint16_t);
constexpr std::uint32_t least_carried = 8;  // elements of a row that are in memory

std::uint32_t elements_of(const moe_experiment& what) noexcept {
    return static_cast<std::uint32_t>(std::ceil(what.row_bytes / element_bytes));
}

// What is in memory of a row. Headers of dispatch are all there, and told apart by their length: so
// a row is longer than a header, where it is not all there itself.
std::uint32_t carried_of(const moe_experiment& what) noexcept {
    const auto header = static_cast<std::uint32_t>(moe::header_bytes(what.experts) / 2);
    const std::uint32_t least = what.what == exchange::moe_ll_dispatch ? header : 0;
    return std::min(elements_of(what), std::max(least_carried, least));
}

// In a message of dispatch a row has the number of its token with it.
machine scaled(const machine& on, const moe_experiment& what) {
    const bool numbered = what.what == exchange::moe_ll_dispatch;
    const auto bytes = [&](std::uint32_t elements) {
        return elements * element_bytes + (numbered ? sizeof(std::int32_t) : 0);
    };
    machine made = on;
    made.weight = bytes(elements_of(what)) / bytes(carried_of(what));
    made.light = numbered ? moe::header_bytes(what.experts) : 0;
    return made;
}

float weight_of(std::uint32_t token, std::uint32_t j) noexcept {
    return static_cast<float>(1 + (token + j) % 2);
}

// All ranks' memory and programs. Of an expert's rows only the first ones are ever written.
class slotted {
public:
    slotted(const machine& on, const moe_experiment& what)
        : gate_(on.ranks, what), where_(placement_of(on)), carried_(carried_of(what)) {}

    ucs_status_t init_dispatch() {
        for (rank_t rank = 0; rank < gate_.ranks(); ++rank) {
            auto made = moe::team::make(where_, rank, gate_.experts());
            if (!made) return made.status();
            carried_rows& x = tokens_.emplace_back(gate_.what().tokens, carried_);
            for (std::uint32_t token = 0; token < gate_.what().tokens; ++token)
                x.put(token, rank, token);
            numbers_.emplace_back(new std::int32_t[local() * capacity()]);
            moe::low_latency_tensors what;
            what.x = x.view();
            what.values = stack_of(slots_.emplace_back(local() * capacity(), carried_));
            what.tokens_of =
                moe::dense_matrix(reinterpret_cast<std::byte*>(numbers_.back().get()), local(),
                                  static_cast<std::uint32_t>(capacity()), reduce::element::int32);
            programs_.push_back(&there_.emplace_back());
            const ucs_status_t status = there_.back().init(
                std::make_shared<const moe::team>(*std::move(made)),
                {gate_.what().tokens, false, moe::scaling::exact}, gate_.topk(rank), what);
            if (status != UCS_OK) return status;
        }
        return UCS_OK;
    }
    // What came goes back.
    ucs_status_t init_combine() {
        programs_.clear();
        for (rank_t rank = 0; rank < gate_.ranks(); ++rank) {
            const std::uint32_t tokens = gate_.what().tokens;
            const std::uint32_t k = gate_.what().k;
            std::vector<float>& weights = weights_.emplace_back();
            for (std::uint32_t token = 0; token < tokens; ++token)
                for (std::uint32_t j = 0; j < k; ++j)
                    weights.push_back(weight_of(token, j));
            moe::low_latency_sums what;
            what.values = stack_of(slots_[rank]);
            what.weights = moe::dense_matrix(reinterpret_cast<const std::byte*>(weights.data()),
                                             tokens, k, reduce::element::fp32);
            what.into = sums_.emplace_back(tokens, carried_).view();
            programs_.push_back(&back_.emplace_back());
            const ucs_status_t status = back_.back().init(there_[rank].made(), what);
            if (status != UCS_OK) return status;
        }
        return UCS_OK;
    }
    [[nodiscard]] const std::vector<schedule::program*>& programs() const noexcept {
        return programs_;
    }

    // Each choice has a row, in the order of (source, token), and there are no others.
    [[nodiscard]] std::string wrong_rows() const {
        std::vector<std::uint32_t> rows(gate_.experts());
        for (rank_t source = 0; source < gate_.ranks(); ++source)
            for (std::uint32_t token = 0; token < gate_.what().tokens; ++token)
                for (std::uint32_t j = 0; j < gate_.what().k; ++j) {
                    const std::uint32_t expert = gate_.choice(source, token, j);
                    const std::uint32_t row = rows[expert]++;
                    if (!is_at(expert, row, source, token))
                        return fmt::format("row {} of expert {}", row, expert);
                }
        for (std::uint32_t expert = 0; expert < gate_.experts(); ++expert)
            if (there_[expert / local()].made()->counts[expert % local()] != rows[expert])
                return fmt::format("how many rows expert {} has", expert);
        return {};
    }
    [[nodiscard]] std::string wrong_sums() const {
        for (rank_t rank = 0; rank < gate_.ranks(); ++rank)
            for (std::uint32_t token = 0; token < gate_.what().tokens; ++token) {
                float times = 0;
                for (std::uint32_t j = 0; j < gate_.what().k; ++j)
                    times += weight_of(token, j);
                if (!sums_[rank].has(token, rank, token, times))
                    return fmt::format("token {} of rank {}", token, rank);
            }
        return {};
    }

private:
    [[nodiscard]] std::uint32_t local() const noexcept { return gate_.what().experts; }
    [[nodiscard]] std::uint64_t capacity() const noexcept {
        return std::uint64_t{gate_.what().tokens} * gate_.ranks();
    }
    [[nodiscard]] moe::stack stack_of(const carried_rows& all) const noexcept {
        moe::stack made{all.view(), 0};
        made.first.rows = capacity();
        made.expert_stride = made.first.row_stride * static_cast<std::ptrdiff_t>(capacity());
        return made;
    }
    [[nodiscard]] bool is_at(std::uint32_t expert, std::uint32_t row, rank_t source,
                             std::uint32_t token) const noexcept {
        const rank_t rank = expert / local();
        const std::uint32_t e = expert % local();
        const moe::slots& made = *there_[rank].made();
        const moe::slots::range range = made.range_of(e, source);
        const std::uint64_t at = e * capacity() + row;
        return row < made.counts[e] && row >= range.begin && row - range.begin < range.count &&
               numbers_[rank][at] == static_cast<std::int32_t>(token) &&
               slots_[rank].has(at, source, token);
    }

    const moe_gate gate_;
    const schedule::placement where_;
    const std::uint32_t carried_;
    std::deque<carried_rows> tokens_, slots_, sums_;
    std::deque<std::unique_ptr<std::int32_t[]>> numbers_;
    std::deque<std::vector<float>> weights_;
    std::deque<moe::low_latency_dispatch> there_;
    std::deque<moe::low_latency_combine> back_;
    std::vector<schedule::program*> programs_;
};

}  // namespace

ucs::result<moe_outcome> measure_low_latency(const machine& on, const moe_experiment& what) {
    slotted all(on, what);
    if (const ucs_status_t status = all.init_dispatch(); status != UCS_OK) return status;
    moe_outcome made;
    const machine as_wanted = scaled(on, what);
    const bool goes_back = what.what == exchange::moe_ll_combine;
    if (goes_back) {
        trial before(on);
        before.run(all.programs());
        judge(before.net, before.operations, made.found);
        if (made.found.status != UCS_OK) return made;
        if (const ucs_status_t status = all.init_combine(); status != UCS_OK) return status;
        made.found = {};
    }
    trial measured(as_wanted);
    measured.run(all.programs());
    made.found.weight = as_wanted.weight;
    judge(measured.net, measured.operations, made.found);
    if (made.found.wrong.empty()) made.found.wrong = all.wrong_rows();
    if (made.found.wrong.empty() && goes_back) made.found.wrong = all.wrong_sums();
    count_traffic(measured.net, made.found);
    return made;
}

}  // namespace ucg::sim
