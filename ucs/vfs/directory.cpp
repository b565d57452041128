#include "ucs/vfs/directory.hpp"

#include <utility>

namespace ucs::vfs {

void directory::file(std::string name, reader read, writer write) {
    entries_.push_back(
        {entry::kind::file, std::move(name), std::move(read), std::move(write), {}, {}});
}

void directory::folder(std::string name, const object& child) {
    folder(std::move(name), [&child](directory& into) { child.describe(into); });
}

void directory::folder(std::string name, std::function<void(directory&)> fill) {
    entries_.push_back({entry::kind::folder, std::move(name), {}, {}, std::move(fill), {}});
}

void directory::link(std::string name, std::string target) {
    entries_.push_back({entry::kind::link, std::move(name), {}, {}, {}, std::move(target)});
}

}  // namespace ucs::vfs
