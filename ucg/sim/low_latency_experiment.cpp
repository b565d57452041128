#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "ucg/moe/low_latency/combine.hpp"
#include "ucg/moe/low_latency/dispatch.hpp"
#include "ucg/moe/wire.hpp"
#include "ucg/sim/moe_experiment.hpp"
#include "ucg/sim/moe_gate.hpp"
#include "ucg/sim/trial.hpp"

namespace ucg::sim {
namespace {

constexpr double element_bytes = sizeof(std::uint16_t);
constexpr std::uint32_t least_carried = 8;  // elements of a row that memory holds

std::uint32_t elements_of(const moe_experiment& setup) noexcept {
    return static_cast<std::uint32_t>(std::ceil(setup.row_bytes / element_bytes));
}

// Elements of a row that memory holds. Memory holds each header of dispatch completely, and headers
// are recognised by their length, so a scaled-down row is longer than a header.
std::uint32_t carried_of(const moe_experiment& setup) noexcept {
    const auto header = static_cast<std::uint32_t>(moe::header_bytes(setup.experts) / 2);
    const std::uint32_t least = setup.kind == exchange::moe_ll_dispatch ? header : 0;
    return std::min(elements_of(setup), std::max(least_carried, least));
}

// In a dispatch message each row is preceded by its token's number.
machine scaled(const machine& spec, const moe_experiment& setup) {
    const bool numbered = setup.kind == exchange::moe_ll_dispatch;
    const auto bytes = [&](std::uint32_t elements) {
        return elements * element_bytes + (numbered ? sizeof(std::int32_t) : 0);
    };
    machine made = spec;
    made.weight = bytes(elements_of(setup)) / bytes(carried_of(setup));
    made.light = numbered ? moe::header_bytes(setup.experts) : 0;
    return made;
}

float weight_of(std::uint32_t token, std::uint32_t j) noexcept {
    return static_cast<float>(1 + (token + j) % 2);
}

// Memory and programs of all ranks. Only the first rows of each expert's slots are ever written.
class slotted {
public:
    slotted(const machine& spec, const moe_experiment& setup)
        : gate_(spec.ranks, setup), placement_(placement_of(spec)), carried_(carried_of(setup)) {}

    ucs_status_t init_dispatch() {
        for (rank_t rank = 0; rank < gate_.ranks(); ++rank) {
            auto made = moe::team::make(placement_, rank, gate_.experts());
            if (!made) return made.status();
            carried_rows& x = tokens_.emplace_back(gate_.setup().tokens, carried_);
            for (std::uint32_t token = 0; token < gate_.setup().tokens; ++token)
                x.put(token, rank, token);
            numbers_.emplace_back(new std::int32_t[local() * capacity()]);
            moe::low_latency_dispatch_tensors tensors;
            tensors.x = x.view();
            tensors.values = stack_of(slots_.emplace_back(local() * capacity(), carried_));
            tensors.token_numbers =
                moe::dense_matrix(reinterpret_cast<std::byte*>(numbers_.back().get()), local(),
                                  static_cast<std::uint32_t>(capacity()), reduce::element::int32);
            programs_.push_back(&dispatches_.emplace_back());
            const ucs_status_t status = dispatches_.back().init(
                std::make_shared<const moe::team>(*std::move(made)),
                {gate_.setup().tokens, false, moe::scaling::exact}, gate_.topk(rank), tensors);
            if (status != UCS_OK) return status;
        }
        return UCS_OK;
    }
    // Combine sends back the rows that dispatch delivered.
    ucs_status_t init_combine() {
        programs_.clear();
        for (rank_t rank = 0; rank < gate_.ranks(); ++rank) {
            const std::uint32_t tokens = gate_.setup().tokens;
            const std::uint32_t k = gate_.setup().k;
            std::vector<float>& weights = weights_.emplace_back();
            for (std::uint32_t token = 0; token < tokens; ++token)
                for (std::uint32_t j = 0; j < k; ++j)
                    weights.push_back(weight_of(token, j));
            moe::low_latency_combine_tensors sums;
            sums.values = stack_of(slots_[rank]);
            sums.weights = moe::dense_matrix(reinterpret_cast<const std::byte*>(weights.data()),
                                             tokens, k, reduce::element::fp32);
            sums.into = sums_.emplace_back(tokens, carried_).view();
            programs_.push_back(&combines_.emplace_back());
            const ucs_status_t status = combines_.back().init(dispatches_[rank].made(), sums);
            if (status != UCS_OK) return status;
        }
        return UCS_OK;
    }
    [[nodiscard]] const std::vector<schedule::program*>& programs() const noexcept {
        return programs_;
    }

