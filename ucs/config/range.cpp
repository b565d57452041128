#include "ucs/config/range.hpp"

#include <cmath>

#include "ucs/config/option.hpp"

namespace ucs::config {

verdict take(const option& entry, std::string_view text, void* field) {
    const value_type& type = *entry.type;
    if (type.parse(text, field) != UCS_OK) return verdict::refused;
    if (type.measure == nullptr) return verdict::good;
    const range& allowed = entry.allowed;
    const double value = type.measure(text);
    if (std::isnan(value)) return allowed.automatic ? verdict::good : verdict::refused;
    if (std::isinf(value) && allowed.infinite) return verdict::good;
    if (allowed.lowest != nullptr && value < type.measure(allowed.lowest)) return verdict::refused;
    if (allowed.highest == nullptr || value <= type.measure(allowed.highest)) return verdict::good;
    if (!allowed.limited) return verdict::refused;
    return type.parse(allowed.highest, field) == UCS_OK ? verdict::limited : verdict::refused;
}

std::string expected_form(const option& entry) {
    const range& allowed = entry.allowed;
    std::string text = entry.type->expected;
    const auto add = [&text](const char* words, const char* value) { (text += words) += value; };
    if (allowed.lowest != nullptr && allowed.highest != nullptr) {
        add(", from ", allowed.lowest);
        add(" to ", allowed.highest);
    } else if (allowed.lowest != nullptr) {
        add(", at least ", allowed.lowest);
    } else if (allowed.highest != nullptr) {
        add(", at most ", allowed.highest);
    }
    if (entry.type->knows_inf && allowed.infinite) text += ", or inf";
    if (entry.type->knows_auto && allowed.automatic) text += ", or auto";
    if (allowed.limited) add("; more is taken as ", allowed.highest);
    return text;
}

}  // namespace ucs::config
