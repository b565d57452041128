// The kernels as the driver launches them: from the library's image, on streams, in device memory.
#include <numeric>

#include "test/cuda/driver_tests/support.hpp"
#include "ucg/cuda/image.hpp"
#include "ucg/cuda/kernels/parameters.hpp"

namespace standin {
namespace {

using ucg::cuda::parameters;

constexpr ucg::cuda::layout area{.channels = 2, .slice_bytes = 1024};
constexpr std::size_t count = 1000;

class loaded_image {
public:
    loaded_image() {
        const auto image = ucg::cuda::kernel_image();
        // The stand-in does not read the code.
        const void* const code = image.empty() ? this : static_cast<const void*>(image.data());
        REQUIRE(cuLibraryLoadData(&handle_, code, nullptr, nullptr, 0, nullptr, nullptr, 0) ==
                CUDA_SUCCESS);
    }
    ~loaded_image() { cuLibraryUnload(handle_); }
    loaded_image(const loaded_image&) = delete;
    loaded_image& operator=(const loaded_image&) = delete;

    CUfunction entry(ucg::cuda::kernel run) {
        CUkernel found = nullptr;
        REQUIRE(cuLibraryGetKernel(&found, handle_, ucg::cuda::entry_of(run)) == CUDA_SUCCESS);
        return reinterpret_cast<CUfunction>(found);
    }

private:
    CUlibrary handle_ = nullptr;
};

// Words of the host that the device can access.
class host_words {
public:
    host_words() {
        void* address = nullptr;
        REQUIRE(cuMemHostAlloc(&address, sizeof(words), CU_MEMHOSTALLOC_DEVICEMAP) == CUDA_SUCCESS);
        words_ = new (address) words{};
    }
    ~host_words() { cuMemFreeHost(words_); }
    host_words(const host_words&) = delete;
    host_words& operator=(const host_words&) = delete;

    struct words {
        std::uint64_t report = 0;
        std::uint32_t abort = 0;
    };
    words* operator->() const { return words_; }

private:
    words* words_ = nullptr;
};

// A rank with memory and a stream of its own.
struct rank_memory {
    new_stream stream;
    device_buffer shared{area.bytes()};
    device_buffer input{count * 4};
    device_buffer output{count * 4};
    host_words words;

    rank_memory() {
        REQUIRE(cuMemsetD8Async(shared, 0, area.bytes(), stream) == CUDA_SUCCESS);
        REQUIRE(cuMemsetD8Async(output, 0xff, count * 4, stream) == CUDA_SUCCESS);
    }
};

parameters allreduce_of(const std::vector<rank_memory>& ranks, std::uint32_t rank) {
    parameters args{};
    for (std::uint32_t peer = 0; peer < ranks.size(); ++peer)
        args.areas[peer] = reinterpret_cast<std::byte*>(CUdeviceptr{ranks[peer].shared});
    args.area = area;
    args.run = ucg::cuda::kernel::allreduce_two_shot;
    args.rank = rank;
    args.ranks = static_cast<std::uint32_t>(ranks.size());
    args.from = reinterpret_cast<const void*>(CUdeviceptr{ranks[rank].input});
    args.into = reinterpret_cast<void*>(CUdeviceptr{ranks[rank].output});
    args.count = count;
    args.element_bytes = 4;
    args.type = ucg::reduce::element::int32;
    args.op = ucg::reduce::operation::sum;
    args.abort = &ranks[rank].words->abort;
    args.report = &ranks[rank].words->report;
    args.timeout_ns = 30'000'000'000;
    return args;
}

}  // namespace

TEST_CASE("ranks on streams of one device reduce through the stand-in for the driver") {
    const current_primary primary;
    loaded_image image;
    std::vector<rank_memory> ranks(3);
    std::vector<std::vector<std::int32_t>> inputs(ranks.size(), std::vector<std::int32_t>(count));
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        std::iota(inputs[rank].begin(), inputs[rank].end(), static_cast<int>(1000 * rank));
        REQUIRE(cuMemcpyAsync(ranks[rank].input, reinterpret_cast<CUdeviceptr>(inputs[rank].data()),
                              count * 4, ranks[rank].stream) == CUDA_SUCCESS);
    }
    // Every rank must have cleared its flags before another one posts there.
    for (const rank_memory& each : ranks)
        REQUIRE(cuStreamSynchronize(each.stream) == CUDA_SUCCESS);
    for (int replay = 0; replay < 2; ++replay) {
        for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
            parameters args = allreduce_of(ranks, rank);
            void* pointers[] = {&args};
            REQUIRE(cuLaunchKernel(image.entry(args.run), 2, 1, 1, 64, 1, 1, 0, ranks[rank].stream,
                                   pointers, nullptr) == CUDA_SUCCESS);
        }
    }
    for (const rank_memory& each : ranks) {
        REQUIRE(cuStreamSynchronize(each.stream) == CUDA_SUCCESS);
        CHECK(each.words->report == 0);
        const std::vector<char> bytes = read(each.output, count * 4);
        std::vector<std::int32_t> sums(count);
        std::memcpy(sums.data(), bytes.data(), bytes.size());
        for (std::size_t i = 0; i < count; ++i)
            REQUIRE(sums[i] == static_cast<std::int32_t>(3 * i + 3000));
    }
}

}  // namespace standin
