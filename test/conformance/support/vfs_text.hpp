// Reads what objects show in the object tree.
#pragma once

#include <string>
#include <string_view>

#include "ucs/vfs/directory.hpp"

namespace conformance {

// Returns the content of the folder of that name.
inline ucs::vfs::directory folder_of(const ucs::vfs::directory& in, std::string_view name) {
    ucs::vfs::directory found;
    for (const ucs::vfs::directory::entry& each : in.entries()) {
        if (each.name == name && each.fill) each.fill(found);
    }
    return found;
}

// Returns the text of a file in `object`, by its path, without the end of its line; empty if there
// is none.
template<class Object>
[[nodiscard]] std::string vfs_text(const Object& object, std::string_view path) {
    ucs::vfs::directory folder;
    object.describe(folder);
    for (std::size_t end = path.find('/'); end != path.npos; end = path.find('/')) {
        folder = folder_of(folder, path.substr(0, end));
        path.remove_prefix(end + 1);
    }
    for (const ucs::vfs::directory::entry& each : folder.entries()) {
        if (each.name != path || !each.read) continue;
        std::string text = each.read();
        if (text.ends_with('\n')) text.pop_back();
        return text;
    }
    return {};
}

}  // namespace conformance
