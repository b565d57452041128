#include <thread>

#include "test/cuda/driver_tests/program.hpp"
#include "test/support/vfs_text.hpp"
#include "test/unit/uct/cuda/support.hpp"
#include "ucs/memory/dmabuf.hpp"

namespace {

using test::address_of;
using test::bytes;
using test::cuda_side;
using test::ending;
using test::memory_block;
using test::pattern;
using test::transfer;

constexpr std::size_t length = 100'000;

struct copying {
    explicit copying(std::initializer_list<test::setting> settings = {})
        : side(uct::cuda_copy_component(), settings), to_self(side.connect(side)) {}
    ucs_status_t put(const memory_block& from, const memory_block& to) {
        return transfer(side, *to_self, false, from, {address_of(to)});
    }
    cuda_side side;
    std::unique_ptr<uct::ep> to_self;
};

// A context of the program.
class own_context {
public:
    own_context() {
        REQUIRE(ucs::cuda::start_driver() != nullptr);
        REQUIRE(standin::cuCtxCreate_v2(&handle_, 0, 0) == ucs::cuda::CUDA_SUCCESS);
        REQUIRE(standin::cuMemAlloc_v2(&memory_, length) == ucs::cuda::CUDA_SUCCESS);
        ucs::cuda::CUcontext popped = nullptr;
        REQUIRE(standin::cuCtxPopCurrent_v2(&popped) == ucs::cuda::CUDA_SUCCESS);
    }
    ~own_context() { destroy(); }
    own_context(const own_context&) = delete;
    own_context& operator=(const own_context&) = delete;

    void destroy() {
        if (handle_ != nullptr) standin::cuCtxDestroy_v2(std::exchange(handle_, nullptr));
    }
    [[nodiscard]] std::uint64_t memory() const { return memory_; }
    [[nodiscard]] ucs::cuda::CUcontext handle() const { return handle_; }

private:
    ucs::cuda::CUcontext handle_ = nullptr;
    ucs::cuda::CUdeviceptr memory_ = 0;
};

}  // namespace

TEST_CASE("a thread that never called CUDA copies memory of several devices") {
    copying both;
    const bytes content = pattern(length, 1);
    for (const int device : {0, 1}) {
        const memory_block host(UCS_MEMORY_TYPE_HOST, content);
        const memory_block near(UCS_MEMORY_TYPE_CUDA, length, device);
        const memory_block far(UCS_MEMORY_TYPE_CUDA, length, 1 - device);
        ucs_status_t status = UCS_INPROGRESS;
        ucs_status_t second = UCS_INPROGRESS;
        std::thread stranger([&] {
            status = both.put(host, near);
            second = both.put(near, far);
        });
        stranger.join();
        CHECK(status == UCS_OK);
        CHECK(second == UCS_OK);
        CHECK(far.holds(content));
    }
}

TEST_CASE("short copies are done when they return, and leave the context of the thread alone") {
    copying both;
    const memory_block device(UCS_MEMORY_TYPE_CUDA, bytes(4096));
    const bytes content = pattern(4096, 2);
    REQUIRE(both.to_self->put_short(content.data(), content.size(), {address_of(device)}) ==
            UCS_OK);
    CHECK(device.holds(content));
    bytes read(4096);
    REQUIRE(both.to_self->get_bcopy(read.data(), read.size(), {address_of(device)}, nullptr) ==
            UCS_OK);
    CHECK(read == content);
    ucs::cuda::CUcontext current = nullptr;
    REQUIRE(standin::cuCtxGetCurrent(&current) == ucs::cuda::CUDA_SUCCESS);
    CHECK(current == nullptr);
}

