#include "ucg/select/selector.hpp"

#include <fmt/format.h>

#include "ucg/algo/table.hpp"
#include "ucs/config/once.hpp"
#include "ucs/config/units.hpp"
#include "ucs/log/log.hpp"

namespace ucg::select {
namespace {

constinit const ucs::log::component self{"ucg.select"};

// The algorithm of a name, and whether it can serve the call.
struct named {
    bool fits = false;
    const schedule::algorithm* algorithm = nullptr;
};

named look_up(const query& query, std::string_view name) {
    const schedule::algorithm* const algorithm = algo::find(query.call.kind, name);
    return {
        algorithm != nullptr && can_run(*algorithm, query.call, query.shape, query.deterministic),
        algorithm};
}

std::string text_of(const query& query) {
    return fmt::format("{} of {} among {}", schedule::name(query.call.kind),
                       ucs::config::print_bytes(static_cast<std::size_t>(query.shape.bytes)),
                       query.shape.ranks);
}

// Text with the predicted times of the chosen algorithm and of the next best one.
std::string prediction(const query& query, const schedule::algorithm& best) {
    if (has(best.needs, schedule::condition::engine))
        return "all ranks share the memory of one node";
    const double own = best.cost(query.shape, query.link);
    const schedule::algorithm* second = nullptr;
    double next = 0;
    for (const schedule::algorithm& each : algo::algorithms(query.call.kind)) {
        if (&each == &best || !can_run(each, query.call, query.shape, query.deterministic))
            continue;
        const double cost = each.cost(query.shape, query.link);
        if (second != nullptr && cost >= next) continue;
        second = &each;
        next = cost;
    }
    if (second == nullptr) return "the only one that can serve this";
    return fmt::format("predicted {:.2f} us, the next best {} {:.2f} us", own * 1e6, second->name,
                       next * 1e6);
}

}  // namespace

ucs::result<selector> selector::make(
    const std::array<std::string, schedule::collective_count>& texts) {
    selector made;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        auto read = rules::parse(texts[i]);
        if (!read) {
            ucs::log::error(self,
                            "the rules for {} cannot be read: \"{:.200}\"; expected NAME, "
                            "SIZES:NAME or SIZES@RANKS:NAME, separated by commas, such as "
                            "4k-1m@8-inf:ring",
                            schedule::name(static_cast<schedule::collective>(i)), texts[i]);
            return UCS_ERR_INVALID_PARAM;
        }
        made.rules_[i] = std::move(*read);
    }
    return made;
}

ucs::result<choice> selector::choose(const query& query) const {
    if (!query.wanted.empty()) {
        const named found = look_up(query, query.wanted);
        if (found.fits) return choice{found.algorithm, "asked for by the program"};
        ucs::log::error(self, "{}: the algorithm \"{:.100}\" is not there or cannot serve this",
                        text_of(query), query.wanted);
        return UCS_ERR_NO_ELEM;
    }
    const rules& by_user = rules_[static_cast<std::size_t>(query.call.kind)];
    if (const std::string_view name = by_user.name_for(query.shape.bytes, query.shape.ranks);
        !name.empty()) {
        const named found = look_up(query, name);
        if (found.fits) return choice{found.algorithm, "asked for by the environment"};
        const std::string line = fmt::format(
            "{}: the algorithm \"{:.100}\" of the environment is not there or cannot serve this",
            text_of(query), name);
        if (ucs::config::first_time(line)) ucs::log::warn(self, "{}; another one is used", line);
    }
    const schedule::algorithm& best =
        algo::choose(query.call, query.shape, query.link, query.deterministic);
    return choice{&best, prediction(query, best)};
}

}  // namespace ucg::select
