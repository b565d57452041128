#include "test/sim/ucg/exchange.hpp"

#include "test/sim/ucg/low_latency.hpp"
#include "test/sim/ucg/routed.hpp"

namespace group_sim {

namespace {

using kind = step_plan::kind;

// The part of a rank without the handles that the operation needs. It makes a refused request, so
// that the other ranks do not wait.
class refused_part final : public exchange_part {
public:
    using exchange_part::exchange_part;

    ucs_status_t init(const completion_args& completion, ucg_request_h* request_p) override {
        ucg_moe_low_latency_args_t args = UCG_MOE_LOW_LATENCY_ARGS_INIT;
        set_completion(completion, args);
        return ucg_moe_low_latency_dispatch_init(exchange_.team, &args, request_p);
    }
    [[nodiscard]] bool refuses() const override { return true; }
    void prepare(unsigned, ucg_request_h) override {}
    [[nodiscard]] std::string check_result(ucg_request_h) override {
        return "an operation that this rank refused ended well";
    }
};

}  // namespace

exchange::exchange(const exchange_plan& exchange_choices, ucg_group_h group, std::uint32_t self)
    : choices(exchange_choices), rank(self) {
    ucg_moe_team_params_t params = UCG_MOE_TEAM_PARAMS_INIT;
    params.experts = choices.gates.experts;
    static_cast<void>(ucg_moe_team_create(group, &params, &team));
}

bool exchange::allows(const step_plan& step) const noexcept {
    if (step.operation == kind::notify || step.with_notify) return true;
    if (choices.low_latency) return step.operation == kind::dispatch || slots != nullptr;
    return handle != nullptr;
}

void exchange::release_handles() noexcept {
    ucg_moe_slots_release(std::exchange(slots, nullptr));
    ucg_moe_handle_release(std::exchange(handle, nullptr));
    ucg_moe_team_destroy(std::exchange(team, nullptr));
}

std::unique_ptr<part> exchange_part::make(const step_plan& step, exchange& exchange) {
    if (!exchange.allows(step)) return std::make_unique<refused_part>(step, exchange);
    if (step.operation == kind::notify) return std::make_unique<notify_part>(step, exchange);
    const bool is_dispatch = step.operation == kind::dispatch;
    if (exchange.choices.low_latency) {
        if (is_dispatch) return std::make_unique<low_latency_dispatch_part>(step, exchange);
        return std::make_unique<low_latency_combine_part>(step, exchange);
    }
    if (is_dispatch) return std::make_unique<dispatch_part>(step, exchange);
    return std::make_unique<combine_part>(step, exchange);
}

std::uint64_t exchange_part::bits(unsigned start, std::uint64_t purpose, std::uint64_t rank,
                                  std::uint64_t row, std::uint64_t column) const noexcept {
    using ucs::sys::mix;
    return mix(mix(mix(step_.seed + start) ^ (purpose << 56U | rank << 32U | row)) + column);
}

std::int64_t exchange_part::weight(unsigned start, std::uint64_t rank, std::uint64_t row,
                                   std::uint64_t column) const noexcept {
    return static_cast<std::int64_t>(bits(start, 1, rank, row, column) % 3) + 1;
}

// Values in 10 bits are exact if a row has one magnitude.
std::int64_t exchange_part::value(unsigned start, std::uint64_t rank, std::uint64_t row,
                                  std::uint64_t column) const noexcept {
    const std::uint64_t word = bits(start, 2, rank, row, column);
    if (!plan_.low_latency || step_.flags != UCG_MOE_LOW_LATENCY_COMBINE_LOGFMT10)
        return static_cast<std::int64_t>(word % 13) - 6;
    const auto magnitude = static_cast<std::int64_t>(bits(start, 3, rank, row, 0) % 7);
    return word % 2 == 0 ? magnitude : -magnitude;
}

tensor exchange_part::topk() const {
    tensor made(plan_.wide ? UCG_TYPE_INT64 : UCG_TYPE_INT32, tokens(), gates_.k);
    for (std::uint32_t t = 0; t < tokens(); ++t)
        for (std::uint32_t j = 0; j < gates_.k; ++j)
            made.put(t, j, gates_.choice(rank_, t, j));
    return made;
}

std::string first_of(std::initializer_list<std::string> texts) {
    const auto* const found =
        std::ranges::find_if(texts, [](const std::string& each) { return !each.empty(); });
    return found == texts.end() ? std::string() : *found;
}

}  // namespace group_sim
