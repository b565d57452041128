#include "ucs/vfs/tree.hpp"

#include <algorithm>
#include <mutex>

#include "ucs/log/settings.hpp"
#include "ucs/vfs/mailbox.hpp"
#include "ucs/vfs/walk.hpp"

namespace ucs::vfs {
namespace {

struct root {
    steps path;
    const object* target;
};

// The mutex is recursive, because reading a value may make its object access the tree.
struct tree {
    std::recursive_mutex lock;
    std::vector<root> roots;
};

tree& the_tree() {
    static tree& instance =
        *new tree;  // never destroyed: objects may leave after static destructors have begun
    return instance;
}

bool has_name(const directory& folder, const std::string& name) {
    return std::any_of(folder.entries().begin(), folder.entries().end(),
                       [&](const directory::entry& e) { return e.name == name; });
}

// Adds the folders above the roots, which exist only as parts of the roots' paths.
void fill_above_roots(directory& into, const steps& position) {
    const std::size_t depth = position.size();
    for (const bool exact :
         {true, false}) {  // a root takes precedence over a folder on the path of another root
        for (const root& each : the_tree().roots) {
            const steps& path = each.path;
            const bool is_below_position =
                path.size() > depth && std::equal(position.begin(), position.end(), path.begin());
            if (!is_below_position || exact != (path.size() == depth + 1) ||
                has_name(into, path[depth])) {
                continue;
            }
            if (exact) {
                into.folder(path[depth], *each.target);
            } else {
                into.folder(path[depth], directory::filler());  // the walker adds its content
            }
        }
    }
}

std::string join(const steps& path) {
    std::string text;
    for (const std::string& step : path)
        text += (text.empty() ? "" : "/") + step;
    return text;
}

std::string_view without_line_end(std::string_view text) noexcept {
    while (text.ends_with('\n'))
        text.remove_suffix(1);
    return text;
}

struct global_options final : object {
    void describe(directory& into) const override {
        into.file("log_level", log::current_levels,
                  [](std::string_view text) { return log::set_level(without_line_end(text)); });
    }
};

}  // namespace

std::string add_root(std::string path, const object& root_object) {
    tree& all = the_tree();
    const std::lock_guard guard(all.lock);
    const auto is_taken = [&](const steps& candidate) {
        return std::any_of(all.roots.begin(), all.roots.end(),
                           [&](const root& each) { return each.path == candidate; });
    };
    steps candidate = split_path(path);
    for (unsigned number = 2; is_taken(candidate); ++number)
        candidate = split_path(path + "~" + std::to_string(number));
    all.roots.push_back({candidate, &root_object});
    return join(candidate);
}

void remove_root(const object& root_object) {
    tree& all = the_tree();
    const std::lock_guard guard(all.lock);
    std::erase_if(all.roots, [&](const root& each) { return each.target == &root_object; });
}

answer ask(const query& request) {
    answer own_part;
    std::optional<walk_result> found;
    {
        const std::lock_guard guard(the_tree().lock);
        const walker from({}, fill_above_roots);
        found = from.to(split_path(request.path), request.operation != verb::stat);
        if (!found) return {UCS_ERR_NO_ELEM, {}, {}};
        if (!found->rest || found->rest->empty()) own_part = from.respond(*found, request);
    }
    if (!found->rest || (found->rest->empty() && request.operation != verb::list)) return own_part;
    // Do not hold the lock: the owner may be slow, and may add or remove roots meanwhile.
    answer owner_part =
        found->target.owner->ask({request.operation, join(*found->rest), request.text});
    if (!found->rest->empty()) return owner_part;
    for (item& each : owner_part.items)
        own_part.items.push_back(std::move(each));
    return own_part;
}

result<std::vector<item>> list(std::string_view path) {
    answer got = ask({verb::list, std::string(path), {}});
    if (got.status != UCS_OK) return got.status;
    return std::move(got.items);
}

result<std::string> read(std::string_view path) {
    answer got = ask({verb::read, std::string(path), {}});
    if (got.status != UCS_OK) return got.status;
    return std::move(got.text);
}

ucs_status_t write(std::string_view path, std::string_view text) {
    return ask({verb::write, std::string(path), std::string(text)}).status;
}

void show_global_options() {
    static const global_options shown;
    static std::once_flag once;
    std::call_once(once, [] { add_root("ucs/global_opts", shown); });
}

}  // namespace ucs::vfs
