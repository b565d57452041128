#include <atomic>
#include <thread>

#include "test/cuda/driver_tests/support.hpp"

namespace standin {
namespace {

// Appends numbers in the order in which streams run host functions.
struct journal {
    std::atomic<int> next{0};
    int order[64] = {};
};

struct entry_of_journal {
    journal* into;
    int number;
};

void write_entry(void* entry) {
    auto& [into, number] = *static_cast<entry_of_journal*>(entry);
    into->order[into->next++] = number;
}

}  // namespace

TEST_CASE("a stream keeps its order, and streams overtake each other") {
    const current_primary primary;
    const new_stream first;
    const new_stream second;
    bool was_overtaken = false;
    for (unsigned seed = 1; seed <= 20 && !was_overtaken; ++seed) {
        standin_set_seed(seed);
        journal written;
        std::vector<entry_of_journal> entries;
        for (int number = 0; number < 16; ++number)
            entries.push_back({&written, number});
        for (int number = 0; number < 16; ++number)
            REQUIRE(cuLaunchHostFunc(number % 2 == 0 ? first : second, write_entry,
                                     &entries[static_cast<std::size_t>(number)]) == CUDA_SUCCESS);
        REQUIRE(cuStreamSynchronize(first) == CUDA_SUCCESS);
        REQUIRE(cuStreamSynchronize(second) == CUDA_SUCCESS);
        int latest[2] = {-1, -1};
        for (int place = 0; place < 16; ++place) {
            const int number = written.order[place];
            CHECK(number > latest[number % 2]);
            latest[number % 2] = number;
            was_overtaken = was_overtaken || number != place;
        }
    }
    CHECK(was_overtaken);
}

TEST_CASE("a stream waits for an event as it was recorded") {
    const current_primary primary;
    const new_stream first;
    const new_stream second;
    const new_event event;
    const device_buffer buffer(16);
    const pinned_buffer result(16);
    CHECK(cuEventQuery(event) == CUDA_SUCCESS);
    for (unsigned seed = 1; seed <= 20; ++seed) {
        standin_set_seed(seed);
        const auto value = static_cast<unsigned char>(seed);
        REQUIRE(cuMemsetD8Async(buffer, value, 16, first) == CUDA_SUCCESS);
        REQUIRE(cuEventRecord(event, first) == CUDA_SUCCESS);
        REQUIRE(cuStreamWaitEvent(second, event, 0) == CUDA_SUCCESS);
        REQUIRE(cuMemcpyAsync(result.address(), buffer, 16, second) == CUDA_SUCCESS);
        REQUIRE(cuStreamSynchronize(second) == CUDA_SUCCESS);
        CHECK(static_cast<unsigned char>(result.bytes()[7]) == value);
    }
}

TEST_CASE("the legacy stream and blocking streams wait for each other") {
    const current_primary primary;
    const new_stream blocking(0);
    const new_stream free_running;
    const pinned_buffer flag(8);
    auto& word = *reinterpret_cast<std::atomic<std::uint64_t>*>(flag.bytes());
    word = 0;
    const device_buffer buffer(16);
    // The blocking stream does not get on until the flag is set.
    REQUIRE(cuStreamWaitValue64_v2(blocking, flag.address(), 1, CU_STREAM_WAIT_VALUE_GEQ) ==
            CUDA_SUCCESS);
    REQUIRE(cuMemsetD8Async(buffer, 1, 16, nullptr) == CUDA_SUCCESS);
    REQUIRE(cuMemsetD8Async(buffer, 2, 16, free_running) == CUDA_SUCCESS);
    CHECK(cuStreamSynchronize(free_running) == CUDA_SUCCESS);
    CHECK(cuStreamQuery(nullptr) == CUDA_ERROR_NOT_READY);
    word = 1;
    CHECK(cuStreamSynchronize(nullptr) == CUDA_SUCCESS);
    CHECK(cuStreamQuery(blocking) == CUDA_SUCCESS);
}

TEST_CASE("streams write values that others wait for") {
    const current_primary primary;
    const new_stream writer;
    const new_stream reader;
    const device_buffer word(8);
    REQUIRE(cuMemsetD8Async(word, 0, 8, writer) == CUDA_SUCCESS);
    REQUIRE(cuStreamSynchronize(writer) == CUDA_SUCCESS);
    REQUIRE(cuStreamWaitValue64_v2(reader, word, 5, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS);
    CHECK(cuStreamQuery(reader) == CUDA_ERROR_NOT_READY);
    REQUIRE(cuStreamWriteValue64_v2(writer, word, 6, 0) == CUDA_SUCCESS);
    CHECK(cuStreamSynchronize(reader) == CUDA_SUCCESS);
    CHECK(cuStreamWriteValue64_v2(writer, word + 4, 6, 0) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("a host function may not call the driver") {
    const current_primary primary;
    const new_stream stream;
    CUresult outcome = CUDA_SUCCESS;
    REQUIRE(cuLaunchHostFunc(
                stream,
                [](void* into) {
                    CUcontext current = nullptr;
                    *static_cast<CUresult*>(into) = cuCtxGetCurrent(&current);
                },
                &outcome) == CUDA_SUCCESS);
    CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(outcome == CUDA_ERROR_NOT_PERMITTED);
}

TEST_CASE("operations of a destroyed stream still run") {
    const current_primary primary;
    const pinned_buffer target(16);
    const device_buffer source(16);
    REQUIRE(cuMemsetD8_v2(source, 4, 16) == CUDA_SUCCESS);
    const new_event event;
    paused_streams paused;
    {
        const new_stream stream(0);
        REQUIRE(cuMemcpyAsync(target.address(), source, 16, stream) == CUDA_SUCCESS);
        REQUIRE(cuEventRecord(event, stream) == CUDA_SUCCESS);
    }
    paused.resume();
    CHECK(cuEventSynchronize(event) == CUDA_SUCCESS);
    CHECK(target.bytes()[0] == 4);
}

TEST_CASE("a destroyed handle is refused") {
    const current_primary primary;
    CUstream stream = nullptr;
    CUevent event = nullptr;
    REQUIRE(cuStreamCreate(&stream, 0) == CUDA_SUCCESS);
    REQUIRE(cuEventCreate(&event, 0) == CUDA_SUCCESS);
    CHECK(cuStreamDestroy_v2(stream) == CUDA_SUCCESS);
    CHECK(cuEventDestroy_v2(event) == CUDA_SUCCESS);
    CHECK(cuStreamDestroy_v2(stream) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(cuEventQuery(event) == CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("event and stream are of one context, and times are measured where asked for") {
    const current_primary far(1);
    const new_event foreign;
    const current_primary near(0);
    const new_stream stream;
    CHECK(cuEventRecord(foreign, stream) == CUDA_ERROR_INVALID_HANDLE);
    const new_event begin(0);
    const new_event end(0);
    float milliseconds = -1;
    CHECK(cuEventElapsedTime(&milliseconds, begin, end) == CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(cuEventRecord(begin, stream) == CUDA_SUCCESS);
    REQUIRE(cuEventRecord(end, stream) == CUDA_SUCCESS);
    REQUIRE(cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(cuEventElapsedTime(&milliseconds, begin, end) == CUDA_SUCCESS);
    CHECK(milliseconds >= 0);
}

TEST_CASE("a stream that is captured runs nothing and refuses to be waited for") {
    const current_primary primary;
    const new_stream stream(0);
    standin_capture_stream(stream, 1);
    CUstreamCaptureStatus status{};
    CHECK(cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS);
    CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CHECK(cuStreamIsCapturing(nullptr, &status) == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    CHECK(cuStreamSynchronize(stream) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    standin_capture_stream(stream, 0);
    CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
}

}  // namespace standin
