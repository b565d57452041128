#include "uct/cuda/copy/directed_rates.hpp"

#include <array>
#include <cmath>

#include "ucs/config/text.hpp"
#include "ucs/config/units.hpp"

namespace uct::cuda {
namespace {

struct direction {
    std::string_view name;
    double directed_rates::*rate;
};
constexpr std::array directions{direction{"default", &directed_rates::others},
                                direction{"h2d", &directed_rates::host_to_device},
                                direction{"d2h", &directed_rates::device_to_host},
                                direction{"d2d", &directed_rates::device_to_device}};

bool set_one(directed_rates& into, std::string_view entry) {
    const std::size_t colon = entry.find(':');
    const std::string_view name =
        colon == std::string_view::npos ? "default" : ucs::config::trim(entry.substr(0, colon));
    const std::string_view value =
        colon == std::string_view::npos ? entry : entry.substr(colon + 1);
    const auto rate = ucs::config::parse_rate(ucs::config::trim(value));
    if (!rate || !std::isfinite(*rate) || *rate <= 0) return false;
    for (const direction& each : directions) {
        if (!ucs::config::same_text(each.name, name)) continue;
        into.*each.rate = *rate;
        return true;
    }
    return false;
}

}  // namespace

std::optional<directed_rates> directed_rates::parse(std::string_view text) {
    directed_rates made;
    while (true) {
        const std::size_t comma = text.find(',');
        if (!set_one(made, text.substr(0, comma))) return std::nullopt;
        if (comma == std::string_view::npos) break;
        text.remove_prefix(comma + 1);
    }
    for (const direction& each : directions) {
        if (made.*each.rate == 0) made.*each.rate = made.others;
        if (made.*each.rate == 0) return std::nullopt;
    }
    return made;
}

std::string directed_rates::text() const {
    std::string shown;
    for (const direction& each : directions) {
        if (!shown.empty()) shown += ',';
        (shown += each.name) += ':';
        shown += ucs::config::print_rate(this->*each.rate);
    }
    return shown;
}

}  // namespace uct::cuda

template<>
const ucs::config::value_type& ucs::config::value_type_of<uct::cuda::directed_rates>() {
    using uct::cuda::directed_rates;
    static constexpr value_type type{
        "rates in bytes per second for the directions default, h2d, d2h and d2d "
        "(default:10GBs,d2d:600GBs), or one rate for all",
        [](std::string_view text, void* field) {
            const auto read = directed_rates::parse(text);
            if (!read) return UCS_ERR_INVALID_PARAM;
            *static_cast<directed_rates*>(field) = *read;
            return UCS_OK;
        },
        [](const void* field) { return static_cast<const directed_rates*>(field)->text(); }};
    return type;
}
