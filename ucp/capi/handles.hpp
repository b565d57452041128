// Casts between C handles and C++ objects; no other file does this.
#pragma once

#include "ucp/api/ucp.h"
#include "ucp/cm/listener.hpp"
#include "ucp/core/context.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/mem/rkey.hpp"

// The C handle of a configuration is this object itself.
struct ucp_config {
    ucs::config::source source;
};

namespace ucp::capi {

inline context& from(ucp_context_h handle) noexcept {
    return *reinterpret_cast<context*>(handle);
}
inline worker& from(ucp_worker_h handle) noexcept {
    return *reinterpret_cast<worker*>(handle);
}
inline ep& from(ucp_ep_h handle) noexcept {
    return *reinterpret_cast<ep*>(handle);
}
inline cm::listener& from(ucp_listener_h handle) noexcept {
    return *reinterpret_cast<cm::listener*>(handle);
}
inline cm::conn_request& from(ucp_conn_request_h handle) noexcept {
    return *reinterpret_cast<cm::conn_request*>(handle);
}
inline message& from(ucp_tag_message_h handle) noexcept {
    return *reinterpret_cast<message*>(handle);
}

inline mem::memory& from(ucp_mem_h handle) noexcept {
    return *reinterpret_cast<mem::memory*>(handle);
}
inline mem::rkey& from(ucp_rkey_h handle) noexcept {
    return *reinterpret_cast<mem::rkey*>(handle);
}

inline ucp_context_h handle(context& object) noexcept {
    return reinterpret_cast<ucp_context_h>(&object);
}
inline ucp_worker_h handle(worker& object) noexcept {
    return reinterpret_cast<ucp_worker_h>(&object);
}
inline ucp_ep_h handle(ep& object) noexcept {
    return reinterpret_cast<ucp_ep_h>(&object);
}
inline ucp_listener_h handle(cm::listener& object) noexcept {
    return reinterpret_cast<ucp_listener_h>(&object);
}
inline ucp_conn_request_h handle(cm::conn_request& object) noexcept {
    return reinterpret_cast<ucp_conn_request_h>(&object);
}
inline ucp_mem_h handle(mem::memory& object) noexcept {
    return reinterpret_cast<ucp_mem_h>(&object);
}
inline ucp_rkey_h handle(mem::rkey& object) noexcept {
    return reinterpret_cast<ucp_rkey_h>(&object);
}
inline ucp_tag_message_h handle(message* object) noexcept {
    return reinterpret_cast<ucp_tag_message_h>(object);
}

}  // namespace ucp::capi
