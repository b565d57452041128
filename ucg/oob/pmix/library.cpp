#include "ucg/oob/pmix/library.hpp"

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
    bool is_good = false;
    std::string reason;

    loaded() {
        void* const library = ::dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
        auto& f = functions;
        is_good = library != nullptr && find(library, "PMIx_Init", f.init) &&
                  find(library, "PMIx_Finalize", f.finalize) && find(library, "PMIx_Put", f.put) &&
                  find(library, "PMIx_Commit", f.commit) &&
                  find(library, "PMIx_Fence_nb", f.fence) && find(library, "PMIx_Get", f.get_now) &&
                  find(library, "PMIx_Get_nb", f.get) &&
                  find(library, "PMIx_Error_string", f.error_string) &&
                  find(library, "PMIx_Get_version", f.version) &&
                  find(library, "PMIx_Value_destruct", f.destruct_value);
        if (is_good) return;
        const char* const error = ::dlerror();
        reason = error != nullptr ? error : "libpmix.so.2 lacks functions";
    }
};

}  // namespace

const pmix_library* pmix_library::load(std::string& reason) {
    // Never destroyed, because the finalisation at process exit still uses it.
    static const loaded& once = *new loaded;
    if (once.is_good) return &once.functions;
    reason = once.reason;
    return nullptr;
}

}  // namespace ucg::oob
