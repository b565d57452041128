// Reads the files that an object has in the object tree (ucs/vfs).
#pragma once

#include <string>
#include <string_view>

#include "ucs/vfs/directory.hpp"

namespace test {

// Returns the content of the folder `name` in `in`; empty if there is none.
inline ucs::vfs::directory folder_of(const ucs::vfs::directory& in, std::string_view name) {
    ucs::vfs::directory found;
    for (const ucs::vfs::directory::entry& each : in.entries()) {
        if (each.name == name && each.fill) each.fill(found);
    }
    return found;
}

// Returns the text of the file at `path` in the object's folder, without its final newline. Returns
// an empty string if there is no such file.
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

}  // namespace test
