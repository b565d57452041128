// Implementation of the ucg_request_* functions.
#include <algorithm>

#include "ucg/capi/handles.hpp"
#include "ucg/core/collective_request.hpp"
#include "ucs/sys/pause.hpp"

using namespace ucg;
using namespace ucg::capi;

namespace ucg::capi {

ucs_status_t wait_for(request& request) noexcept {
    context& owner = request.get_group().get_context();
    if (!owner.lock().enabled()) return request.get_group().wait(request);
    ucs_status_t status = UCS_INPROGRESS;
    ucs::arch::backoff().wait_for([&] { return status != UCS_INPROGRESS; },
                                  [&] {
                                      const std::lock_guard guard(owner.lock());
                                      const bool moved = owner.progress() != 0;
                                      status = request.status();
                                      return moved;
                                  });
    return status;
}

}  // namespace ucg::capi

ucs_status_t ucg_request_init(ucg_group_h group, const ucg_coll_args_t* args,
                              ucg_request_h* request_p) {
    constexpr const char* call = "ucg_request_init";
    if (request_p == nullptr) return refuse(call, "request_p is NULL");
    *request_p = nullptr;
    if (const ucs_status_t status = check_usable(call, group); status != UCS_OK) return status;
    return with_lock(from(group).get_context(), [&] {
        const auto values = arguments::copy(args);
        if (!values) return values.status();
        auto made = collective_request::make(from(group), *values);
        const ucs_status_t status = made->refused();
        ++from(group).used_by().requests;
        *request_p = handle(*made.release());
        return status;
    });
}

ucs_status_t ucg_request_start(ucg_request_h request) {
    if (request == nullptr) return refuse("ucg_request_start", "the request is NULL");
    return with_lock(from(request).get_group().get_context(),
                     [&] { return from(request).start(); });
}

ucs_status_t ucg_request_set_buffers(ucg_request_h request, const void* src, void* dst) {
    if (request == nullptr) return refuse("ucg_request_set_buffers", "the request is NULL");
    return with_lock(from(request).get_group().get_context(),
                     [&] { return from(request).set_buffers(src, dst); });
}

ucs_status_t ucg_request_test(ucg_request_h request) {
    if (request == nullptr) return refuse("ucg_request_test", "the request is NULL");
    const std::lock_guard guard(from(request).get_group().get_context().lock());
    return from(request).status();
}

unsigned ucg_request_progress(ucg_request_h request) {
    if (request == nullptr) return 0;
    const std::lock_guard guard(from(request).get_group().get_context().lock());
    return from(request).get_group().progress(from(request));
}

ucs_status_t ucg_request_wait(ucg_request_h request) {
    if (request == nullptr) return refuse("ucg_request_wait", "the request is NULL");
    return wait_for(from(request));
}

ucs_status_t ucg_request_cancel(ucg_request_h request) {
    if (request == nullptr) return refuse("ucg_request_cancel", "the request is NULL");
    return with_lock(from(request).get_group().get_context(), [&] {
        from(request).fail(UCS_ERR_CANCELED);
        return UCS_OK;
    });
}

ucs_status_t ucg_request_query(ucg_request_h handle, ucg_request_attr_t* attr) {
    constexpr const char* call = "ucg_request_query";
    if (handle == nullptr || attr == nullptr) return refuse(call, "request or attr is NULL");
    const request& self = from(handle);
    return with_lock(self.get_group().get_context(), [&] {
        ucg_request_attr_t values = UCG_REQUEST_ATTR_INIT;
        if (attr->struct_size >= sizeof values) {
            const std::vector<schedule::rank_t> missing = self.missing();
            values.missing = attr->missing;
            values.missing_max = attr->missing_max;
            values.missing_count = static_cast<uint32_t>(missing.size());
            if (attr->missing != nullptr)
                std::copy_n(missing.begin(),
                            std::min<std::size_t>(missing.size(), values.missing_max),
                            attr->missing);
        }
        values.status = self.status();
        values.algorithm = self.algorithm();
        values.reason = self.reason();
        return return_attr(attr, values);
    });
}

ucs_status_t ucg_request_free(ucg_request_h request) {
    if (request == nullptr) return UCS_OK;
    context& owner = from(request).get_group().get_context();
    const std::lock_guard guard(owner.lock());
    if (from(request).status() == UCS_INPROGRESS) return UCS_ERR_BUSY;
    --from(request).get_group().used_by().requests;
    delete &from(request);
    return UCS_OK;
}
