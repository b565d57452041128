// The roots of the object tree and the walk along a path.
#include <algorithm>
#include <mutex>
#include <optional>

#include "ucs/config/text.hpp"
#include "ucs/vfs/directory.hpp"

namespace ucs::vfs {
namespace {

struct root {
    std::string path;
    const object* target;
};

// Recursive: a value that is being read may belong to an object that looks at the tree.
struct tree {
    std::recursive_mutex lock;
    std::vector<root> roots;
};

tree& the_tree() {
    static tree& instance = *new tree;  // objects may leave after static destructors began
    return instance;
}

using steps = std::vector<std::string>;
using entry = directory::entry;

constexpr int max_links = 16;  // a link may lead to a link; more is a circle

steps split_path(std::string_view path) {
    steps parts = config::split(path, '/');
    std::erase(parts, "");
    return parts;
}

bool has_name(const directory& folder, const std::string& name) {
    return std::any_of(folder.entries().begin(), folder.entries().end(),
                       [&](const entry& e) { return e.name == name; });
}

// The folders above the roots exist only as parts of the roots' paths.
void fill_above_roots(directory& into, const steps& position) {
    const std::size_t depth = position.size();
    for (const bool exact : {true, false}) {  // a root itself goes before a folder on a path
        for (const root& each : the_tree().roots) {
            const steps path = split_path(each.path);
            const bool here =
                path.size() > depth && std::equal(position.begin(), position.end(), path.begin());
            if (!here || exact != (path.size() == depth + 1) || has_name(into, path[depth])) {
                continue;
            }
            if (exact) {
                into.folder(path[depth], *each.target);
                continue;
            }
            steps below(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(depth) + 1);
            into.folder(path[depth], [below](directory& d) { fill_above_roots(d, below); });
        }
    }
}

// A folder that is a root may also have roots below it: "ucp/context" and "ucp/context/worker".
void fill_folder(directory& into, const entry* folder, const steps& position) {
    if (folder != nullptr) folder->fill(into);
    fill_above_roots(into, position);
}

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

// The entry at the end of a path; nothing when there is none. The empty path is the top folder.
std::optional<entry> walk(steps path) {
    int links = 0;
    const entry top{
        entry::kind::folder, "", {}, {}, [](directory& d) { fill_above_roots(d, {}); }, {}};
    entry current = top;
    steps position;
    for (std::size_t i = 0; i < path.size();) {
        if (current.type != entry::kind::folder) return std::nullopt;
        directory folder;
        fill_folder(folder, &current, position);
        const auto& entries = folder.entries();
        const auto found = std::find_if(entries.begin(), entries.end(),
                                        [&](const entry& e) { return e.name == path[i]; });
        if (found == entries.end()) return std::nullopt;
        if (found->type == entry::kind::link) {
            if (++links > max_links) return std::nullopt;
            steps rest = link_target(position, found->target);
            rest.insert(rest.end(), path.begin() + static_cast<std::ptrdiff_t>(i) + 1, path.end());
            path = std::move(rest);
            i = 0;
            position.clear();
            current = top;
            continue;
        }
        current = *found;
        position.push_back(path[i++]);
    }
    return current;
}

}  // namespace

void add_root(std::string path, const object& root_object) {
    tree& here = the_tree();
    const std::lock_guard guard(here.lock);
    here.roots.push_back({std::move(path), &root_object});
}

void remove_root(const object& root_object) {
    tree& here = the_tree();
    const std::lock_guard guard(here.lock);
    std::erase_if(here.roots, [&](const root& each) { return each.target == &root_object; });
}

result<std::vector<std::string>> list(std::string_view path) {
    const std::lock_guard guard(the_tree().lock);
    const steps position = split_path(path);
    const auto found = walk(position);
    if (!found) return UCS_ERR_NO_ELEM;
    if (found->type != entry::kind::folder) return UCS_ERR_INVALID_PARAM;
    directory folder;
    fill_folder(folder, &*found, position);
    std::vector<std::string> names;
    for (const entry& each : folder.entries()) {
        names.push_back(each.type == entry::kind::folder ? each.name + "/" : each.name);
    }
    return names;
}

result<std::string> read(std::string_view path) {
    const std::lock_guard guard(the_tree().lock);
    const auto found = walk(split_path(path));
    if (!found) return UCS_ERR_NO_ELEM;
    if (found->type != entry::kind::file) return UCS_ERR_INVALID_PARAM;
    if (!found->read) return UCS_ERR_UNSUPPORTED;
    return found->read();
}

ucs_status_t write(std::string_view path, std::string_view text) {
    const std::lock_guard guard(the_tree().lock);
    const auto found = walk(split_path(path));
    if (!found) return UCS_ERR_NO_ELEM;
    if (found->type != entry::kind::file) return UCS_ERR_INVALID_PARAM;
    if (!found->write) return UCS_ERR_UNSUPPORTED;
    return found->write(text);
}

}  // namespace ucs::vfs