TEST_CASE("operations beyond the limit find no resource until others end") {
    copying both({{"CUDA_COPY_MAX_EVENTS", "1"}});
    const memory_block host(UCS_MEMORY_TYPE_HOST, length);
    const memory_block device(UCS_MEMORY_TYPE_CUDA, length);
    standin_pause_streams(1);
    ending first;
    ending second;
    const uct::iov piece{host.data(), length};
    REQUIRE(both.to_self->put_zcopy({&piece, 1}, {address_of(device)}, &first) == UCS_INPROGRESS);
    CHECK(both.to_self->put_zcopy({&piece, 1}, {address_of(device)}, &second) ==
          UCS_ERR_NO_RESOURCE);
    CHECK(both.side.iface->has_work());
    CHECK(both.side.iface->arm() == UCS_ERR_BUSY);
    standin_pause_streams(0);
    CHECK(test::result_of(both.side, UCS_INPROGRESS, first) == UCS_OK);
    CHECK(second.calls == 0);
    CHECK(both.side.iface->arm() == UCS_OK);
}

TEST_CASE("closing an endpoint waits for the device and cancels its copies") {
    copying both;
    const bytes content = pattern(length, 3);
    const memory_block host(UCS_MEMORY_TYPE_HOST, content);
    const memory_block device(UCS_MEMORY_TYPE_CUDA, bytes(length));
    ending copied;
    ending flushed;
    const uct::iov piece{host.data(), length};
    REQUIRE(both.to_self->put_zcopy({&piece, 1}, {address_of(device)}, &copied) == UCS_INPROGRESS);
    REQUIRE(both.to_self->flush(&flushed) == UCS_INPROGRESS);
    both.to_self.reset();
    CHECK(copied.calls == 1);
    CHECK(copied.status == UCS_ERR_CANCELED);
    CHECK(flushed.calls == 1);
    CHECK(device.holds(content));
    both.side.progress();
    CHECK(copied.calls == 1);
}

TEST_CASE("a context that the program destroys fails its copies, and nothing else") {
    copying both;
    const memory_block host(UCS_MEMORY_TYPE_HOST, pattern(length, 4));
    const memory_block device(UCS_MEMORY_TYPE_CUDA, bytes(length));
    REQUIRE(both.put(host, device) == UCS_OK);
    const uct::iov piece{host.data(), length};
    for (unsigned round = 0; round < 3; ++round) {
        own_context doomed;
        ending lost;
        REQUIRE(both.to_self->put_zcopy({&piece, 1}, {doomed.memory()}, &lost) == UCS_INPROGRESS);
        doomed.destroy();
        const test::log_capture log;
        CHECK(test::result_of(both.side, UCS_INPROGRESS, lost) == UCS_ERR_INVALID_ADDR);
        CHECK(log.count("context is destroyed") == 1);
        CHECK(log.size() == 1);
        CHECK(both.put(host, device) == UCS_OK);
    }
    // A context with copies that have ended may go, too, and its handle may be used again.
    for (unsigned round = 0; round < 3; ++round) {
        own_context doomed;
        ending ended;
        const ucs_status_t started =
            both.to_self->put_zcopy({&piece, 1}, {doomed.memory()}, &ended);
        CHECK(test::result_of(both.side, started, ended) == UCS_OK);
        CHECK(both.to_self->put_short(host.data(), 8, {doomed.memory()}) == UCS_OK);
    }
}

TEST_CASE("a device that fails ends the copies of its context") {
    copying both;
    const memory_block host(UCS_MEMORY_TYPE_HOST, pattern(length, 5));
    own_context broken;
    const test::log_capture log;
    ending lost;
    const uct::iov piece{host.data(), length};
    standin_fail("operation", 1, ucs::cuda::CUDA_ERROR_LAUNCH_FAILED);
    // The device may fail within the call.
    const ucs_status_t started = both.to_self->put_zcopy({&piece, 1}, {broken.memory()}, &lost);
    CHECK(test::result_of(both.side, started, lost) == UCS_ERR_IO_ERROR);
    CHECK(log.size() == 1);
    standin_clear_faults();
}

