// One rank's requests and memory in low-latency MoE operations.
#pragma once

#include "test/sim/ucg/exchange.hpp"

namespace group_sim {

constexpr std::uint64_t token_bits = 4;  // `purpose` of bits()

// Returns the number of output rows of each expert: one for each token that a rank may send.
inline std::uint64_t capacity(const exchange_plan& plan) {
    return std::uint64_t{plan.most_tokens} * plan.gates.ranks();
}

class low_latency_dispatch_part final : public exchange_part {
public:
    low_latency_dispatch_part(const step_plan& step, exchange& exchange)
        : exchange_part(step, exchange),
          x_(step.type, tokens(), plan_.hidden, step.gap),
          out_x_(step.type, gates_.local() * capacity(plan_), plan_.hidden, step.gap,
                 gates_.local()) {
        if (step.origins)
            out_tokens_ = tensor(plan_.wide ? UCG_TYPE_INT64 : UCG_TYPE_INT32, gates_.local(),
                                 capacity(plan_));
    }
    ucs_status_t init(const completion_args& completion, ucg_request_h* request_p) override {
        const tensor chosen = topk();
        ucg_moe_low_latency_args_t args = UCG_MOE_LOW_LATENCY_ARGS_INIT;
        args.max_tokens = plan_.most_tokens;
        args.topk = chosen.view();
        args.x = x_.view();
        args.out_x = out_x_.view();
        args.out_tokens = out_tokens_.view();
        set_completion(completion, args);
        return ucg_moe_low_latency_dispatch_init(exchange_.team, &args, request_p);
    }
    void prepare(unsigned start, ucg_request_h) override {
        for (std::uint32_t t = 0; t < tokens(); ++t)
            for (std::uint32_t h = 0; h < plan_.hidden; ++h)
                x_.put_bits(t, h, bits(start, token_bits, rank_, t, h));
        out_x_.spoil();
        out_tokens_.spoil();
        for (const test::moe::expanded_row& each : plan_.expanded[rank_]) {
            const auto [source, token] = each.token;
            const std::uint64_t row_index = each.expert * capacity(plan_) + each.place;
            for (std::uint32_t h = 0; h < plan_.hidden; ++h)
                out_x_.expect_bits(row_index, h, bits(start, token_bits, source, token, h));
            if (step_.origins) out_tokens_.expect(each.expert, each.place, token);
        }
    }
    [[nodiscard]] std::string check_result(ucg_request_h request) override {
        return first_of({take_slots(request), x_.wrong("x"), out_x_.wrong("out_x"),
                         out_tokens_.wrong("out_tokens")});
    }

private:
    [[nodiscard]] std::string take_slots(ucg_request_h request) {
        ucg_moe_slots_release(std::exchange(exchange_.slots, nullptr));
        if (ucg_moe_low_latency_handle(request, &exchange_.slots) != UCS_OK)
            return "there are no slots";
        ucg_moe_slots_attr_t attr = UCG_MOE_SLOTS_ATTR_INIT;
        static_cast<void>(ucg_moe_slots_query(exchange_.slots, &attr));
        const std::vector<std::uint32_t> counts = gates_.counts_by_source(rank_);
        for (std::uint32_t e = 0; e < gates_.local(); ++e) {
            std::uint32_t rows = 0;
            for (std::uint32_t source = 0; source < gates_.ranks(); ++source) {
                const std::size_t i = std::size_t{e} * gates_.ranks() + source;
                const ucg_moe_range_t range = attr.ranges[i];
                if (range.count != counts[i] || (range.count != 0 && range.begin != rows))
                    return fmt::format(
                        "rows of rank {} for expert {} are {} from {}, not {} from {}", source, e,
                        range.count, range.begin, counts[i], rows);
                rows += counts[i];
            }
            if (attr.counts[e] != rows)
                return fmt::format("expert {} has {} rows, not {}", e, attr.counts[e], rows);
        }
        return {};
    }

    tensor x_, out_x_, out_tokens_;
};

class low_latency_combine_part final : public exchange_part {
public:
    low_latency_combine_part(const step_plan& step, exchange& exchange)
        : exchange_part(step, exchange),
          y_(step.type, gates_.local() * capacity(plan_), plan_.hidden, step.gap, gates_.local()),
          weights_(UCG_TYPE_FP32, tokens(), gates_.k),
          sums_(step.type, tokens(), plan_.hidden, step.gap) {}
    ucs_status_t init(const completion_args& completion, ucg_request_h* request_p) override {
        ucg_moe_low_latency_combine_args_t args = UCG_MOE_LOW_LATENCY_COMBINE_ARGS_INIT;
        args.x = y_.view();
        args.weights = weights_.view();
        args.out_x = sums_.view();
        args.flags = step_.flags;
        set_completion(completion, args);
        return ucg_moe_low_latency_combine_init(exchange_.slots, &args, request_p);
    }
    void prepare(unsigned start, ucg_request_h) override {
        for (std::uint64_t i = 0; i < y_.rows(); ++i)
            for (std::uint32_t h = 0; h < plan_.hidden; ++h)
                y_.put(i, h, value(start, rank_, i, h));
        sums_.spoil();
        for (std::uint32_t t = 0; t < tokens(); ++t) {
            std::vector<std::int64_t> sum(plan_.hidden);
            for (std::uint32_t j = 0; j < gates_.k; ++j) {
                const std::int64_t factor = weight(start, rank_, t, j);
                weights_.put(t, j, factor);
                const std::int64_t expert = gates_.choice(rank_, t, j);
                if (expert < 0) continue;
                const std::uint32_t holder = gates_.rank_of(expert);
                const std::uint64_t row_index =
                    static_cast<std::uint64_t>(expert) % gates_.local() * capacity(plan_) +
                    place({rank_, t}, j);
                for (std::uint32_t h = 0; h < plan_.hidden; ++h)
                    sum[h] += factor * value(start, holder, row_index, h);
            }
            for (std::uint32_t h = 0; h < plan_.hidden; ++h)
                sums_.expect(t, h, sum[h]);
        }
    }
    [[nodiscard]] std::string check_result(ucg_request_h) override {
        return first_of({y_.wrong("x"), weights_.wrong("weights"), sums_.wrong("out_x")});
    }

private:
    tensor y_, weights_, sums_;
};

}  // namespace group_sim
