#include "uct/ib/base/device/verbs_library.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <cstring>

#include "uct/base/log.hpp"

// The functions of the library that are called here, one X each.
#define UCT_IB_VERBS_FUNCTIONS(X) \
    X(ibv_get_device_list)        \
    X(ibv_free_device_list)       \
    X(ibv_get_device_name)        \
    X(ibv_open_device)            \
    X(ibv_close_device)           \
    X(ibv_get_async_event)        \
    X(ibv_ack_async_event)        \
    X(ibv_query_device)           \
    X(ibv_query_port)             \
    X(ibv_query_pkey)             \
    X(_ibv_query_gid_table)       \
    X(ibv_alloc_pd)               \
    X(ibv_dealloc_pd)             \
    X(ibv_reg_mr)                 \
    X(ibv_reg_mr_iova2)           \
    X(ibv_dereg_mr)               \
    X(ibv_create_comp_channel)    \
    X(ibv_destroy_comp_channel)   \
    X(ibv_create_cq)              \
    X(ibv_destroy_cq)             \
    X(ibv_get_cq_event)           \
    X(ibv_ack_cq_events)          \
    X(ibv_create_srq)             \
    X(ibv_modify_srq)             \
    X(ibv_destroy_srq)            \
    X(ibv_create_qp)              \
    X(ibv_modify_qp)              \
    X(ibv_destroy_qp)             \
    X(ibv_create_ah)              \
    X(ibv_destroy_ah)             \
    X(ibv_query_ece)              \
    X(ibv_set_ece)                \
    X(ibv_wc_status_str)          \
    X(ibv_event_type_str)         \
    X(ibv_port_state_str)         \
    X(ibv_fork_init)

// Functions that older versions of the library lack, with a fallback result.
#define UCT_IB_NEWER_VERBS_FUNCTIONS(X) X(ibv_reg_dmabuf_mr)

namespace uct::ib {

namespace {

struct functions {
#define UCT_IB_MEMBER(name) decltype(&::name) name;
    UCT_IB_VERBS_FUNCTIONS(UCT_IB_MEMBER)
    UCT_IB_NEWER_VERBS_FUNCTIONS(UCT_IB_MEMBER)
#undef UCT_IB_MEMBER
};

// Written once, by load_verbs, which runs before any of the functions is called.
functions real;

struct name_and_place {
    const char* name;
    void* place;
};

#define UCT_IB_PLACE(name) {#name, &real.name},
const name_and_place places[] = {UCT_IB_VERBS_FUNCTIONS(UCT_IB_PLACE)};
const name_and_place newer_places[] = {UCT_IB_NEWER_VERBS_FUNCTIONS(UCT_IB_PLACE)};
#undef UCT_IB_PLACE

// In kernels before 5.12, after a fork, the first process that writes to a page gets a copy, even
// of a pinned page. So the parent may get the copy while the device still has the page. The library
// keeps registered memory away from children on these kernels.
void prepare_for_fork(void* library) noexcept {
    // Not present in every version of the library.
    const auto status = reinterpret_cast<decltype(&::ibv_is_fork_initialized)>(
        ::dlsym(library, "ibv_is_fork_initialized"));
    if (status != nullptr && status() == IBV_FORK_UNNEEDED) return;
    if (const int error = (real.ibv_fork_init)(); error != 0) {
        ucs::log::debug(ib_log, "registered memory is not kept away from children: {}",
                        std::strerror(error));
    }
}

std::string load() {
    constexpr const char* file = "libibverbs.so.1";
    void* const library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) {
        const char* text = ::dlerror();
        return text == nullptr ? "libibverbs.so.1 cannot be loaded" : text;
    }
    for (const name_and_place& each : places) {
        void* const found = ::dlsym(library, each.name);
        if (found == nullptr) return std::string(file) + " is too old: it has no " + each.name;
        *static_cast<void**>(each.place) = found;
    }
    for (const name_and_place& each : newer_places)
        *static_cast<void**>(each.place) = ::dlsym(library, each.name);
    prepare_for_fork(library);
    return {};
}

}  // namespace

bool load_verbs(std::string& reason) {
    static const std::string problem = load();
    reason = problem;
    return problem.empty();
}

}  // namespace uct::ib

