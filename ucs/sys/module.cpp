#include "ucs/sys/module.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <optional>

#include "ucs/sys/trusted_file.hpp"

namespace ucs::sys {
namespace {

std::string own_path() {
    Dl_info self{};
    if (::dladdr(reinterpret_cast<void*>(&own_path), &self) == 0 || self.dli_fname == nullptr) {
        return {};
    }
    return self.dli_fname;
}

std::string own_folder() {
    const std::string path = own_path();
    const std::size_t end = path.rfind('/');
    return end == std::string::npos ? "." : path.substr(0, end);
}

// Returns the owner of the library file. The process trusts this user already.
std::optional<uid_t> installer() {
    struct stat about {};
    if (::stat(own_path().c_str(), &about) != 0) return std::nullopt;
    return about.st_uid;
}

// Returns an empty text if only trusted users could have written the module, which runs as this
// user; otherwise the reason.
std::string why_not_trusted(const std::string& path) {
    return open_for_reading(path, file_trust::own, installer()).reason;
}

}  // namespace

const module_head* load_module(std::string_view name, std::string_view folder,
                               const module_head& expected, std::string& reason) {
    const std::string path =
        fmt::format("{}/{}.so", folder.empty() ? own_folder() + "/hawser" : folder, name);
    if (const std::string why = why_not_trusted(path); !why.empty()) {
        reason = fmt::format("the module {} cannot be loaded: {}", path, why);
        return nullptr;
    }
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) {
        const char* text = ::dlerror();
        reason = fmt::format("the module {} cannot be loaded: {}", path,
                             text == nullptr ? "no reason given" : text);
        return nullptr;
    }
    const auto entry = reinterpret_cast<module_entry>(::dlsym(library, module_symbol));
    if (entry == nullptr) {
        reason = fmt::format("{} is not a module of this library", path);
        return nullptr;
    }
    const module_head* found = entry();
    if (found == nullptr || found->size != expected.size || found->version != expected.version) {
        reason = fmt::format("{} belongs to another build of the library", path);
        return nullptr;
    }
    return found;
}

}  // namespace ucs::sys
