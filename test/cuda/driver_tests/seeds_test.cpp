// Programs that are drawn from a seed: the same results must come from every order that the
// stand-in may choose.
#include <random>

#include "test/cuda/driver_tests/support.hpp"
#include "test/support/sanitizer.hpp"

namespace standin {
namespace {

constexpr std::size_t length = 4096;
constexpr std::size_t streams = 3;
constexpr std::size_t device_buffers = 4;
constexpr std::size_t buffers = 6;  // those behind the ones of the device are pinned

// Copies and fills buffers on several streams, and on the way computes what they must hold. Each
// operation waits for the earlier ones, on other streams, that use its buffers.
class drawn_program {
public:
    explicit drawn_program(unsigned seed) : draw_(seed) {
        for (std::size_t index = 0; index < buffers; ++index) {
            const CUdeviceptr address =
                index < device_buffers ? device_[index] : pinned_[index - device_buffers].address();
            REQUIRE(cuMemsetD8_v2(address, static_cast<unsigned char>(index), length) ==
                    CUDA_SUCCESS);
            addresses_[index] = address;
            expected_[index] = static_cast<char>(index);
        }
        REQUIRE(cuCtxSynchronize() == CUDA_SUCCESS);
    }

    void add_operation(bool waits) {
        const std::size_t on = draw_() % streams;
        const std::size_t to = draw_() % buffers;
        const std::size_t from = draw_() % buffers;
        if (to == from) {
            if (waits) wait_for(on, {to});
            const auto value = static_cast<unsigned char>(draw_() % 100);
            REQUIRE(cuMemsetD8Async(addresses_[to], value, length, streams_[on]) == CUDA_SUCCESS);
            expected_[to] = static_cast<char>(value);
        } else {
            if (waits) wait_for(on, {to, from});
            REQUIRE(cuMemcpyAsync(addresses_[to], addresses_[from], length, streams_[on]) ==
                    CUDA_SUCCESS);
            expected_[to] = expected_[from];
        }
        REQUIRE(cuEventRecord(last_of_stream_[on], streams_[on]) == CUDA_SUCCESS);
        user_[to] = user_[from] = on;
    }

    // Returns true if all buffers hold what they must.
    bool is_right() {
        REQUIRE(cuCtxSynchronize() == CUDA_SUCCESS);
        bool is_right = true;
        for (std::size_t index = 0; index < buffers; ++index)
            is_right = is_right && read(addresses_[index], length) ==
                                       std::vector<char>(length, expected_[index]);
        return is_right;
    }

private:
    void wait_for(std::size_t on, std::initializer_list<std::size_t> used) {
        for (const std::size_t each : used)
            if (user_[each] != on)
                REQUIRE(cuStreamWaitEvent(streams_[on], last_of_stream_[user_[each]], 0) ==
                        CUDA_SUCCESS);
    }

    std::mt19937 draw_;
    new_stream streams_[streams];
    new_event last_of_stream_[streams];
    device_buffer device_[device_buffers]{device_buffer(length), device_buffer(length),
                                          device_buffer(length), device_buffer(length)};
    pinned_buffer pinned_[buffers - device_buffers]{pinned_buffer(length), pinned_buffer(length)};
    CUdeviceptr addresses_[buffers] = {};
    char expected_[buffers] = {};
    std::size_t user_[buffers] = {};  // the stream that used the buffer last
};

bool is_right_with(unsigned seed, bool waits) {
    standin_set_seed(seed);
    drawn_program program(seed);
    for (int count = 0; count < 40; ++count)
        program.add_operation(waits);
    return program.is_right();
}

}  // namespace

TEST_CASE("streams that wait for each other give the same results with every seed") {
    const current_primary primary;
    for (unsigned seed = 1; seed <= 10; ++seed) {
        INFO("seed " << seed);
        CHECK(is_right_with(seed, true));
    }
}

TEST_CASE("a missing wait gives wrong data with some seed") {
    // ThreadSanitizer reports the data race, and ends the program.
    if (test::instrumented) return;
    const current_primary primary;
    bool is_right = true;
    for (unsigned seed = 1; seed <= 10 && is_right; ++seed)
        is_right = is_right_with(seed, false);
    CHECK(!is_right);
}

}  // namespace standin
