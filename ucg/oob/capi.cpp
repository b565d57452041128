// Implementation of the C API in ucg_oob.h.
#include <algorithm>
#include <cstring>

#include "ucg/api/ucg_oob.h"
#include "ucg/oob/factories.hpp"
#include "ucg/oob/log.hpp"
#include "ucs/log/boundary.hpp"

namespace {

using namespace ucg::oob;

exchange& to_exchange(void* arg) noexcept {
    return *static_cast<exchange*>(arg);
}

ucs_status_t allgather(void* arg, const void* send, void* recv, size_t bytes, void** request) {
    if (request == nullptr) return UCS_ERR_INVALID_PARAM;
    const ucs_status_t status = to_exchange(arg).begin(send, recv, bytes);
    if (status == UCS_OK) *request = arg;
    return status;
}

ucs_status_t test(void* arg, void*) {
    return to_exchange(arg).test();
}

void release(void* arg, void*) {
    to_exchange(arg).release();
}

ucs_status_t publish(void* arg, const void* block, size_t bytes, uint64_t* number) {
    return number == nullptr ? UCS_ERR_INVALID_PARAM
                             : to_exchange(arg).publish(block, bytes, *number);
}

ucs_status_t lookup(void* arg, uint64_t number, uint32_t rank, void* block, size_t* bytes) {
    return block == nullptr || bytes == nullptr
               ? UCS_ERR_INVALID_PARAM
               : to_exchange(arg).look_up(number, rank, block, *bytes);
}

ucs_status_t withdraw(void* arg, uint64_t number) {
    return to_exchange(arg).withdraw(number);
}

void progress(void* arg) {
    to_exchange(arg).serve();
}

ucs_status_t refuse(const char* call, const char* reason) noexcept {
    ucs::log::error(oob_log, "{}: {}", call, reason);
    return UCS_ERR_INVALID_PARAM;
}

std::unique_ptr<ucg_oob_t> wrap(std::unique_ptr<exchange> made) {
    auto object = std::make_unique<ucg_oob_t>(ucg_oob_t{
        sizeof(ucg_oob_t), made->rank(), made->size(), allgather, test, release, nullptr, publish,
        lookup, withdraw, progress, made->is_private() ? std::uint32_t{UCG_OOB_PRIVATE} : 0});
    object->arg = made.release();
    return object;
}

ucs_status_t return_object(ucs::result<std::unique_ptr<exchange>> made, ucg_oob_t** oob_p) {
    if (!made) return made.status();
    *oob_p = wrap(std::move(*made)).release();
    return UCS_OK;
}

// The body of a function with params: checks them, and calls make(self, values) for the exchange.
template<class Params, class Make>
ucs_status_t create(const char* call, const Params* params, ucg_oob_t** oob_p, const Make& make) {
    if (params == nullptr || oob_p == nullptr) return refuse(call, "params or oob_p is NULL");
    // A caller compiled with a newer header passes more members, which are not read.
    if (params->struct_size < sizeof(Params))
        return refuse(call, "params->struct_size is not the size of the struct");
    Params values;
    std::memcpy(&values, params, sizeof(Params));
    rank_params self{values.rank, values.size, 0};
    if (const ucs_status_t status = self.check(call, values.timeout); status != UCS_OK)
        return status;
    return ucs::boundary(oob_log, call, [&] { return return_object(make(self, values), oob_p); });
}

const char* text_or_empty(const char* text) noexcept {
    return text == nullptr ? "" : text;
}

}  // namespace

extern "C" {

ucs_status_t ucg_oob_create_tcp(const ucg_oob_tcp_params_t* params, ucg_oob_t** oob_p) {
    return create("ucg_oob_create_tcp", params, oob_p,
                  [](const rank_params& self, const ucg_oob_tcp_params_t& values) {
                      return make_tcp(self, {text_or_empty(values.host), values.port},
                                      text_or_empty(values.job));
                  });
}

ucs_status_t ucg_oob_create_directory(const ucg_oob_directory_params_t* params, ucg_oob_t** oob_p) {
    return create("ucg_oob_create_directory", params, oob_p,
                  [](const rank_params& self, const ucg_oob_directory_params_t& values) {
                      return make_directory(self, text_or_empty(values.path),
                                            text_or_empty(values.job));
                  });
}

ucs_status_t ucg_oob_create_pmix(double timeout, ucg_oob_t** oob_p) {
    constexpr const char* call = "ucg_oob_create_pmix";
    if (oob_p == nullptr) return refuse(call, "oob_p is NULL");
    return ucs::boundary(oob_log, call, [&] { return return_object(make_pmix(timeout), oob_p); });
}

ucs_status_t ucg_oob_create_env(ucg_oob_t** oob_p) {
    constexpr const char* call = "ucg_oob_create_env";
    if (oob_p == nullptr) return refuse(call, "oob_p is NULL");
    return ucs::boundary(oob_log, call,
                         [&] { return return_object(make_from_environment(), oob_p); });
}

ucs_status_t ucg_oob_create_local(uint32_t size, ucg_oob_t** all) {
    constexpr const char* call = "ucg_oob_create_local";
    if (all == nullptr) return refuse(call, "all is NULL");
    return ucs::boundary(oob_log, call, [&]() -> ucs_status_t {
        auto made = make_local(size, 0);
        if (!made) return made.status();
        std::vector<std::unique_ptr<ucg_oob_t>> objects(size);
        std::vector<std::unique_ptr<exchange>>& parts = *made;
        for (std::size_t rank = 0; rank < size; ++rank)
            objects[rank] = wrap(std::move(parts[rank]));
        for (std::size_t rank = 0; rank < size; ++rank)
            all[rank] = objects[rank].release();
        return UCS_OK;
    });
}

void ucg_oob_destroy(ucg_oob_t* oob) {
    if (oob == nullptr) return;
    if (oob->allgather != allgather) {
        static_cast<void>(refuse("ucg_oob_destroy", "the object is not one of the bundled ones"));
        return;
    }
    to_exchange(oob->arg).release();
    delete static_cast<exchange*>(oob->arg);
    delete oob;
}

}  // extern "C"
