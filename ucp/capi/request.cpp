// C API of requests: test, query, cancel, free and allocate the requests that a program holds.
#include <fmt/format.h>

#include "ucp/am/wire.hpp"
#include "ucp/capi/check.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/log/log.hpp"
#include "ucp/proto/message_state.hpp"
#include "ucp/proto/protocol.hpp"
#include "ucp/rma/remote_op.hpp"
#include "ucp/tag/matcher.hpp"

namespace {

using namespace ucp;
using namespace ucp::capi;

std::string_view kind_name(request_kind kind) {
    static constexpr std::string_view names[] = {
        "unused", "send", "tag receive", "data receive", "stream receive", "flush", "worker flush"};
    return names[static_cast<std::size_t>(kind)];
}

std::string target_text(const request& send) {
    switch (send.state.send.kind) {
        case send_kind::tag:
        case send_kind::tag_sync:
        case send_kind::tag_rndv:
        case send_kind::tag_sync_rndv:
            return fmt::format("tag {:#x}, ", send.as<message_state>().first_word);
        case send_kind::am:
        case send_kind::am_eager:
        case send_kind::am_rndv:
            return fmt::format("id {}, ",
                               wire::to_am_fields(send.as<message_state>().first_word).id);
        case send_kind::put:
        case send_kind::get:
        case send_kind::atomic:
            return fmt::format("at {:#x}, ", send.as<remote_op>().address);
        case send_kind::stream:
        case send_kind::reply:
            break;
    }
    return {};
}

std::string description(const request& object) {
    std::string text =
        fmt::format("{}, {}", kind_name(object.kind),
                    ucs_status_string(object.is_completed() ? object.status : UCS_INPROGRESS));
    if (object.kind == request_kind::send) {
        const send_state& send = object.state.send;
        text += fmt::format(", {}, {}{} of {} bytes handed over{}{}", traits(send.kind).title,
                            target_text(object), send.offset, send.buffer.length(),
                            send.proto != nullptr ? ", protocol " : "",
                            send.proto != nullptr ? send.proto->name : "");
    } else if (object.kind == request_kind::recv) {
        const recv_state& recv = object.state.recv;
        text += fmt::format(", tag {:#x} mask {:#x}, room for {} bytes", recv.tag, recv.mask,
                            recv.buffer.capacity());
    } else if (object.kind == request_kind::recv_data) {
        text += fmt::format(", room for {} bytes", object.state.recv.buffer.capacity());
    }
    return text;
}

void put(request& done) {
    done.flags.assign(request_flags::completed | request_flags::released);
    done.owner->requests().put(done);
}

// Takes a request back from the program. An operation that still runs continues, and its callback
// is called at its end only if `keep_callback`. A second return of the same request does nothing,
// because otherwise two operations would get that request. MPICH 5 returns some requests twice: in
// their callback and after it (MPIDI_UCX_dynamic_send).
void return_request_slow(request& done, bool keep_callback) {
    if (done.flags.has(request_flags::released)) {
        ucs::log::debug(core_log, "a request that was released or freed before is left alone");
        return;
    }
    // A request in the program's own memory stays with the program. One from ucp_request_alloc()
    // goes back to the pool like any other.
    if (done.flags.has(request_flags::user_memory) &&
        done.owner->requests().return_from_program(done)) {
        done.flags.clear(request_flags::user_memory);
    }
    if (done.is_completed()) {
        if (!done.flags.has(request_flags::user_memory)) put(done);
        return;
    }
    if (!keep_callback) {
        done.flags.clear(request_flags::has_callback);
    }
    if (!done.flags.has(request_flags::user_memory)) done.flags.set(request_flags::released);
}

inline void return_request(request& done, bool keep_callback) {
    constexpr unsigned deciding =
        request_flags::completed | request_flags::user_memory | request_flags::released;
    if ((done.flags.all() & deciding) == request_flags::completed) [[likely]] {
        put(done);
    } else {
        return_request_slow(done, keep_callback);
    }
}

}  // namespace

extern "C" {

ucs_status_t ucp_request_check_status(void* handle) {
    if (handle == nullptr) [[unlikely]]
        return refuse("ucp_request_check_status", "request is NULL");
    const request& object = request::of(handle);
    if (!object.is_completed()) return UCS_INPROGRESS;
    return object.status;
}

int ucp_request_is_completed(void* handle) {
    // An operation that completed at once has no request: its handle is null.
    return handle == nullptr || request::of(handle).is_completed() ? 1 : 0;
}

ucs_status_t ucp_tag_recv_request_test(void* handle, ucp_tag_recv_info_t* info) {
    if (handle == nullptr) [[unlikely]]
        return refuse("ucp_request_test", "request is NULL");
    const request& object = request::of(handle);
    if (!object.is_completed()) return UCS_INPROGRESS;
    if (object.kind == request_kind::recv && info != nullptr) *info = object.state.recv.info;
    return object.status;
}

ucs_status_t ucp_request_test(void* handle, ucp_tag_recv_info_t* info) {
    return ucp_tag_recv_request_test(handle, info);
}

ucs_status_t ucp_request_query(void* handle, ucp_request_attr_t* attr) {
    if (handle == nullptr || attr == nullptr) {
        return refuse("ucp_request_query", "request or attr is NULL");
    }
    const request& object = request::of(handle);
    const worker_guard guard(object.owner->lock());
    const auto wants = [attr](std::uint64_t bit) { return (attr->field_mask & bit) != 0; };
    if (wants(UCP_REQUEST_ATTR_FIELD_STATUS)) attr->status = ucp_request_check_status(handle);
    if (wants(UCP_REQUEST_ATTR_FIELD_MEM_TYPE)) attr->mem_type = UCS_MEMORY_TYPE_HOST;
    if (!wants(UCP_REQUEST_ATTR_FIELD_INFO_STRING)) return UCS_OK;
    if (!wants(UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE) || attr->debug_string == nullptr ||
        attr->debug_string_size == 0) {
        return refuse("ucp_request_query", "debug_string needs debug_string_size");
    }
    return ucs::boundary(core_log, "ucp_request_query", [&] {
        const std::string text = description(object);
        const std::size_t length = std::min(text.size(), attr->debug_string_size - 1);
        std::memcpy(attr->debug_string, text.data(), length);
        attr->debug_string[length] = '\0';
        return UCS_OK;
    });
}

void ucp_request_cancel(ucp_worker_h worker, void* handle) {
    if (worker == nullptr || handle == nullptr) return;
    ucp::worker& owner = from(worker);
    const worker_guard guard(owner.lock());
    ucs::boundary(core_log, "ucp_request_cancel",
                  [&] { slot_of<tag_matcher>(owner).cancel(request::of(handle)); });
}

void ucp_request_free(void* handle) {
    if (handle == nullptr) [[unlikely]]
        return;
    request& done = request::of(handle);
    const worker_guard guard(done.owner->lock());
    return_request(done, false);
}

void ucp_request_release(void* handle) {
    if (handle == nullptr) [[unlikely]]
        return;
    request& done = request::of(handle);
    const worker_guard guard(done.owner->lock());
    return_request(done, true);
}

void* ucp_request_alloc(ucp_worker_h worker) {
    if (worker == nullptr) return nullptr;
    ucp::worker& owner = from(worker);
    const worker_guard guard(owner.lock());
    request* fresh = owner.requests().take_for_program();
    if (fresh == nullptr) return nullptr;
    fresh->owner = &owner;
    fresh->kind = request_kind::none;
    fresh->status = UCS_OK;
    fresh->flags.assign(request_flags::completed | request_flags::user_memory);
    return fresh->handle();
}

}  // extern "C"