// The parentheses around the names prevent the expansion of macros of the header.
extern "C" {

ibv_device**(ibv_get_device_list)(int* count) {
    return (uct::ib::real.ibv_get_device_list)(count);
}
void(ibv_free_device_list)(ibv_device** list) {
    return (uct::ib::real.ibv_free_device_list)(list);
}
const char*(ibv_get_device_name)(ibv_device* device) {
    return (uct::ib::real.ibv_get_device_name)(device);
}
ibv_context*(ibv_open_device)(ibv_device* device) {
    return (uct::ib::real.ibv_open_device)(device);
}
int(ibv_close_device)(ibv_context* device) {
    return (uct::ib::real.ibv_close_device)(device);
}
int(ibv_get_async_event)(ibv_context* device, ibv_async_event* event) {
    return (uct::ib::real.ibv_get_async_event)(device, event);
}
void(ibv_ack_async_event)(ibv_async_event* event) {
    return (uct::ib::real.ibv_ack_async_event)(event);
}
int(ibv_query_device)(ibv_context* device, ibv_device_attr* into) {
    return (uct::ib::real.ibv_query_device)(device, into);
}
int(ibv_query_port)(ibv_context* device, std::uint8_t port, _compat_ibv_port_attr* into) {
    return (uct::ib::real.ibv_query_port)(device, port, into);
}
int(ibv_query_pkey)(ibv_context* device, std::uint8_t port, int index, __be16* pkey) {
    return (uct::ib::real.ibv_query_pkey)(device, port, index, pkey);
}
ssize_t(_ibv_query_gid_table)(ibv_context* device, ibv_gid_entry* entries, std::size_t room,
                              std::uint32_t flags, std::size_t entry_size) {
    return (uct::ib::real._ibv_query_gid_table)(device, entries, room, flags, entry_size);
}
ibv_pd*(ibv_alloc_pd)(ibv_context* device) {
    return (uct::ib::real.ibv_alloc_pd)(device);
}
int(ibv_dealloc_pd)(ibv_pd* domain) {
    return (uct::ib::real.ibv_dealloc_pd)(domain);
}
ibv_mr*(ibv_reg_mr)(ibv_pd* domain, void* address, std::size_t length, int access) {
    return (uct::ib::real.ibv_reg_mr)(domain, address, length, access);
}
ibv_mr*(ibv_reg_mr_iova2)(ibv_pd* domain, void* address, std::size_t length, std::uint64_t iova,
                          unsigned access) {
    return (uct::ib::real.ibv_reg_mr_iova2)(domain, address, length, iova, access);
}
ibv_mr*(ibv_reg_dmabuf_mr)(ibv_pd* domain, std::uint64_t offset, std::size_t length,
                           std::uint64_t iova, int fd, int access) {
    if (uct::ib::real.ibv_reg_dmabuf_mr == nullptr) {
        errno = EOPNOTSUPP;
        return nullptr;
    }
    return (uct::ib::real.ibv_reg_dmabuf_mr)(domain, offset, length, iova, fd, access);
}
int(ibv_dereg_mr)(ibv_mr* region) {
    return (uct::ib::real.ibv_dereg_mr)(region);
}
ibv_comp_channel*(ibv_create_comp_channel)(ibv_context* device) {
    return (uct::ib::real.ibv_create_comp_channel)(device);
}
int(ibv_destroy_comp_channel)(ibv_comp_channel* channel) {
    return (uct::ib::real.ibv_destroy_comp_channel)(channel);
}
ibv_cq*(ibv_create_cq)(ibv_context* device, int size, void* context, ibv_comp_channel* channel,
                       int vector) {
    return (uct::ib::real.ibv_create_cq)(device, size, context, channel, vector);
}
int(ibv_destroy_cq)(ibv_cq* queue) {
    return (uct::ib::real.ibv_destroy_cq)(queue);
}
int(ibv_get_cq_event)(ibv_comp_channel* channel, ibv_cq** queue, void** context) {
    return (uct::ib::real.ibv_get_cq_event)(channel, queue, context);
}
void(ibv_ack_cq_events)(ibv_cq* queue, unsigned count) {
    return (uct::ib::real.ibv_ack_cq_events)(queue, count);
}
ibv_srq*(ibv_create_srq)(ibv_pd* domain, ibv_srq_init_attr* wanted) {
    return (uct::ib::real.ibv_create_srq)(domain, wanted);
}
int(ibv_modify_srq)(ibv_srq* queue, ibv_srq_attr* attributes, int which) {
    return (uct::ib::real.ibv_modify_srq)(queue, attributes, which);
}
int(ibv_destroy_srq)(ibv_srq* queue) {
    return (uct::ib::real.ibv_destroy_srq)(queue);
}
ibv_qp*(ibv_create_qp)(ibv_pd* domain, ibv_qp_init_attr* wanted) {
    return (uct::ib::real.ibv_create_qp)(domain, wanted);
}
int(ibv_modify_qp)(ibv_qp* pair, ibv_qp_attr* attributes, int which) {
    return (uct::ib::real.ibv_modify_qp)(pair, attributes, which);
}
int(ibv_destroy_qp)(ibv_qp* pair) {
    return (uct::ib::real.ibv_destroy_qp)(pair);
}
ibv_ah*(ibv_create_ah)(ibv_pd* domain, ibv_ah_attr* attributes) {
    return (uct::ib::real.ibv_create_ah)(domain, attributes);
}
int(ibv_destroy_ah)(ibv_ah* handle) {
    return (uct::ib::real.ibv_destroy_ah)(handle);
}
int(ibv_query_ece)(ibv_qp* pair, ibv_ece* options) {
    return (uct::ib::real.ibv_query_ece)(pair, options);
}
int(ibv_set_ece)(ibv_qp* pair, ibv_ece* options) {
    return (uct::ib::real.ibv_set_ece)(pair, options);
}
const char*(ibv_wc_status_str)(ibv_wc_status status) {
    return (uct::ib::real.ibv_wc_status_str)(status);
}
const char*(ibv_event_type_str)(ibv_event_type event) {
    return (uct::ib::real.ibv_event_type_str)(event);
}
const char*(ibv_port_state_str)(ibv_port_state port_state) {
    return (uct::ib::real.ibv_port_state_str)(port_state);
}
int(ibv_fork_init)() {
    return (uct::ib::real.ibv_fork_init)();
}

}  // extern "C"
