// From texts to settings, and the check before a text is set.
#include "ucs/config/foreign_names.hpp"
#include "ucs/config/known.hpp"
#include "ucs/config/source.hpp"
#include "ucs/log/log.hpp"

namespace ucs::config {
namespace {

constinit log::component self{"ucs.config"};

void refuse(const option& which, const text_value& given) {
    log::error(self, "UCX_{}: \"{:.200}\" (from {}) is not a valid value; expected {}", which.name,
               given.text, given.where, which.type->expected);
}

}  // namespace

ucs_status_t check(const table& options, const source& from) {
    ucs_status_t status = UCS_OK;
    for (const option& each : options.options) {
        const text_value* given = from.find(each.name);
        if (given == nullptr || each.check(given->text, nullptr) == UCS_OK) continue;
        refuse(each, *given);
        status = UCS_ERR_INVALID_PARAM;
    }
    return status;
}

ucs_status_t load(void* settings, const table& options, const source& from) {
    ucs_status_t first_error = UCS_OK;
    for (const option& each : options.options) {
        void* field = each.field(settings);
        if (each.type->parse(each.default_value, field) != UCS_OK) {
            log::error(self, "default \"{}\" of option {} is not {}", each.default_value, each.name,
                       each.type->expected);
            first_error = UCS_ERR_INVALID_PARAM;
        }
        const text_value* given = from.find(each.name);
        if (given == nullptr || each.type->parse(given->text, field) == UCS_OK) continue;
        refuse(each, *given);
        if (first_error == UCS_OK) first_error = UCS_ERR_INVALID_PARAM;
    }
    return first_error;
}

ucs_status_t modify(source& target, std::span<const table* const> known, std::string_view name,
                    std::string_view text) {
    const option* which = find_option(known, name);
    if (which == nullptr && is_foreign_name(name)) {
        log::debug(self, "UCX_{}={} is accepted without effect: it has no meaning here", name,
                   text);
        target.set(name, text);
        return UCS_OK;
    }
    if (which == nullptr) {
        log::debug(self, "there is no option {}", name);
        return UCS_ERR_NO_ELEM;
    }
    if (which->check(text, nullptr) != UCS_OK) {
        log::error(self, "UCX_{}: \"{:.200}\" is not a valid value; expected {}", name, text,
                   which->type->expected);
        return UCS_ERR_INVALID_PARAM;
    }
    target.set(name, text);
    return UCS_OK;
}

}  // namespace ucs::config
