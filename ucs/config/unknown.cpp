// Finds options by name, and reports names that have no effect.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <set>

#include "ucs/config/edit_distance.hpp"
#include "ucs/config/general.hpp"
#include "ucs/config/once.hpp"
#include "ucs/config/openucx_options.hpp"
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

// Returns whether the value switches a service off, or leaves the choice to the library.
bool asks_for_nothing(std::string_view text) noexcept {
    constexpr std::string_view texts[] = {"",      "n",    "no",   "off", "0",
                                          "false", "none", "auto", "try"};
    return std::find(std::begin(texts), std::end(texts), text) != std::end(texts);
}

// Returns the name, "UCX_TLS", preceded by its location unless that is the environment.
std::string location_of(std::string_view family, std::string_view name, const text_value& value) {
    if (value.from == origin::environment || value.from == origin::prefixed_environment) {
        return value.where;
    }
    return fmt::format("{}: {}_{}", value.where, family, name);
}

}  // namespace

bool first_time(const std::string& key) {
    static std::mutex& lock = *new std::mutex;
    static std::set<std::string>& reported = *new std::set<std::string>;
    const std::lock_guard guard(lock);
    return reported.insert(key).second;
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
    nearest_match nearest(name);
    visit_known(known, [&](const option& candidate) {
        nearest.consider(candidate.name);
        return false;
    });
    return std::string(nearest.found());
}

void source::report_unused(std::span<const table* const> known, std::string_view name,
                           const text_value& value) const {
    if (!first_time(fmt::format("unused {}_{}", family_, name))) return;
    const std::string location = location_of(family_, name, value);
    const no_effect* effect = family_ == "UCX" ? find_no_effect(name) : nullptr;
    if (effect != nullptr) {
        const bool is_missed = effect->is_missed && !asks_for_nothing(value.text);
        log::log(self, is_missed ? log::level::warn : log::level::info,
                 "{} has no effect, because {}", location, effect->reason);
        return;
    }
    const std::string nearest = nearest_name(known, name);
    const std::string hint =
        nearest.empty() ? "" : fmt::format("; did you mean {}_{}?", family_, nearest);
    log::warn(self, "{} is not an option of this library and has no effect{}", location, hint);
}

bool source::reports_unused() const {
    general_settings settings;
    (void)load(&settings, general_settings::options(), *this);
    return settings.warn_unused;
}

void source::warn_unknown(std::span<const table* const> known) const {
    if (!reports_unused()) return;
    for (const auto& [name, value] : values_) {
        if (find_option(known, name) == nullptr) report_unused(known, name, value);
    }
}

}  // namespace ucs::config
