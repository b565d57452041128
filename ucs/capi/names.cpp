// Names of enumeration values, as arrays that C programs index.
#include "ucs/config/types.h"
#include "ucs/memory/memory_type.h"
#include "ucs/type/thread_mode.h"

const char* ucs_thread_mode_names[] = {"single", "serialized", "multi", nullptr};

const char* ucs_async_mode_names[] = {"signal", "thread_spinlock", "thread_mutex", "poll", nullptr};

const char* ucs_memory_type_names[] = {
    "host",    "cuda",      "cuda-managed", "rocm",    "rocm-managed", "rdma",
    "ze-host", "ze-device", "ze-managed",   "unknown", nullptr,
};

const char* ucs_memory_type_descs[] = {
    "ordinary memory of the host",
    "NVIDIA device memory",
    "NVIDIA memory that moves between host and device",
    "AMD device memory",
    "AMD memory that moves between host and device",
    "memory on a network adapter",
    "Intel Level Zero memory of the host",
    "Intel Level Zero device memory",
    "Intel Level Zero memory that moves between host and device",
    "memory of a kind not known yet",
    nullptr,
};

template<class Array>
constexpr int entries(const Array& array) {
    return static_cast<int>(sizeof(array) / sizeof(array[0]));
}
static_assert(entries(ucs_thread_mode_names) == UCS_THREAD_MODE_LAST + 1);
static_assert(entries(ucs_async_mode_names) == UCS_ASYNC_MODE_LAST + 1);
static_assert(entries(ucs_memory_type_names) == UCS_MEMORY_TYPE_UNKNOWN + 2);
static_assert(entries(ucs_memory_type_descs) == UCS_MEMORY_TYPE_UNKNOWN + 2);