    // Checks that each choice has one row, in the order of (source, token), and that there are no
    // other rows. Returns the first error, or an empty string.
    [[nodiscard]] std::string wrong_rows() const {
        std::vector<std::uint32_t> rows(gate_.experts());
        for (rank_t source = 0; source < gate_.ranks(); ++source)
            for (std::uint32_t token = 0; token < gate_.setup().tokens; ++token)
                for (std::uint32_t j = 0; j < gate_.setup().k; ++j) {
                    const std::uint32_t expert = gate_.choice(source, token, j);
                    const std::uint32_t row = rows[expert]++;
                    if (!is_at(expert, row, source, token))
                        return fmt::format("row {} of expert {}", row, expert);
                }
        for (std::uint32_t expert = 0; expert < gate_.experts(); ++expert)
            if (dispatches_[expert / local()].made()->counts[expert % local()] != rows[expert])
                return fmt::format("how many rows expert {} has", expert);
        return {};
    }
    [[nodiscard]] std::string wrong_sums() const {
        for (rank_t rank = 0; rank < gate_.ranks(); ++rank)
            for (std::uint32_t token = 0; token < gate_.setup().tokens; ++token) {
                float times = 0;
                for (std::uint32_t j = 0; j < gate_.setup().k; ++j)
                    times += weight_of(token, j);
                if (!sums_[rank].has(token, rank, token, times))
                    return fmt::format("token {} of rank {}", token, rank);
            }
        return {};
    }

private:
    [[nodiscard]] std::uint32_t local() const noexcept { return gate_.setup().experts; }
    [[nodiscard]] std::uint64_t capacity() const noexcept {
        return std::uint64_t{gate_.setup().tokens} * gate_.ranks();
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
        const moe::slots& made = *dispatches_[rank].made();
        const moe::slots::range range = made.range_of(e, source);
        const std::uint64_t index = e * capacity() + row;
        return row < made.counts[e] && row >= range.begin && row - range.begin < range.count &&
               numbers_[rank][index] == static_cast<std::int32_t>(token) &&
               slots_[rank].has(index, source, token);
    }

    const moe_gate gate_;
    const schedule::placement placement_;
    const std::uint32_t carried_;
    std::deque<carried_rows> tokens_, slots_, sums_;
    std::deque<std::unique_ptr<std::int32_t[]>> numbers_;
    std::deque<std::vector<float>> weights_;
    std::deque<moe::low_latency_dispatch> dispatches_;
    std::deque<moe::low_latency_combine> combines_;
    std::vector<schedule::program*> programs_;
};

}  // namespace

ucs::result<moe_outcome> measure_low_latency(const machine& spec, const moe_experiment& setup) {
    slotted all(spec, setup);
    if (const ucs_status_t status = all.init_dispatch(); status != UCS_OK) return status;
    moe_outcome made;
    const machine weighted = scaled(spec, setup);
    const bool is_combine = setup.kind == exchange::moe_ll_combine;
    if (is_combine) {
        trial before(spec);
        before.run(all.programs());
        collect_results(before.net, before.operations, made.outcome);
        if (made.outcome.status != UCS_OK) return made;
        if (const ucs_status_t status = all.init_combine(); status != UCS_OK) return status;
        made.outcome = {};
    }
    trial measured(weighted);
    measured.run(all.programs());
    made.outcome.weight = weighted.weight;
    collect_results(measured.net, measured.operations, made.outcome);
    if (made.outcome.wrong.empty()) made.outcome.wrong = all.wrong_rows();
    if (made.outcome.wrong.empty() && is_combine) made.outcome.wrong = all.wrong_sums();
    count_traffic(measured.net, made.outcome);
    return made;
}

}  // namespace ucg::sim