TEST_CASE("memory that belongs to no context is copied in the primary context of its device") {
    copying both;
    const bytes content = pattern(length, 6);
    const memory_block host(UCS_MEMORY_TYPE_HOST, content);
    const memory_block keeper(UCS_MEMORY_TYPE_CUDA, 1);
    const ucs::cuda::driver_functions& driver = *ucs::cuda::start_driver();
    ucs::cuda::CUdeviceptr pooled = 0;
    {
        const ucs::cuda::scoped_context current(driver, keeper.context());
        REQUIRE(driver.cuMemAllocAsync(&pooled, length, nullptr) == ucs::cuda::CUDA_SUCCESS);
        REQUIRE(driver.cuStreamSynchronize(nullptr) == ucs::cuda::CUDA_SUCCESS);
    }
    const uct::iov piece{host.data(), length};
    ending done;
    const ucs_status_t started = both.to_self->put_zcopy({&piece, 1}, {pooled}, &done);
    CHECK(test::result_of(both.side, started, done) == UCS_OK);
    const memory_block read(UCS_MEMORY_TYPE_HOST, length);
    CHECK(transfer(both.side, *both.to_self, true, read, {pooled}) == UCS_OK);
    CHECK(read.holds(content));
    const ucs::cuda::scoped_context current(driver, keeper.context());
    CHECK(driver.cuMemFreeAsync(pooled, nullptr) == ucs::cuda::CUDA_SUCCESS);
    CHECK(driver.cuStreamSynchronize(nullptr) == ucs::cuda::CUDA_SUCCESS);
}

namespace {

// Copies of all kinds over a new interface. Those that succeed must have copied.
void copy_everything(const memory_block& device, const memory_block& other, unsigned seed) {
    const bytes content = pattern(length, seed);
    const memory_block host(UCS_MEMORY_TYPE_HOST, content);
    const memory_block back(UCS_MEMORY_TYPE_HOST, length);
    copying both;
    const ucs_status_t up = both.put(host, device);
    const ucs_status_t across = both.put(device, other);
    const ucs_status_t down = both.put(other, back);
    if (up == UCS_OK && across == UCS_OK && down == UCS_OK) CHECK(back.holds(content));
    const std::uint64_t word = seed;
    std::uint64_t read = 0;
    const ucs_status_t wrote = both.to_self->put_short(&word, sizeof word, {address_of(device)});
    const ucs_status_t got =
        both.to_self->get_bcopy(&read, sizeof read, {address_of(device)}, nullptr);
    if (wrote == UCS_OK && got == UCS_OK) CHECK(read == word);
}

// The driver keeps what it refuses to destroy.
bool is_needed_to_destroy(std::string_view function) {
    return function == "cuStreamDestroy_v2" || function == "cuEventDestroy_v2" ||
           function == "cuMemFreeHost" || function == "cuCtxPushCurrent_v2" ||
           function == "cuCtxGetCurrent";
}

}  // namespace

TEST_CASE("a call of the driver that fails ends its operation, and leaves nothing behind") {
    const memory_block device(UCS_MEMORY_TYPE_CUDA, length, 0);
    const memory_block other(UCS_MEMORY_TYPE_CUDA, length, 1);
    copy_everything(device, other, 0);
    for (const char* function :
         {"cuPointerGetAttributes", "cuPointerGetAttribute", "cuCtxGetId", "cuCtxGetCurrent",
          "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuStreamCreate", "cuStreamDestroy_v2",
          "cuStreamSynchronize", "cuEventCreate", "cuEventRecord", "cuEventQuery",
          "cuEventDestroy_v2", "cuMemcpyAsync", "cuMemHostAlloc", "cuMemFreeHost"}) {
        for (const int error :
             {ucs::cuda::CUDA_ERROR_OUT_OF_MEMORY, ucs::cuda::CUDA_ERROR_LAUNCH_FAILED}) {
            for (unsigned nth = 1;; ++nth) {
                CAPTURE(function, error, nth);
                const std::size_t before = test::live_objects();
                const test::log_capture log;
                standin_reset_calls();
                standin_fail(function, nth, error);
                copy_everything(device, other, nth);
                const bool was_reached = standin_calls(function) >= nth;
                standin_clear_faults();
                if (!is_needed_to_destroy(function)) CHECK(test::live_objects() == before);
                ucs::cuda::CUcontext left = nullptr;
                while (standin::cuCtxGetCurrent(&left) == ucs::cuda::CUDA_SUCCESS &&
                       left != nullptr)
                    standin::cuCtxPopCurrent_v2(&left);
                if (!was_reached) break;
            }
        }
    }
    copy_everything(device, other, 1);
}

