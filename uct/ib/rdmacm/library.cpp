#include "uct/ib/rdmacm/library.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include "uct/ib/base/device/verbs_library.hpp"

namespace uct::rdmacm {

namespace {

struct outcome {
    library functions;
    std::string problem;
    pid_t process = ::getpid();
};

outcome load_all() {
    outcome made;
    if (!ib::load_verbs(made.problem)) return made;
    constexpr const char* file = "librdmacm.so.1";
    void* const opened = ::dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (opened == nullptr) {
        const char* text = ::dlerror();
        made.problem = text == nullptr ? "librdmacm.so.1 cannot be loaded" : text;
        return made;
    }
    const auto find = [&](const char* name, void* place) {
        void* const found = ::dlsym(opened, name);
        if (found == nullptr) made.problem = std::string(file) + " is too old: it has no " + name;
        *static_cast<void**>(place) = found;
    };
#define UCT_RDMACM_FIND(name) find("rdma_" #name, &made.functions.name);
    UCT_RDMACM_FUNCTIONS(UCT_RDMACM_FIND)
#undef UCT_RDMACM_FIND
    return made;
}

}  // namespace

const library* load(std::string& reason) {
    static const outcome made = load_all();
    reason = made.problem;
    // The library keeps devices open that a forked child cannot use.
    if (reason.empty() && made.process != ::getpid())
        reason = "it was used before this process was forked";
    return reason.empty() ? &made.functions : nullptr;
}

}  // namespace uct::rdmacm
