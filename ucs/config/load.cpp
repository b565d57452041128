// Loads settings from option texts, and checks texts before they are set.
#include <fmt/format.h>

#include "ucs/config/general.hpp"
#include "ucs/config/once.hpp"
#include "ucs/config/source.hpp"
#include "ucs/log/log.hpp"

namespace ucs::config {
namespace {

constinit log::component self{"ucs.config"};

void refuse(const source& from, const option& entry, const text_value& given) {
    log::error(self, "{}_{}: \"{:.200}\" (from {}) is not a valid value; expected {}",
               from.family(), entry.name, given.text, given.where, expected_form(entry));
}

// Warns once per value, because the same options are read for every interface.
void warn_limited(const source& from, const option& entry, std::string_view text) {
    if (!first_time(fmt::format("limited {}={}", entry.name, text))) return;
    log::warn(self, "{}_{}: \"{:.200}\" is more than is possible here; {} is used", from.family(),
              entry.name, text, entry.allowed.highest);
}

}  // namespace

table with_family(table options, std::string_view own_prefix, std::string_view family) {
    for (option& each : options.options) {
        const std::string_view name(each.name);
        if (name.starts_with(own_prefix))
            each.family_name = std::string(family) += name.substr(own_prefix.size());
    }
    return options;
}

ucs_status_t check(const table& options, const source& from) {
    ucs_status_t status = UCS_OK;
    for (const option& each : options.options) {
        const text_value* given = from.find(each);
        if (given == nullptr || each.check(given->text) != verdict::refused) continue;
        refuse(from, each, *given);
        status = UCS_ERR_INVALID_PARAM;
    }
    return status;
}

ucs_status_t load(void* settings, const table& options, const source& from) {
    ucs_status_t first_error = UCS_OK;
    for (const option& each : options.options) {
        void* field = each.field(settings);
        const text_value* given = from.find(each);
        if (given != nullptr) {
            const verdict found = take(each, given->text, field);
            if (found == verdict::limited) warn_limited(from, each, given->text);
            if (found != verdict::refused) continue;
            refuse(from, each, *given);
            first_error = UCS_ERR_INVALID_PARAM;
        }
        if (take(each, each.default_value, field) != verdict::good) {
            log::error(self, "default \"{}\" of option {} is not {}", each.default_value, each.name,
                       expected_form(each));
            first_error = UCS_ERR_INVALID_PARAM;
        }
    }
    return first_error;
}

ucs_status_t modify(source& target, std::span<const table* const> known, std::string_view name,
                    std::string_view text) {
    const option* entry = find_option(known, name);
    if (entry == nullptr) {
        target.set(name, text);
        if (target.reports_unused()) target.report_unused(known, name, *target.find(name));
        return UCS_OK;
    }
    const verdict found = entry->check(text);
    if (found == verdict::refused) {
        log::error(self, "UCX_{}: \"{:.200}\" is not a valid value; expected {}", name, text,
                   expected_form(*entry));
        return UCS_ERR_INVALID_PARAM;
    }
    if (found == verdict::limited) warn_limited(target, *entry, text);
    target.set(name, text);
    return UCS_OK;
}

}  // namespace ucs::config
