#include "ucg/moe/plan/choices.hpp"

#include "ucg/schedule/log.hpp"

namespace ucg::moe {
namespace {

bool has_form(const const_matrix& topk) noexcept {
    return (topk.type == reduce::element::int32 || topk.type == reduce::element::int64) &&
           topk.elements >= 1 && topk.elements <= choices::max_k &&
           topk.rows <= choices::max_tokens && (topk.rows == 0 || topk);
}

}  // namespace

ucs::result<choices> choices::make(const team& group, const const_matrix& topk) {
    if (!has_form(topk)) {
        ucs::log::error(moe_log,
                        "the chosen experts are {} rows of {} {}s{}: give up to {} rows of 1 to {} "
                        "int32 or int64",
                        topk.rows, topk.elements, reduce::name(topk.type),
                        topk ? "" : " at a null pointer", max_tokens, max_k);
        return UCS_ERR_INVALID_PARAM;
    }
    choices made;
    made.tokens_ = static_cast<std::uint32_t>(topk.rows);
    made.k_ = topk.elements;
    made.all_.reserve(topk.rows * topk.elements);
    for (std::uint64_t token = 0; token < topk.rows; ++token) {
        for (std::uint32_t i = 0; i < topk.elements; ++i) {
            const std::int64_t expert = integer_at(topk, token, i);
            if (expert < none || expert >= group.experts()) {
                ucs::log::error(
                    moe_log, "token {} chose expert {} at place {}: give 0 to {}, or -1 for none",
                    token, expert, i, group.experts() - 1);
                return UCS_ERR_INVALID_PARAM;
            }
            const auto chosen = static_cast<expert_t>(expert);
            const bool is_there = chosen != none && group.is_alive(group.rank_of(chosen));
            made.all_.push_back(is_there ? chosen : none);
        }
    }
    return made;
}

}  // namespace ucg::moe
