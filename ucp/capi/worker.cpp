// ucp_worker_h: creation, address, progress, flush, text.
#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>

#include "ucp/am/receiver.hpp"
#include "ucp/capi/check.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/capi/legacy.hpp"
#include "ucp/core/complete.hpp"
#include "ucp/core/flush.hpp"
#include "ucp/rma/rma.hpp"
#include "ucp/vfs/text.hpp"
#include "ucp/wakeup/wait.hpp"
#include "ucs/arch/fence.hpp"
#include "ucs/sys/process.hpp"

namespace {

using namespace ucp;
using namespace ucp::capi;

constexpr std::size_t largest_alignment = 4096;

// Returns a name made of the host, the process and the worker's number in the process.
std::string default_name() {
    static std::atomic<unsigned> count{0};
    const unsigned number = count.fetch_add(1);
    const std::string process_name = fmt::format("{}:{}", ucs::sys::host_name(), ::getpid());
    return number == 0 ? process_name : fmt::format("{}.{}", process_name, number);
}

worker_params read(const context& context, const ucp_worker_params_t& from) {
    const auto has = [&from](std::uint64_t bit) { return (from.field_mask & bit) != 0; };
    worker_params params;
    if (has(UCP_WORKER_PARAM_FIELD_THREAD_MODE)) params.thread_mode = from.thread_mode;
    if (has(UCP_WORKER_PARAM_FIELD_USER_DATA)) params.user_data = from.user_data;
    if (has(UCP_WORKER_PARAM_FIELD_CLIENT_ID)) params.client_id = from.client_id;
    if (has(UCP_WORKER_PARAM_FIELD_NAME) && from.name != nullptr) params.name = from.name;
    if (has(UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT)) params.am_alignment = from.am_alignment;
    if (params.name.empty()) params.name = default_name();
    // Unknown bits are ignored, because some programs set them from uninitialised memory.
    params.ignore_request_leak = has(UCP_WORKER_PARAM_FIELD_FLAGS) &&
                                 (from.flags & UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK) != 0;
    params.wakeup = (context.params().features & UCP_FEATURE_WAKEUP) != 0;
    // All kinds of events wake the worker. A program that asked for fewer kinds is sometimes woken
    // needlessly.
    params.edge_triggered =
        has(UCP_WORKER_PARAM_FIELD_EVENTS) && (from.events & UCP_WAKEUP_EDGE) != 0;
    if (has(UCP_WORKER_PARAM_FIELD_EVENT_FD)) params.event_fd = from.event_fd;
    return params;
}

ucs_status_t create(const context& context, worker_params params, ucp_worker_h* worker_p) {
    if (params.thread_mode >= UCS_THREAD_MODE_LAST) {
        return refuse("ucp_worker_create", "there is no such thread mode");
    }
    if (params.event_fd >= 0 && !params.wakeup) {
        return refuse("ucp_worker_create", "event_fd needs UCP_FEATURE_WAKEUP");
    }
    if (!std::has_single_bit(params.am_alignment) || params.am_alignment > largest_alignment) {
        return refuse("ucp_worker_create",
                      "am_alignment is no power of two, or longer than a page (4096)");
    }
    auto made = worker::create(context, std::move(params));
    if (!made) return made.status();
    *worker_p = handle(*made->release());
    return UCS_OK;
}

// Copies the address; ucp_worker_release_address frees the copy.
ucs_status_t copy_address(const worker& object, bool net_only, ucp_address_t** address_p,
                          std::size_t* length_p) {
    const auto& packed = object.identity().address(net_only);
    void* copy = std::malloc(packed.size());
    if (copy == nullptr) {
        ucs::log::error(core_log, "out of memory: no copy of a worker's address");
        return UCS_ERR_NO_MEMORY;
    }
    std::memcpy(copy, packed.data(), packed.size());
    *address_p = static_cast<ucp_address_t*>(copy);
    *length_p = packed.size();
    return UCS_OK;
}

// Wakes other threads that sleep until an event that was handled here.
unsigned progress_locked(worker& object) {
    const worker_guard guard(object.lock());
    const unsigned events =
        ucs::boundary(core_log, "ucp_worker_progress", [&] { return object.progress(); });
    if (events > 0) object.schedule().note_work();
    return events;
}

unsigned progress_shared(worker& object) {
    const unsigned events = progress_locked(object);
    if (events == 0) wakeup::yield_if_due(object);
    return events;
}

ucs_status_ptr_t flush(worker& owner, const operation& params) {
    // Direct stores become visible to all processes before anything that follows.
    ucs::arch::full_fence();
    request* group = begin_call(owner, params);
    if (group == nullptr) return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
    set_send_callback(*group, params);
    const ucs_status_t status = start_flush(owner, *group);
    if (status != UCS_INPROGRESS) owner.postponed().complete_in_order(*group, status);
    return end_call(*group, params);
}

}  // namespace

