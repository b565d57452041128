// Calls of the driver that fail in the middle of an operation. Only the stand-in can be told to
// fail.
#include <dlfcn.h>

#include <catch2/catch.hpp>

#include "test/integration/api/streams.hpp"
#include "test/support/cuda_memory.hpp"

using namespace api;
using cuda_test::kind;

namespace {

// The functions of test/cuda/driver/standin.h; nullptr with a real driver.
template<class Function>
Function* find(const char* name) {
    static void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<Function*>(::dlsym(library, name));
}

bool is_standin() {
    return find<void()>("standin_clear_faults") != nullptr;
}

// Makes calls fail for the life of the object.
class fault {
public:
    fault(const char* function, unsigned nth, int result) {
        find<void(const char*, unsigned, int)>("standin_fail")(function, nth, result);
    }
    ~fault() { find<void()>("standin_clear_faults")(); }
    fault(const fault&) = delete;
    fault& operator=(const fault&) = delete;
};

unsigned long long calls_of(const char* function) {
    return find<unsigned long long(const char*)>("standin_calls")(function);
}

constexpr const char* functions[] = {
    "cuMemcpyAsync",         "cuEventRecord",         "cuEventQuery",
    "cuStreamCreate",        "cuEventCreate",         "cuStreamSynchronize",
    "cuMemHostAlloc",        "cuCtxPushCurrent_v2",   "cuDevicePrimaryCtxRetain",
    "cuPointerGetAttribute", "cuPointerGetAttributes"};
constexpr int results[] = {cuda_test::CUDA_ERROR_OUT_OF_MEMORY,
                           cuda_test::CUDA_ERROR_INVALID_CONTEXT};

// Sends between memory of devices while calls fail. Each side ends, with success or an error, and
// nothing is wrong after success.
void transfer(const world& in, std::size_t length) {
    const auto bytes = pattern(length, 5);
    const cuda_test::memory from(kind::device, bytes);
    const cuda_test::memory to(kind::device, length);
    ucs_status_t sent = UCS_OK;
    ucs_status_t received = UCS_OK;
    unsigned long long calls = 0;
    for (const char* const function : functions) {
        for (const int result : results) {
            for (unsigned nth = 1; nth < 8; ++nth) {
                INFO(function << " call " << nth << " returns " << result << ", length " << length);
                {
                    const fault planned(function, nth, result);
                    const unsigned long long before = calls_of(function);
                    const ucs_status_ptr_t receiving =
                        ucp_tag_recv_nbx(in.receiver, to.data(), length, 3, all_bits, &none);
                    const ucs_status_ptr_t sending =
                        ucp_tag_send_nbx(in.ep, from.data(), length, 3, &none);
                    const bool is_refused = UCS_PTR_IS_ERR(receiving) || UCS_PTR_IS_ERR(sending);
                    if (is_refused && UCS_PTR_IS_PTR(receiving))
                        ucp_request_cancel(in.receiver, receiving);
                    if (is_refused && !UCS_PTR_IS_ERR(sending)) {
                        // No receive was posted for it.
                        cuda_test::memory late(kind::host, length);
                        static_cast<void>(in.finish(ucp_tag_recv_nbx(in.receiver, late.data(),
                                                                     length, 3, all_bits, &none)));
                    }
                    sent = in.finish(sending);
                    received = in.finish(receiving);
                    calls = calls_of(function) - before;
                }
                if (sent == UCS_OK && received == UCS_OK) {
                    REQUIRE(to.read(0, length) == bytes);
                }
                in.exchange(in.ep, in.receiver, 100);
                if (calls < nth) break;
            }
        }
    }
}

}  // namespace

TEST_CASE("an operation ends when any call of the driver fails") {
    if (!is_standin()) return;
    const cuda_test::current_device first;
    const captured_output log;  // each failure has its line
    const world in;
    transfer(in, 100);
    transfer(in, 2'000'000);
}

TEST_CASE("messages of the host go on when the device is lost") {
    if (!is_standin()) return;
    const cuda_test::current_device first;
    const world in;
    const auto lose = find<void(int, int)>("standin_lose_device");
    for (const std::size_t length : {std::size_t{100}, std::size_t{1'000'000}}) {
        const cuda_test::memory from(kind::device, pattern(length, 2));
        const cuda_test::memory to(kind::device, length);
        captured_output log;
        lose(0, cuda_test::CUDA_ERROR_DEVICE_UNAVAILABLE);
        const ucs_status_ptr_t receiving =
            ucp_tag_recv_nbx(in.receiver, to.data(), length, 8, all_bits, &none);
        const ucs_status_ptr_t sending = ucp_tag_send_nbx(in.ep, from.data(), length, 8, &none);
        const ucs_status_t sent = in.finish(sending);
        if (UCS_PTR_IS_PTR(receiving)) ucp_request_cancel(in.receiver, receiving);
        static_cast<void>(in.finish(receiving));
        in.exchange(in.ep, in.receiver, 1000);
        in.exchange(in.ep, in.receiver, 500'000);
        lose(0, cuda_test::CUDA_SUCCESS);
        const std::string text = log.text();
        INFO(text);
        CHECK(sent != UCS_OK);
        CHECK_FALSE(text.empty());
    }
    in.exchange(in.ep, in.receiver, 1000);
}
