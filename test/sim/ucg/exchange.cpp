#include "test/sim/ucg/exchange.hpp"

#include <algorithm>

#include "test/sim/ucg/low_latency.hpp"
#include "test/sim/ucg/routed.hpp"
#include "ucs/sys/uuid.hpp"

namespace group_sim {

namespace {

using kind = step_plan::kind;

// Of a rank that has not got what the operation needs. So the others need not wait for it.
class refused_part final : public exchange_part {
public:
    using exchange_part::exchange_part;

    ucs_status_t init(const ending& how, ucg_request_h* request_p) override {
        ucg_moe_low_latency_args_t args = UCG_MOE_LOW_LATENCY_ARGS_INIT;
        put_ending(how, args);
        return ucg_moe_low_latency_dispatch_init(with_.team, &args, request_p);
    }
    [[nodiscard]] bool refuses() const override { return true; }
    void prepare(unsigned, ucg_request_h) override {}
    [[nodiscard]] std::string look_at_result(ucg_request_h) override {
        return "an operation that this rank refused ended well";
    }
};

}  // namespace

exchange::exchange(const exchange_plan& which, ucg_group_h in, std::uint32_t self)
    : of(which), rank(self) {
    ucg_moe_team_params_t params = UCG_MOE_TEAM_PARAMS_INIT;
    params.experts = of.gates.experts;
    static_cast<void>(ucg_moe_team_create(in, &params, &team));
}

bool exchange::allows(const step_plan& step) const noexcept {
    if (step.what == kind::notify || step.with_notify) return true;
    if (of.low_latency) return step.what == kind::dispatch || slots != nullptr;
    return handle != nullptr;
}

void exchange::let_go() noexcept {
    ucg_moe_slots_release(std::exchange(slots, nullptr));
    ucg_moe_handle_release(std::exchange(handle, nullptr));
    ucg_moe_team_destroy(std::exchange(team, nullptr));
}

std::unique_ptr<part> exchange_part::make(const step_plan& by, exchange& with) {
    if (!with.allows(by)) return std::make_unique<refused_part>(by, with);
    if (by.what == kind::notify) return std::make_unique<notify_part>(by, with);
    const bool goes = by.what == kind::dispatch;
    if (with.of.low_latency) {
        if (goes) return std::make_unique<low_latency_dispatch_part>(by, with);
        return std::make_unique<low_latency_combine_part>(by, with);
    }
    if (goes) return std::make_unique<dispatch_part>(by, with);
    return std::make_unique<combine_part>(by, with);
}

std::uint64_t exchange_part::bits(unsigned start, std::uint64_t what, std::uint64_t rank,
                                  std::uint64_t row, std::uint64_t column) const noexcept {
    using ucs::sys::mix;
    return mix(mix(mix(by_.seed + start) ^ (what << 56U | rank << 32U | row)) + column);
}

std::int64_t exchange_part::weight(unsigned start, std::uint64_t rank, std::uint64_t row,
                                   std::uint64_t column) const noexcept {
    return static_cast<std::int64_t>(bits(start, 1, rank, row, column) % 3) + 1;
}

// What travels in 10 bits is exact where a row has one magnitude.
std::int64_t exchange_part::value(unsigned start, std::uint64_t rank, std::uint64_t row,
                                  std::uint64_t column) const noexcept {
    const std::uint64_t word = bits(start, 2, rank, row, column);
    if (!of_.low_latency || by_.flags != UCG_MOE_LOW_LATENCY_COMBINE_LOGFMT10)
        return static_cast<std::int64_t>(word % 13) - 6;
    const auto magnitude = static_cast<std::int64_t>(bits(start, 3, rank, row, 0) % 7);
    return word % 2 == 0 ? magnitude : -magnitude;
}

tensor exchange_part::topk() const {
    tensor made(of_.wide ? UCG_TYPE_INT64 : UCG_TYPE_INT32, tokens(), gates_.k);
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
