#include "ucg/oob/pmix_library.hpp"

#include <dlfcn.h>

namespace ucg::oob {
namespace {

template<class Function>
bool find(void* library, const char* name, Function& into) noexcept {
    into = reinterpret_cast<Function>(::dlsym(library, name));
    return into != nullptr;
}

struct loaded {
    pmix_library functions{};
    bool good = false;
    std::string why_not;

    loaded() {
        void* const library = ::dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
        auto& f = functions;
        good = library != nullptr && find(library, "PMIx_Init", f.init) &&
               find(library, "PMIx_Finalize", f.finalize) && find(library, "PMIx_Put", f.put) &&
               find(library, "PMIx_Commit", f.commit) && find(library, "PMIx_Fence_nb", f.fence) &&
               find(library, "PMIx_Get", f.get_now) && find(library, "PMIx_Get_nb", f.get) &&
               find(library, "PMIx_Error_string", f.error_string) &&
               find(library, "PMIx_Get_version", f.version) &&
               find(library, "PMIx_Value_destruct", f.destruct_value);
        if (good) return;
        const char* const why = ::dlerror();
        why_not = why != nullptr ? why : "libpmix.so.2 lacks functions";
    }
};

}  // namespace

const pmix_library* pmix_library::load(std::string& why_not) {
    // For ever: what ends PMIx when the process ends uses it, too.
    static const loaded& once = *new loaded;
    if (once.good) return &once.functions;
    why_not = once.why_not;
    return nullptr;
}

}  // namespace ucg::oob
