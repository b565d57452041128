#include "ucs/sys/module.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace ucs::sys {
namespace {

std::string own_folder() {
    Dl_info self{};
    if (::dladdr(reinterpret_cast<void*>(&own_folder), &self) == 0 || self.dli_fname == nullptr) {
        return {};
    }
    const std::string path = self.dli_fname;
    const std::size_t end = path.rfind('/');
    return end == std::string::npos ? "." : path.substr(0, end);
}

}  // namespace

const module_head* load_module(std::string_view name, std::string_view folder,
                               const module_head& expected, std::string& why_not) {
    const std::string path =
        fmt::format("{}/{}.so", folder.empty() ? own_folder() + "/hawser" : folder, name);
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) {
        const char* text = ::dlerror();
        why_not = fmt::format("the module {} cannot be loaded: {}", path,
                              text == nullptr ? "no reason given" : text);
        return nullptr;
    }
    const auto entry = reinterpret_cast<module_entry>(::dlsym(library, module_symbol));
    if (entry == nullptr) {
        why_not = fmt::format("{} is no module of this library", path);
        return nullptr;
    }
    const module_head* found = entry();
    if (found == nullptr || found->size != expected.size || found->version != expected.version) {
        why_not = fmt::format("{} belongs to another build of the library", path);
        return nullptr;
    }
    return found;
}

}  // namespace ucs::sys
