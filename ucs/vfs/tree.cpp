#include "ucs/vfs/tree.hpp"

#include <algorithm>
#include <mutex>

#include "ucs/vfs/mailbox.hpp"
#include "ucs/vfs/walk.hpp"

namespace ucs::vfs {
namespace {

struct root {
    steps path;
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

bool has_name(const directory& folder, const std::string& name) {
    return std::any_of(folder.entries().begin(), folder.entries().end(),
                       [&](const directory::entry& e) { return e.name == name; });
}

// The folders above the roots exist only as parts of the roots' paths.
void fill_above_roots(directory& into, const steps& position) {
    const std::size_t depth = position.size();
    for (const bool exact : {true, false}) {  // a root itself goes before a folder on a path
        for (const root& each : the_tree().roots) {
            const steps& path = each.path;
            const bool here =
                path.size() > depth && std::equal(position.begin(), position.end(), path.begin());
            if (!here || exact != (path.size() == depth + 1) || has_name(into, path[depth])) {
                continue;
            }
            if (exact) {
                into.folder(path[depth], *each.target);
            } else {
                into.folder(path[depth], directory::filler());  // the walker adds what is below
            }
        }
    }
}

std::string joined(const steps& path) {
    std::string text;
    for (const std::string& step : path)
        text += (text.empty() ? "" : "/") + step;
    return text;
}

}  // namespace

std::string add_root(std::string path, const object& root_object) {
    tree& here = the_tree();
    const std::lock_guard guard(here.lock);
    const auto taken = [&](const steps& wanted) {
        return std::any_of(here.roots.begin(), here.roots.end(),
                           [&](const root& each) { return each.path == wanted; });
    };
    steps wanted = split_path(path);
    for (unsigned number = 2; taken(wanted); ++number)
        wanted = split_path(path + "~" + std::to_string(number));
    here.roots.push_back({wanted, &root_object});
    return joined(wanted);
}

void remove_root(const object& root_object) {
    tree& here = the_tree();
    const std::lock_guard guard(here.lock);
    std::erase_if(here.roots, [&](const root& each) { return each.target == &root_object; });
}

answer ask(const question& asked) {
    answer mine;
    std::optional<place> found;
    {
        const std::lock_guard guard(the_tree().lock);
        const walker from({}, fill_above_roots);
        found = from.to(split_path(asked.path), asked.what != verb::look);
        if (!found) return {UCS_ERR_NO_ELEM, {}, {}};
        if (!found->rest || found->rest->empty()) mine = from.respond(*found, asked);
    }
    if (!found->rest || (found->rest->empty() && asked.what != verb::list)) return mine;
    // Without the lock: the owner may take its time, and may add or remove roots meanwhile.
    answer theirs = found->at.owner->ask({asked.what, joined(*found->rest), asked.text});
    if (!found->rest->empty()) return theirs;
    for (item& each : theirs.items)
        mine.items.push_back(std::move(each));
    return mine;
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

}  // namespace ucs::vfs
