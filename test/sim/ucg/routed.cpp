#include "test/sim/ucg/routed.hpp"

namespace group_sim {

namespace {

using test::moe::row;

constexpr std::uint32_t scale_count = 3;
constexpr std::uint64_t token_bits = 4, scale_bits = 5;  // `purpose` of bits()

ucg_moe_notify_args_t arguments_of(const exchange_plan& plan, const tensor& topk) {
    ucg_moe_notify_args_t args = UCG_MOE_NOTIFY_ARGS_INIT;
    args.topk = topk.view();
    args.channels = plan.channels;
    args.channel_tokens = plan.channel_tokens;
    args.route = plan.route;
    args.flags = plan.flags;
    return args;
}

// Takes the handle of a notify, and checks its contents.
std::string take_handle(ucg_request_h request, exchange& exchange) {
    if (ucg_moe_notify_handle(request, &exchange.handle) != UCS_OK) return "there is no handle";
    ucg_moe_handle_attr_t attr = UCG_MOE_HANDLE_ATTR_INIT;
    static_cast<void>(ucg_moe_handle_query(exchange.handle, &attr));
    const std::vector<row>& wanted = exchange.choices.arriving[exchange.rank];
    if (attr.rows != wanted.size())
        return fmt::format("the handle has {} rows, not {}", attr.rows, wanted.size());
    const test::moe::gating& gates = exchange.choices.gates;
    std::vector<std::uint32_t> per_expert(gates.local());
    for (std::uint32_t i = 0; i < attr.rows; ++i) {
        if (attr.origins[2 * i] != wanted[i].source || attr.origins[2 * i + 1] != wanted[i].token)
            return fmt::format("row {} is token {} of rank {}, not {} of {}", i,
                               attr.origins[2 * i + 1], attr.origins[2 * i], wanted[i].token,
                               wanted[i].source);
        for (std::uint32_t j = 0; j < gates.k; ++j) {
            const std::int64_t expert = gates.choice_at(exchange.rank, wanted[i], j);
            if (attr.chosen[i * gates.k + j] != expert)
                return fmt::format("choice {} of row {} is {}, not {}", j, i,
                                   attr.chosen[i * gates.k + j], expert);
            if (expert >= 0) ++per_expert[static_cast<std::size_t>(expert)];
        }
    }
    if (!std::equal(per_expert.begin(), per_expert.end(), attr.per_expert))
        return "the numbers of rows of experts are wrong";
    return {};
}

}  // namespace

ucs_status_t notify_part::init(const completion_args& completion, ucg_request_h* request_p) {
    const tensor chosen = topk();
    ucg_moe_notify_args_t args = arguments_of(plan_, chosen);
    set_completion(completion, args);
    return ucg_moe_notify_init(exchange_.team, &args, request_p);
}

std::string notify_part::check_result(ucg_request_h request) {
    return take_handle(request, exchange_);
}

routed_part::routed_part(const step_plan& step, exchange& exchange)
    : exchange_part(step, exchange) {
    for (std::uint32_t rank = 0; expanded() && rank < gates_.ranks(); ++rank)
        begins_.push_back(gates_.begins(rank, step.alignment));
    rows_ = expanded() ? begins_[rank_].back()
                       : static_cast<std::uint32_t>(plan_.arriving[rank_].size());
}

std::uint32_t routed_part::row_at(std::uint32_t holder, row token, std::uint32_t j,
                                  std::int64_t expert) const {
    return begins_[holder][static_cast<std::size_t>(expert)] + place(token, j);
}

ucs_status_t routed_part::expand(ucg_moe_expansion_h* into) const {
    return expanded() ? ucg_moe_expand(exchange_.handle, step_.alignment, into) : UCS_OK;
}

dispatch_part::dispatch_part(const step_plan& step, exchange& exchange)
    : routed_part(step, exchange) {
    const std::uint32_t k = gates_.k, capacity = rows_ + step.spare;
    const std::uint32_t columns = expanded() ? 1 : k;
    x_ = tensor(step.type, tokens(), plan_.hidden, step.gap);
    out_x_ = tensor(step.type, capacity, plan_.hidden, step.gap);
    if (step.weights) {
        weights_ = tensor(UCG_TYPE_FP32, tokens(), k);
        out_weights_ = tensor(UCG_TYPE_FP32, capacity, columns);
    }
    if (step.type == UCG_TYPE_FP8_E4M3) {
        scales_ = tensor(UCG_TYPE_FP32, tokens(), scale_count);
        out_scales_ = tensor(UCG_TYPE_FP32, capacity, scale_count, step.gap);
    }
    if (step.origins) out_topk_ = tensor(plan_.wide ? UCG_TYPE_INT64 : UCG_TYPE_INT32, capacity, k);
}

ucg_moe_dispatch_args_t dispatch_part::describe(const completion_args& completion) const {
    ucg_moe_dispatch_args_t args = UCG_MOE_DISPATCH_ARGS_INIT;
    args.flags = step_.flags;
    args.x = x_.view();
    args.scales = scales_.view();
    args.weights = weights_.view();
    args.out_x = out_x_.view();
    args.out_scales = out_scales_.view();
    args.out_weights = out_weights_.view();
    args.out_topk = out_topk_.view();
    set_completion(completion, args);
    return args;
}

ucs_status_t dispatch_part::init(const completion_args& completion, ucg_request_h* request_p) {
    ucg_moe_dispatch_args_t args = describe(completion);
    if (step_.with_notify) {
        const tensor chosen = topk();
        const ucg_moe_notify_args_t choices = arguments_of(plan_, chosen);
        return ucg_moe_notify_dispatch_init(exchange_.team, &choices, &args, step_.alignment,
                                            request_p);
    }
    if (const ucs_status_t status = expand(&args.expansion); status != UCS_OK) return status;
    const ucs_status_t status = ucg_moe_dispatch_init(exchange_.handle, &args, request_p);
    ucg_moe_expansion_release(args.expansion);
    return status;
}

void dispatch_part::prepare(unsigned start, ucg_request_h) {
    for (std::uint32_t t = 0; t < tokens(); ++t) {
        for (std::uint32_t h = 0; h < plan_.hidden; ++h)
            x_.put_bits(t, h, bits(start, token_bits, rank_, t, h));
        for (std::uint32_t j = 0; j < weights_.columns(); ++j)
            weights_.put(t, j, weight(start, rank_, t, j));
        for (std::uint32_t i = 0; i < scales_.columns(); ++i)
            scales_.put_bits(t, i, bits(start, scale_bits, rank_, t, i));
    }
    for (tensor* const each : {&out_x_, &out_scales_, &out_weights_, &out_topk_})
        each->spoil();
    if (expanded()) {
        put_expanded(start);
        return;
    }
    const std::vector<row>& wanted = plan_.arriving[rank_];
    for (std::uint32_t i = 0; i < wanted.size(); ++i) {
        put_row(start, i, wanted[i]);
        for (std::uint32_t j = 0; j < gates_.k; ++j) {
            const std::int64_t expert = gates_.choice_at(rank_, wanted[i], j);
            if (step_.origins) out_topk_.expect(i, j, expert);
            if (step_.weights)
                out_weights_.expect(
                    i, j, expert < 0 ? 0 : weight(start, wanted[i].source, wanted[i].token, j));
        }
    }
    for (std::uint64_t i = rows_; i < out_topk_.rows(); ++i)
        for (std::uint32_t j = 0; j < gates_.k; ++j)
            out_topk_.expect(i, j, -1);
}

void dispatch_part::put_row(unsigned start, std::uint32_t index, test::moe::row from) {
    for (std::uint32_t h = 0; h < plan_.hidden; ++h)
        out_x_.expect_bits(index, h, bits(start, token_bits, from.source, from.token, h));
    for (std::uint32_t i = 0; i < out_scales_.columns(); ++i)
        out_scales_.expect_bits(index, i, bits(start, scale_bits, from.source, from.token, i));
}

void dispatch_part::put_expanded(unsigned start) {
    if ((step_.flags & UCG_MOE_DISPATCH_ZERO_PADDING) != 0) put_zeros();
    for (const test::moe::expanded_row& each : plan_.expanded[rank_]) {
        const auto [source, token] = each.token;
        const std::uint32_t index = begins_[rank_][each.expert] + each.place;
        put_row(start, index, each.token);
        if (step_.weights) out_weights_.expect(index, 0, weight(start, source, token, each.choice));
    }
}

// Expects zeros in all rows; rows of tokens are set later.
void dispatch_part::put_zeros() {
    for (tensor* const each : {&out_x_, &out_scales_, &out_weights_})
        for (std::uint32_t i = 0; i < rows_; ++i)
            for (std::uint64_t column = 0; column < each->columns(); ++column)
                each->expect_bits(i, column, 0);
}

std::string dispatch_part::check_result(ucg_request_h request) {
    return first_of({step_.with_notify ? take_handle(request, exchange_) : std::string(),
                     x_.wrong("x"), scales_.wrong("scales"), weights_.wrong("weights"),
                     out_x_.wrong("out_x"), out_scales_.wrong("out_scales"),
                     out_weights_.wrong("out_weights"), out_topk_.wrong("out_topk")});
}

combine_part::combine_part(const step_plan& step, exchange& exchange)
    : routed_part(step, exchange) {
    y_ = tensor(step.type, rows_, plan_.hidden, step.gap);
    sums_ = tensor(step.type, tokens(), plan_.hidden, step.gap);
    for (unsigned i = 0; i < step.biases; ++i)
        bias_[i] = tensor(step.type, tokens(), plan_.hidden);
    if (!step.weights) return;
    weights_ = tensor(UCG_TYPE_FP32, rows_, expanded() ? 1 : gates_.k);
    weight_sums_ = tensor(UCG_TYPE_FP32, tokens(), gates_.k);
}

ucs_status_t combine_part::init(const completion_args& completion, ucg_request_h* request_p) {
    ucg_moe_combine_args_t args = UCG_MOE_COMBINE_ARGS_INIT;
    args.x = y_.view();
    args.weights = weights_.view();
    args.bias[0] = bias_[0].view();
    args.bias[1] = bias_[1].view();
    args.out_x = sums_.view();
    args.out_weights = weight_sums_.view();
    set_completion(completion, args);
    if (const ucs_status_t status = expand(&args.expansion); status != UCS_OK) return status;
    const ucs_status_t status = ucg_moe_combine_init(exchange_.handle, &args, request_p);
    ucg_moe_expansion_release(args.expansion);
    return status;
}

template<class Rows>
void combine_part::for_each_row(std::uint32_t token, const Rows& rows) const {
    const row source{rank_, token};
    for (std::uint32_t holder = 0; holder < gates_.ranks(); ++holder) {
        if (!expanded()) {
            if (gates_.goes(source, holder))
                rows(holder, index_of(plan_.arriving[holder], source), gates_.k);
            continue;
        }
        for (std::uint32_t j = 0; j < gates_.k; ++j)
            if (const std::int64_t expert = gates_.choice_at(holder, source, j); expert >= 0)
                rows(holder, row_at(holder, source, j, expert), j);
    }
}

void combine_part::prepare(unsigned start, ucg_request_h) {
    for (std::uint32_t i = 0; i < rows_; ++i) {
        for (std::uint32_t h = 0; h < plan_.hidden; ++h)
            y_.put(i, h, value(start, rank_, i, h));
        for (std::uint32_t j = 0; j < weights_.columns(); ++j)
            weights_.put(i, j, weight(start, rank_, i, j));
    }
    sums_.spoil();
    weight_sums_.spoil();
    std::vector<std::int64_t> sum(plan_.hidden), weight_sum(gates_.k);
    for (std::uint32_t t = 0; t < tokens(); ++t) {
        std::ranges::fill(sum, 0);
        std::ranges::fill(weight_sum, 0);
        for_each_row(t, [&](std::uint32_t holder, std::uint32_t i, std::uint32_t choice) {
            for (std::uint32_t h = 0; h < plan_.hidden; ++h)
                sum[h] += value(start, holder, i, h);
            for (std::uint32_t j = 0; j < gates_.k; ++j)
                if (choice == j || choice == gates_.k)
                    weight_sum[j] += weight(start, holder, i, expanded() ? 0 : j);
        });
        for (std::uint32_t h = 0; h < plan_.hidden; ++h) {
            for (unsigned i = 0; i < step_.biases; ++i) {
                // Numbers after all starts, so that no row has the same values.
                const std::int64_t bias = value(start + 1000 * (i + 1), rank_, t, h);
                bias_[i].put(t, h, bias);
                sum[h] += bias;
            }
            sums_.expect(t, h, sum[h]);
        }
        for (std::uint32_t j = 0; j < weight_sums_.columns(); ++j)
            weight_sums_.expect(t, j, weight_sum[j]);
    }
}

std::string combine_part::check_result(ucg_request_h) {
    return first_of({y_.wrong("x"), weights_.wrong("weights"), bias_[0].wrong("bias[0]"),
                     bias_[1].wrong("bias[1]"), sums_.wrong("out_x"),
                     weight_sums_.wrong("out_weights")});
}

}  // namespace group_sim
