// librdmacm, loaded with the first connection by socket address on a machine with RDMA devices.
#pragma once

#include <rdma/rdma_cma.h>

#include <string>

namespace uct::rdmacm {

// The functions of the library that are called here, one X each.
#define UCT_RDMACM_FUNCTIONS(X) \
    X(create_event_channel)     \
    X(destroy_event_channel)    \
    X(create_id)                \
    X(destroy_id)               \
    X(migrate_id)               \
    X(bind_addr)                \
    X(listen)                   \
    X(resolve_addr)             \
    X(resolve_route)            \
    X(create_qp)                \
    X(destroy_qp)               \
    X(connect)                  \
    X(accept)                   \
    X(reject)                   \
    X(disconnect)               \
    X(get_cm_event)             \
    X(ack_cm_event)

struct library {
#define UCT_RDMACM_MEMBER(name) decltype(&::rdma_##name) name = nullptr;
    UCT_RDMACM_FUNCTIONS(UCT_RDMACM_MEMBER)
#undef UCT_RDMACM_MEMBER
};

// Loads the library. Returns nullptr if it cannot be used; then `reason` explains why. Children
// of a process that has used it cannot use it. It stays loaded. Any thread; the first call takes
// some milliseconds.
[[nodiscard]] const library* load(std::string& reason);

}  // namespace uct::rdmacm
