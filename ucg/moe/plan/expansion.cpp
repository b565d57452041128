#include "ucg/moe/plan/expansion.hpp"

#include "ucg/schedule/log.hpp"

namespace ucg::moe {

ucs::result<expansion> expansion::make(const receive_plan& received, std::uint32_t alignment) {
    if (alignment == 0) {
        ucs::log::error(moe_log, "rows cannot be aligned to 0: give 1 for no alignment");
        return UCS_ERR_INVALID_PARAM;
    }
    expansion made;
    made.k_ = received.k;
    made.counts_ = received.per_expert;
    std::uint64_t end = 0;
    made.begins_.push_back(0);
    for (const std::uint32_t count : made.counts_) {
        end += (std::uint64_t{count} + alignment - 1) / alignment * alignment;
        if (end > INT32_MAX) return UCS_ERR_EXCEEDS_LIMIT;
        made.begins_.push_back(static_cast<std::uint32_t>(end));
    }
    std::vector<std::uint32_t> next(made.begins_.begin(), made.begins_.end() - 1);
    made.rows_.reserve(received.chosen.size());
    for (const expert_t expert : received.chosen)
        made.rows_.push_back(expert == choices::none ? no_row
                                                     : next[static_cast<std::size_t>(expert)]++);
    return made;
}

}  // namespace ucg::moe
