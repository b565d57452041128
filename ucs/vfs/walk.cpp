#include "ucs/vfs/walk.hpp"

#include <algorithm>

#include "ucs/config/text.hpp"

namespace ucs::vfs {
namespace {

using entry = directory::entry;

constexpr int max_links = 16;  // a link may lead to a link; a longer chain is a cycle

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

steps path_after(const steps& path, std::size_t first) {
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

walker::walker(directory::filler top, adder add_more) : more_(std::move(add_more)) {
    top_.fill = std::move(top);
}

// Fills a folder. A root may also have roots below it: "ucp/context" and "ucp/context/worker".
void walker::fill(directory& into, const entry& folder, const steps& position) const {
    if (folder.fill) folder.fill(into);
    if (more_) more_(into, position);
}

std::optional<walk_result> walker::to(steps path, bool follow_last) const {
    int links = 0;
    walk_result current{top_, {}, {}};
    for (std::size_t i = 0; i < path.size();) {
        if (current.target.type != entry::kind::folder) return std::nullopt;
        directory folder;
        if (current.target.find) {
            current.target.find(path[i], folder);
        } else {
            fill(folder, current.target, current.position);
        }
        const auto& entries = folder.entries();
        const auto found = std::find_if(entries.begin(), entries.end(),
                                        [&](const entry& e) { return e.name == path[i]; });
        if (found == entries.end()) {
            if (current.target.owner == nullptr) return std::nullopt;
            current.rest = path_after(path, i);
            return current;
        }
        if (found->type == entry::kind::link && (follow_last || i + 1 < path.size())) {
            if (++links > max_links) return std::nullopt;
            steps rest = link_target(current.position, found->target);
            const steps beyond = path_after(path, i + 1);
            rest.insert(rest.end(), beyond.begin(), beyond.end());
            path = std::move(rest);
            i = 0;
            current = {top_, {}, {}};
            continue;
        }
        current.target = entry(*found);
        current.position.push_back(path[i++]);
    }
    if (current.target.owner != nullptr) current.rest = steps{};
    return current;
}

answer walker::respond(const walk_result& where, const query& request) const {
    const entry& target = where.target;
    answer result;
    if (request.operation == verb::stat) {
        result.items.push_back(item_of(target));
        return result;
    }
    if ((target.type == entry::kind::folder) != (request.operation == verb::list)) {
        return {UCS_ERR_INVALID_PARAM, {}, {}};
    }
    if (request.operation == verb::list) {
        directory folder;
        fill(folder, target, where.position);
        for (const entry& each : folder.entries())
            result.items.push_back(item_of(each));
        return result;
    }
    if (request.operation == verb::read) {
        if (!target.read) return {UCS_ERR_UNSUPPORTED, {}, {}};
        result.text = target.read();
        return result;
    }
    if (!target.write) return {UCS_ERR_UNSUPPORTED, {}, {}};
    result.status = target.write(request.text);
    return result;
}

answer answer_below(const object& top, const query& request) {
    const walker from([&top](directory& into) { top.describe(into); });
    const auto found = from.to(split_path(request.path), request.operation != verb::stat);
    if (!found || found->rest) return {UCS_ERR_NO_ELEM, {}, {}};
    return from.respond(*found, request);
}

}  // namespace ucs::vfs
