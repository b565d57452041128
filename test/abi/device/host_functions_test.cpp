// Host functions of the GPU device interface: OpenUCX's layouts, and the return values of a library
// without GPU support.
#include <catch2/catch.hpp>
#include <cstddef>

#include "ucp/api/device/ucp_host.h"

static_assert(sizeof(ucp_device_mem_list_elem_t) == 56);
static_assert(offsetof(ucp_device_mem_list_elem_t, memh) == 8);
static_assert(offsetof(ucp_device_mem_list_elem_t, local_addr) == 16);
static_assert(offsetof(ucp_device_mem_list_elem_t, length) == 24);
static_assert(offsetof(ucp_device_mem_list_elem_t, remote_addr) == 32);
static_assert(offsetof(ucp_device_mem_list_elem_t, rkey) == 40);
static_assert(offsetof(ucp_device_mem_list_elem_t, ep) == 48);
static_assert(sizeof(ucp_device_mem_list_params_t) == 40);
static_assert(offsetof(ucp_device_mem_list_params_t, element_size) == 8);
static_assert(offsetof(ucp_device_mem_list_params_t, num_elements) == 16);
static_assert(offsetof(ucp_device_mem_list_params_t, worker) == 24);
static_assert(offsetof(ucp_device_mem_list_params_t, elements) == 32);
static_assert(sizeof(ucp_device_counter_params_t) == 24);
static_assert(offsetof(ucp_device_counter_params_t, mem_type) == 8);
static_assert(offsetof(ucp_device_counter_params_t, memh) == 16);

TEST_CASE("lists and counters for kernels are unsupported, and nothing is written") {
    ucp_device_mem_list_params_t list{};
    ucp_device_local_mem_list_h local = nullptr;
    CHECK(ucp_device_local_mem_list_create(&list, &local) == UCS_ERR_UNSUPPORTED);
    CHECK(local == nullptr);
    ucp_device_remote_mem_list_h remote = nullptr;
    CHECK(ucp_device_remote_mem_list_create(&list, &remote) == UCS_ERR_UNSUPPORTED);
    CHECK(remote == nullptr);
    ucp_device_mem_list_handle_h pairs = nullptr;
    CHECK(ucp_device_mem_list_create(nullptr, &list, &pairs) == UCS_ERR_UNSUPPORTED);
    CHECK(pairs == nullptr);
    CHECK(ucp_device_get_mem_list_length(nullptr) == 0);
    ucp_device_mem_list_release(nullptr);

    ucp_device_counter_params_t counter{};
    uint64_t value = 7;
    CHECK(ucp_device_counter_init(nullptr, &counter, &value) == UCS_ERR_UNSUPPORTED);
    CHECK(ucp_device_counter_read(nullptr, &counter, &value) == 0);
    CHECK(value == 7);
}
