// Names of options: finding them, and warning of those that nobody knows.
#include <mutex>
#include <set>

#include "ucs/config/edit_distance.hpp"
#include "ucs/config/foreign_names.hpp"
#include "ucs/config/general.hpp"
#include "ucs/config/known.hpp"
#include "ucs/config/once.hpp"
#include "ucs/config/source.hpp"
#include "ucs/log/log.hpp"

namespace ucs::config {
namespace {

constinit log::component self{"ucs.config"};

// Calls visit(option) for all known options until it returns true.
template<class Visit>
void visit_known(std::span<const table* const> known, Visit&& visit) {
    for (const auto tables : {known, general_tables()}) {
        for (const table* each : tables) {
            for (const option& candidate : each->options) {
                if (visit(candidate)) return;
            }
        }
    }
}

}  // namespace

bool first_time(const std::string& key) {
    static std::mutex& lock = *new std::mutex;
    static std::set<std::string>& said = *new std::set<std::string>;
    const std::lock_guard guard(lock);
    return said.insert(key).second;
}

const option* find_option(std::span<const table* const> known, std::string_view name) {
    const option* found = nullptr;
    visit_known(known, [&](const option& candidate) {
        if (candidate.is_called(name)) found = &candidate;
        return found != nullptr;
    });
    return found;
}

std::string nearest_name(std::span<const table* const> known, std::string_view name) {
    // A third of the letters wrong is another word, not a slip.
    std::size_t best = name.size() / 3 + 1;
    std::string nearest;
    visit_known(known, [&](const option& candidate) {
        const std::size_t distance = edit_distance(name, candidate.name);
        if (distance < best) {
            best = distance;
            nearest = candidate.name;
        }
        return false;
    });
    return nearest;
}

void source::warn_unknown(std::span<const table* const> known) const {
    general_settings settings;
    (void)load(&settings, general_settings::options(), *this);
    if (!settings.warn_unused) return;
    for (const auto& [name, value] : values_) {
        if (find_option(known, name) != nullptr || is_foreign_name(name)) continue;
        if (!first_time("unknown " + value.where)) continue;
        const std::string nearest = nearest_name(known, name);
        const std::string hint =
            nearest.empty() ? "" : "; did you mean " + family_ + "_" + nearest + "?";
        const bool in_file = value.from == origin::file;
        log::warn(self, "{}{}{} is not an option of this library and has no effect{}", value.where,
                  in_file ? ": UCX_" : "", in_file ? name : "", hint);
    }
}

}  // namespace ucs::config
