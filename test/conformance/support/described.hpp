// What objects show of themselves in the object tree.
#pragma once

#include <string>
#include <string_view>

#include "ucs/vfs/directory.hpp"

namespace conformance {

// What a folder of that name says of itself.
inline ucs::vfs::directory folder_of(const ucs::vfs::directory& in, std::string_view name) {
    ucs::vfs::directory found;
    for (const ucs::vfs::directory::entry& each : in.entries()) {
        if (each.name == name && each.fill) each.fill(found);
    }
    return found;
}

// The text of a file in `of`, by its path, without the end of its line; empty: there is none.
template<class Object>
[[nodiscard]] std::string shown(const Object& of, std::string_view path) {
    ucs::vfs::directory at;
    of.describe(at);
    for (std::size_t end = path.find('/'); end != path.npos; end = path.find('/')) {
        at = folder_of(at, path.substr(0, end));
        path.remove_prefix(end + 1);
    }
    for (const ucs::vfs::directory::entry& each : at.entries()) {
        if (each.name != path || !each.read) continue;
        std::string text = each.read();
        if (text.ends_with('\n')) text.pop_back();
        return text;
    }
    return {};
}

}  // namespace conformance