TEST_CASE("program that opens interfaces without device memory", "[.program]") {
    cuda_side copies(uct::cuda_copy_component());
    cuda_side peers(uct::cuda_ipc_component());
    const auto to_self = copies.connect(copies);
    const bytes content = pattern(1000, 1);
    bytes read(1000);
    const uct::iov piece{read.data(), read.size()};
    ending done;
    CHECK(to_self->get_zcopy({&piece, 1}, {reinterpret_cast<std::uint64_t>(content.data())},
                             &done) == UCS_OK);
    CHECK(read == content);
    CHECK(peers.iface->domain()->share(read, uct::memory_access::read).status() ==
          UCS_ERR_UNSUPPORTED);
    copies.progress();
    peers.progress();
    CHECK(standin_calls("cuInit") == 0);
    CHECK(standin_live(nullptr) == 0);
}

TEST_CASE("open interfaces do not initialize the driver") {
    CHECK(standin::run("program that opens interfaces without device memory").status == 0);
}

TEST_CASE("program that exports a dma-buf", "[.program]") {
    const cuda_side copies(uct::cuda_copy_component());
    const memory_block device(UCS_MEMORY_TYPE_CUDA, pattern(10'000, 7));
    const auto found = ucs::memory::find_dmabuf(device.data() + 5000, 100);
    REQUIRE(found);
    CHECK(found->descriptor);
    CHECK(found->offset == (address_of(device) + 5000) % 4096);
    const memory_block managed(UCS_MEMORY_TYPE_CUDA_MANAGED, 100);
    CHECK_FALSE(ucs::memory::find_dmabuf(managed.data(), 100));
    const bytes host(100);
    CHECK_FALSE(ucs::memory::find_dmabuf(host.data(), 100));
    standin_fail("cuMemGetHandleForAddressRange", 1, ucs::cuda::CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_FALSE(ucs::memory::find_dmabuf(device.data(), 100));
    CHECK(ucs::memory::find_dmabuf(device.data(), 100));
}

TEST_CASE("device memory has a dma-buf") {
    CHECK(standin::run("program that exports a dma-buf", {"STANDIN_DMA_BUF=1"}).status == 0);
}

TEST_CASE("program with an old driver", "[.program]") {
    const bytes content = pattern(length, 8);
    const memory_block host(UCS_MEMORY_TYPE_HOST, content);
    const memory_block device(UCS_MEMORY_TYPE_CUDA, bytes(length));
    copying both;
    CHECK(both.put(host, device) == UCS_OK);
    CHECK(device.holds(content));
    own_context doomed;
    const uct::iov piece{host.data(), length};
    ending lost;
    REQUIRE(both.to_self->put_zcopy({&piece, 1}, {doomed.memory()}, &lost) == UCS_INPROGRESS);
    doomed.destroy();
    const test::log_capture log;
    CHECK(test::result_of(both.side, UCS_INPROGRESS, lost) == UCS_ERR_INVALID_ADDR);
    CHECK(log.size() == 1);
}

TEST_CASE("drivers that do not number contexts are served") {
    const auto ended = standin::run("program with an old driver", {"STANDIN_VERSION=11040"});
    INFO(ended.output);
    CHECK(ended.status == 0);
}

TEST_CASE("streams show how much they have copied") {
    copying both;
    const memory_block host(UCS_MEMORY_TYPE_HOST, length);
    const memory_block device(UCS_MEMORY_TYPE_CUDA, length);
    REQUIRE(both.put(host, device) == UCS_OK);
    REQUIRE(both.put(host, device) == UCS_OK);
    const uct::iface& shown = *both.side.iface;
    const std::string stream = "copies/context_0/streams/host_to_device/";
    CHECK(test::vfs_text(shown, stream + "copies") == "2");
    CHECK(test::vfs_text(shown, stream + "bytes") == std::to_string(2 * length));
    CHECK(test::vfs_text(shown, "copies/context_0/events_in_flight") == "0");
    CHECK(test::vfs_text(shown, "copies/in_flight") == "0");
}

TEST_CASE("closing an endpoint survives calls of the driver that fail") {
    const bytes content = pattern(length, 9);
    const memory_block host(UCS_MEMORY_TYPE_HOST, content);
    memory_block device(UCS_MEMORY_TYPE_CUDA, bytes(length));
    for (const char* function :
         {"cuEventSynchronize", "cuStreamSynchronize", "cuCtxGetId", "cuPointerSetAttribute"}) {
        for (unsigned nth = 1; nth <= 3; ++nth) {
            CAPTURE(function, nth);
            const std::size_t before = test::live_objects();
            device.write(bytes(length));
            copying both;
            ending copied;
            const uct::iov piece{host.data(), length};
            REQUIRE(both.to_self->put_zcopy({&piece, 1}, {address_of(device)}, &copied) ==
                    UCS_INPROGRESS);
            const test::log_capture log;
            standin_fail(function, nth, ucs::cuda::CUDA_ERROR_OUT_OF_MEMORY);
            both.to_self.reset();
            standin_clear_faults();
            CHECK(copied.calls == 1);
            CHECK(copied.status == UCS_ERR_CANCELED);
            CHECK(device.holds(content));
            both.side.iface.reset();
            CHECK(test::live_objects() == before);
        }
    }
}

TEST_CASE("memory without a context survives that its device has none to offer") {
    const memory_block host(UCS_MEMORY_TYPE_HOST, bytes(length));
    const memory_block keeper(UCS_MEMORY_TYPE_CUDA, 1);
    const ucs::cuda::driver_functions& driver = *ucs::cuda::start_driver();
    ucs::cuda::CUdeviceptr pooled = 0;
    {
        const ucs::cuda::scoped_context current(driver, keeper.context());
        REQUIRE(driver.cuMemAllocAsync(&pooled, length, nullptr) == ucs::cuda::CUDA_SUCCESS);
        REQUIRE(driver.cuStreamSynchronize(nullptr) == ucs::cuda::CUDA_SUCCESS);
    }
    {
        copying both;
        const uct::iov piece{host.data(), length};
        for (const char* function : {"cuDeviceGet", "cuDevicePrimaryCtxRetain"}) {
            const test::log_capture log;
            standin_fail(function, 1, ucs::cuda::CUDA_ERROR_OUT_OF_MEMORY);
            ending lost;
            CHECK(both.to_self->put_zcopy({&piece, 1}, {pooled}, &lost) == UCS_ERR_NO_MEMORY);
            CHECK(log.size() == 1);
            standin_clear_faults();
        }
        ending done;
        const ucs_status_t started = both.to_self->put_zcopy({&piece, 1}, {pooled}, &done);
        CHECK(test::result_of(both.side, started, done) == UCS_OK);
    }
    const ucs::cuda::scoped_context current(driver, keeper.context());
    CHECK(driver.cuMemFreeAsync(pooled, nullptr) == ucs::cuda::CUDA_SUCCESS);
    CHECK(driver.cuStreamSynchronize(nullptr) == ucs::cuda::CUDA_SUCCESS);
}

TEST_CASE("copies of known memory take few calls of the driver") {
    copying both;
    const memory_block device(UCS_MEMORY_TYPE_CUDA, length);
    const memory_block other(UCS_MEMORY_TYPE_CUDA, length);
    REQUIRE(both.put(device, other) == UCS_OK);
    REQUIRE(both.put(other, device) == UCS_OK);
    CHECK(test::calls_to_start(both.side, *both.to_self, device, {address_of(other)}) == 8);
    std::uint64_t word = 1;
    REQUIRE(both.to_self->put_short(&word, sizeof word, {address_of(device)}) == UCS_OK);
    standin_reset_calls();
    REQUIRE(both.to_self->put_short(&word, sizeof word, {address_of(device)}) == UCS_OK);
    // One more asks about the page of `word`, if it was forgotten.
    CHECK(standin_calls(nullptr) <= 8);
}