extern "C" {

ucs_status_t ucp_worker_create(ucp_context_h context, const ucp_worker_params_t* params,
                               ucp_worker_h* worker_p) {
    if (context == nullptr || params == nullptr || worker_p == nullptr) {
        return refuse("ucp_worker_create", "context, params or worker_p is NULL");
    }
    return ucs::boundary(core_log, "ucp_worker_create", [&] {
        return create(from(context), read(from(context), *params), worker_p);
    });
}

void ucp_worker_destroy(ucp_worker_h handle) {
    if (handle != nullptr) delete &from(handle);
}

ucs_status_t ucp_worker_query(ucp_worker_h handle, ucp_worker_attr_t* attr) {
    if (handle == nullptr || attr == nullptr) {
        return refuse("ucp_worker_query", "worker or attr is NULL");
    }
    worker& object = from(handle);
    const worker_guard guard(object.lock());
    const auto wants = [attr](std::uint64_t bit) { return (attr->field_mask & bit) != 0; };
    if (wants(UCP_WORKER_ATTR_FIELD_THREAD_MODE)) attr->thread_mode = object.params().thread_mode;
    if (wants(UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER))
        attr->max_am_header = slot_of<am_receiver>(object).max_header();
    if (wants(UCP_WORKER_ATTR_FIELD_NAME)) copy_name(attr->name, object.params().name);
    if (wants(UCP_WORKER_ATTR_FIELD_MAX_INFO_STRING)) attr->max_debug_string = 256;
    if (!wants(UCP_WORKER_ATTR_FIELD_ADDRESS)) return UCS_OK;
    const bool net_only = wants(UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS) &&
                          (attr->address_flags & UCP_WORKER_ADDRESS_FLAG_NET_ONLY) != 0;
    return copy_address(object, net_only, &attr->address, &attr->address_length);
}

void ucp_worker_print_info(ucp_worker_h handle, FILE* stream) {
    if (handle == nullptr || stream == nullptr) return;
    worker& object = from(handle);
    const worker_guard guard(object.lock());
    ucs::boundary(core_log, "ucp_worker_print_info",
                  [&] { std::fputs(worker_info(object).c_str(), stream); });
}

ucs_status_t ucp_worker_get_address(ucp_worker_h handle, ucp_address_t** address_p,
                                    size_t* address_length_p) {
    if (handle == nullptr || address_p == nullptr || address_length_p == nullptr) {
        return refuse("ucp_worker_get_address", "worker, address_p or address_length_p is NULL");
    }
    return copy_address(from(handle), false, address_p, address_length_p);
}

void ucp_worker_release_address(ucp_worker_h, ucp_address_t* address) {
    std::free(address);
}

ucs_status_t ucp_worker_address_query(ucp_address_t* address, ucp_worker_address_attr_t* attr) {
    if (address == nullptr || attr == nullptr) {
        return refuse("ucp_worker_address_query", "address or attr is NULL");
    }
    return ucs::boundary(core_log, "ucp_worker_address_query", [&] {
        const auto parsed = ucp::address::parse(static_cast<const void*>(address));
        if (!parsed) return parsed.status();
        if ((attr->field_mask & UCP_WORKER_ADDRESS_ATTR_FIELD_UID) != 0) {
            attr->worker_uid = parsed->uid();
        }
        return UCS_OK;
    });
}

unsigned ucp_worker_progress(ucp_worker_h handle) {
    if (handle == nullptr) [[unlikely]]
        return 0;
    worker& object = from(handle);
    if (object.lock().enabled()) [[unlikely]]
        return progress_shared(object);
    return ucs::boundary(core_log, "ucp_worker_progress", [&] { return object.progress(); });
}

ucs_status_ptr_t ucp_worker_flush_nbx(ucp_worker_h handle, const ucp_request_param_t* param) {
    if (lacks_object(handle, param)) [[unlikely]]
        return refuse_operation("ucp_worker_flush_nbx", param);
    worker& object = from(handle);
    const worker_guard guard(object.lock());
    return ucs::boundary(core_log, "ucp_worker_flush_nbx",
                         [&] { return flush(object, operation(*param)); });
}

ucs_status_ptr_t ucp_worker_flush_nb(ucp_worker_h handle, unsigned, ucp_send_callback_t cb) {
    const ucp_request_param_t param = legacy_send(cb);
    return ucp_worker_flush_nbx(handle, &param);
}

ucs_status_t ucp_worker_fence(ucp_worker_h handle) {
    if (handle == nullptr) return refuse("ucp_worker_fence", "worker is NULL");
    worker& object = from(handle);
    const worker_guard guard(object.lock());
    ucs::arch::full_fence();
    return fence(object) ? UCS_OK : UCS_ERR_NO_MEMORY;
}

ucs_status_t ucp_worker_flush(ucp_worker_h handle) {
    if (handle == nullptr) return refuse("ucp_worker_flush", "worker is NULL");
    const ucp_request_param_t param{};
    return wait_for(from(handle), ucp_worker_flush_nbx(handle, &param));
}

}  // extern "C"
