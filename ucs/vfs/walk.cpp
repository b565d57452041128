#include "ucs/vfs/walk.hpp"

#include <algorithm>

#include "ucs/config/text.hpp"

namespace ucs::vfs {
namespace {

using entry = directory::entry;

constexpr int max_links = 16;  // a link may lead to a link; more is a circle

steps link_target(const steps& position, const std::string& target) {
    steps result = target.starts_with('/') ? steps{} : position;
    for (std::string& part : split_path(target)) {
        if (part == ".") continue;
        if (part == "..") {
            if (!result.empty()) result.pop_back();
        } else {
            result.push_back(std::move(part));
        }
    }
    return result;
}

steps behind(const steps& path, std::size_t first) {
    return {path.begin() + static_cast<std::ptrdiff_t>(first), path.end()};
}

item item_of(const entry& from) {
    return {from.name, from.type, static_cast<bool>(from.write), from.target};
}

}  // namespace

steps split_path(std::string_view path) {
    steps parts = config::split(path, '/');
    std::erase(parts, "");
    return parts;
}

walker::walker(directory::filler top, adder more) : more_(std::move(more)) {
    top_.fill = std::move(top);
}

// A folder that is a root may also have roots below it: "ucp/context" and "ucp/context/worker".
void walker::fill(directory& into, const entry& folder, const steps& position) const {
    if (folder.fill) folder.fill(into);
    if (more_) more_(into, position);
}

std::optional<place> walker::to(steps path, bool follow_last) const {
    int links = 0;
    place here{top_, {}, {}};
    for (std::size_t i = 0; i < path.size();) {
        if (here.at.type != entry::kind::folder) return std::nullopt;
        directory folder;
        if (here.at.find) {
            here.at.find(path[i], folder);
        } else {
            fill(folder, here.at, here.position);
        }
        const auto& entries = folder.entries();
        const auto found = std::find_if(entries.begin(), entries.end(),
                                        [&](const entry& e) { return e.name == path[i]; });
        if (found == entries.end()) {
            if (here.at.owner == nullptr) return std::nullopt;
            here.rest = behind(path, i);
            return here;
        }
        if (found->type == entry::kind::link && (follow_last || i + 1 < path.size())) {
            if (++links > max_links) return std::nullopt;
            steps rest = link_target(here.position, found->target);
            const steps beyond = behind(path, i + 1);
            rest.insert(rest.end(), beyond.begin(), beyond.end());
            path = std::move(rest);
            i = 0;
            here = {top_, {}, {}};
            continue;
        }
        here.at = entry(*found);
        here.position.push_back(path[i++]);
    }
    if (here.at.owner != nullptr) here.rest = steps{};
    return here;
}

answer walker::respond(const place& where, const question& asked) const {
    const entry& at = where.at;
    answer result;
    if (asked.what == verb::look) {
        result.items.push_back(item_of(at));
        return result;
    }
    if ((at.type == entry::kind::folder) != (asked.what == verb::list)) {
        return {UCS_ERR_INVALID_PARAM, {}, {}};
    }
    if (asked.what == verb::list) {
        directory folder;
        fill(folder, at, where.position);
        for (const entry& each : folder.entries())
            result.items.push_back(item_of(each));
        return result;
    }
    if (asked.what == verb::read) {
        if (!at.read) return {UCS_ERR_UNSUPPORTED, {}, {}};
        result.text = at.read();
        return result;
    }
    if (!at.write) return {UCS_ERR_UNSUPPORTED, {}, {}};
    result.status = at.write(asked.text);
    return result;
}

answer answer_below(const object& top, const question& asked) {
    const walker from([&top](directory& into) { top.describe(into); });
    const auto found = from.to(split_path(asked.path), asked.what != verb::look);
    if (!found || found->rest) return {UCS_ERR_NO_ELEM, {}, {}};
    return from.respond(*found, asked);
}

}  // namespace ucs::vfs
