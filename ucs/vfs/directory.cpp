#include "ucs/vfs/directory.hpp"

#include <utility>

namespace ucs::vfs {

void directory::file(std::string name, reader read, writer write) {
    entry& made = entries_.emplace_back();
    made.type = entry::kind::file;
    made.name = std::move(name);
    made.read = std::move(read);
    made.write = std::move(write);
}

void directory::folder(std::string name, const object& child) {
    folder(std::move(name), [&child](directory& into) { child.describe(into); });
}

void directory::folder(std::string name, filler fill) {
    entry& made = entries_.emplace_back();
    made.name = std::move(name);
    made.fill = std::move(fill);
}

void directory::folder(std::string name, filler fill, finder find) {
    folder(std::move(name), std::move(fill));
    entries_.back().find = std::move(find);
}

void directory::folder(std::string name, filler fill, std::shared_ptr<mailbox> owner) {
    folder(std::move(name), std::move(fill));
    entries_.back().owner = std::move(owner);
}

void directory::link(std::string name, std::string target) {
    entry& made = entries_.emplace_back();
    made.type = entry::kind::link;
    made.name = std::move(name);
    made.target = std::move(target);
}

std::string file_name(std::string_view text) {
    std::string name(text);
    for (char& each : name) {
        if (each == '/' || static_cast<unsigned char>(each) < ' ') each = '_';
    }
    if (name.empty() || name == "." || name == "..") name += '_';
    return name;
}

}  // namespace ucs::vfs
