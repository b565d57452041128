#include "tools/info/transport_list.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/common/text.hpp"

namespace tools::info {
namespace {

bool holds(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

void add(std::vector<std::string>& names, std::string_view name) {
    if (!holds(names, name)) names.emplace_back(name);
}

void restrict(restriction& so_far, std::string_view option, const char* list) {
    so_far.reason += fmt::format("{}{}", so_far.reason.empty() ? "" : " ", option);
    so_far.allowed = intersection(so_far.allowed, transport_list::parse(list));
}

}  // namespace

transport_list transport_list::parse(std::string_view text) {
    transport_list made;
    made.negated = text.starts_with('^');
    if (made.negated) text.remove_prefix(1);
    bool all = false;
    for (const std::string_view name : split(text, ',')) {
        all = all || name == "all";
        if (name == "sm" || name == "shm") {
            add(made.names, "posix");
            add(made.names, "cma");
        } else if (name == "mm") {
            add(made.names, "posix");
        } else {
            add(made.names, name);
        }
    }
    if (all) return {{}, !made.negated};
    return made;
}

std::string transport_list::text() const {
    if (names.empty()) return negated ? "all" : "";
    return fmt::format("{}{}", negated ? "^" : "", fmt::join(names, ","));
}

transport_list intersection(const transport_list& one, const transport_list& other) {
    transport_list both = one.negated ? other : one;
    const transport_list& rest = one.negated ? one : other;
    if (both.negated) {
        for (const std::string& name : rest.names)
            add(both.names, name);
        return both;
    }
    std::erase_if(both.names,
                  [&](const std::string& name) { return holds(rest.names, name) == rest.negated; });
    return both;
}

restriction restriction_of(const options& opts) {
    restriction made{{}, {{}, true}};
    switch (opts.kinds) {
        case device_kind::shm:
            restrict(made, "-D shm", "sm");
            break;
        case device_kind::net:
            restrict(made, "-D net", "^self,sm");
            break;
        case device_kind::self:
            restrict(made, "-D self", "self");
            break;
        case device_kind::all:
            break;
    }
    if (opts.peer == placement::inter) restrict(made, "-P inter", "^self,sm");
    if (opts.peer == placement::intra) restrict(made, "-P intra", "^self");
    return made;
}

}  // namespace tools::info
