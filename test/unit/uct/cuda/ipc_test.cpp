#include "test/cuda/driver_tests/program.hpp"
#include "test/unit/uct/cuda/support.hpp"
#include "uct/cuda/base/address.hpp"
#include "uct/cuda/ipc/domain.hpp"

namespace {

using test::bytes;
using test::cuda_side;
using test::memory_block;
using test::pattern;
using test::transfer;

constexpr std::size_t length = 100'000;
constexpr std::size_t page = std::size_t{2} << 20U;

enum class memory_form : int { allocation, two_parts, pool };

// Device memory of this process that a peer accesses.
class owned_memory {
public:
    owned_memory(memory_form form, int device)
        : form_(form), keeper_(UCS_MEMORY_TYPE_CUDA, 1, device) {
        const ucs::cuda::scoped_context current(driver(), keeper_.context());
        switch (form) {
            case memory_form::allocation:
                require(driver().cuMemAlloc_v2(&address_, length));
                break;
            case memory_form::two_parts:
                map_two_parts(device);
                break;
            case memory_form::pool:
                require(driver().cuMemAllocAsync(&address_, length, nullptr));
                require(driver().cuStreamSynchronize(nullptr));
                break;
        }
    }
    ~owned_memory() {
        const ucs::cuda::scoped_context current(driver(), keeper_.context());
        switch (form_) {
            case memory_form::allocation:
                driver().cuMemFree_v2(address_);
                break;
            case memory_form::two_parts:
                driver().cuMemUnmap(base_, 2 * page);
                driver().cuMemAddressFree(base_, 2 * page);
                break;
            case memory_form::pool:
                driver().cuMemFreeAsync(address_, nullptr);
                driver().cuStreamSynchronize(nullptr);
                break;
        }
    }
    owned_memory(const owned_memory&) = delete;
    owned_memory& operator=(const owned_memory&) = delete;

    [[nodiscard]] std::span<std::byte> span() const {
        return {reinterpret_cast<std::byte*>(address_), length};
    }
    void write(const bytes& content) const {
        const ucs::cuda::scoped_context current(driver(), keeper_.context());
        require(driver().cuMemcpyAsync(address_,
                                       reinterpret_cast<ucs::cuda::CUdeviceptr>(content.data()),
                                       content.size(), nullptr));
        require(driver().cuStreamSynchronize(nullptr));
    }
    [[nodiscard]] bytes read() const {
        bytes content(length);
        const ucs::cuda::scoped_context current(driver(), keeper_.context());
        require(driver().cuMemcpyAsync(reinterpret_cast<ucs::cuda::CUdeviceptr>(content.data()),
                                       address_, length, nullptr));
        require(driver().cuStreamSynchronize(nullptr));
        return content;
    }

private:
    static const ucs::cuda::driver_functions& driver() { return *ucs::cuda::start_driver(); }
    static void require(ucs::cuda::CUresult outcome) {
        REQUIRE(outcome == ucs::cuda::CUDA_SUCCESS);
    }

    // The memory lies in both allocations.
    void map_two_parts(int device) {
        ucs::cuda::CUmemAllocationProp properties{};
        properties.type = ucs::cuda::CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.requestedHandleTypes = ucs::cuda::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        properties.location = {ucs::cuda::CU_MEM_LOCATION_TYPE_DEVICE, device};
        require(driver().cuMemAddressReserve(&base_, 2 * page, 0, 0, 0));
        for (const std::size_t offset : {std::size_t{0}, page}) {
            ucs::cuda::CUmemGenericAllocationHandle handle{};
            require(driver().cuMemCreate(&handle, page, &properties, 0));
            require(driver().cuMemMap(base_ + offset, page, 0, handle, 0));
            require(driver().cuMemRelease(handle));
        }
        const ucs::cuda::CUmemAccessDesc access{properties.location,
                                                ucs::cuda::CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        require(driver().cuMemSetAccess(base_, 2 * page, &access, 1));
        address_ = base_ + page - length / 2;
    }

    const memory_form form_;
    const memory_block keeper_;  // keeps the primary context
    ucs::cuda::CUdeviceptr base_ = 0;
    ucs::cuda::CUdeviceptr address_ = 0;
};

// A request of the test to the peer.
struct command {
    enum class kind : int { share, read, end } task = kind::end;
    memory_form form = memory_form::allocation;
    int device = 0;
    unsigned seed = 0;
    uct::memory_access allowed = uct::memory_access::change;
};

struct shared_answer {
    ucs_status_t status = UCS_OK;
    std::uint64_t address = 0;
    std::array<std::byte, uct::cuda::ipc_key::size> key{};
    std::array<std::byte, sizeof(uct::cuda::process_address)> place{};
};

// Another process, which shares one block of device memory at a time. The previous one is freed
// before.
class peer {
public:
    explicit peer(const std::vector<std::string>& variables = {})
        : process_("peer with device memory", variables) {}

    shared_answer share(unsigned seed, memory_form form = memory_form::allocation, int device = 0,
                        uct::memory_access allowed = uct::memory_access::change) {
        standin::send(process_.channel(),
                      command{command::kind::share, form, device, seed, allowed});
        return standin::receive<shared_answer>(process_.channel());
    }
    // Returns whether the memory has the pattern.
    bool holds(unsigned seed) {
        standin::send(process_.channel(), command{command::kind::read, memory_form::allocation, 0,
                                                  seed, uct::memory_access::read});
        return standin::receive<bool>(process_.channel());
    }
    int end() {
        standin::send(process_.channel(), command{});
        return process_.wait().status;
    }
    void kill() { process_.kill(); }

private:
    standin::program process_;
};

// This process, as it accesses memory of a peer.
struct user {
    explicit user(std::initializer_list<test::setting> settings = {})
        : side(uct::cuda_ipc_component(), settings) {}

    ucs::result<std::unique_ptr<uct::remote_memory>> attach(
        std::span<const std::byte> key,
        uct::memory_access wanted = uct::memory_access::change) const {
        return side.iface->domain()->attach(key, wanted);
    }
    std::unique_ptr<uct::ep> connect(const shared_answer& answer) {
        return side.connect(bytes(answer.place.begin(), answer.place.end()));
    }
    // Copies all of the peer's memory, and returns the status of the first step that fails.
    ucs_status_t copy(const shared_answer& answer, bool is_get, const memory_block& local) {
        const auto via = connect(answer);
        auto region = attach(answer.key);
        if (!region) return region.status();
        return transfer(side, *via, is_get, local, {answer.address, region->get()});
    }

    cuda_side side;
};

}  // namespace

TEST_CASE("peer with device memory", "[.program]") {
    const cuda_side side(uct::cuda_ipc_component());
    std::unique_ptr<owned_memory> memory;
    uct::shared_memory shared;
    for (;;) {
        const auto asked = standin::receive<command>(standin::own_channel());
        if (asked.task == command::kind::end) break;
        if (asked.task == command::kind::read) {
            standin::send(standin::own_channel(), memory->read() == pattern(length, asked.seed));
            continue;
        }
        shared = {};
        memory.reset();
        memory = std::make_unique<owned_memory>(asked.form, asked.device);
        memory->write(pattern(length, asked.seed));
        shared_answer answer;
        answer.address = reinterpret_cast<std::uint64_t>(memory->span().data());
        side.iface->pack_address(answer.place);
        const test::log_capture log;
        auto made = side.iface->domain()->share(memory->span(), asked.allowed);
        answer.status = made.status();
        CHECK(log.size() == 0);
        if (made) {
            shared = std::move(*made);
            REQUIRE(shared.key.size() == answer.key.size());
            std::copy(shared.key.begin(), shared.key.end(), answer.key.begin());
        }
        standin::send(standin::own_channel(), answer);
    }
}

TEST_CASE("device memory of another process is read and written") {
    const memory_block used(UCS_MEMORY_TYPE_CUDA, 1);
    peer other;
    user own;
    for (const memory_form form : {memory_form::allocation, memory_form::two_parts}) {
        for (const auto kind :
             {UCS_MEMORY_TYPE_HOST, UCS_MEMORY_TYPE_CUDA, UCS_MEMORY_TYPE_CUDA_MANAGED}) {
            CAPTURE(static_cast<int>(form), static_cast<int>(kind));
            const shared_answer answer = other.share(1, form);
            REQUIRE(answer.status == UCS_OK);
            const memory_block local(kind, bytes(length));
            CHECK(own.copy(answer, true, local) == UCS_OK);
            CHECK(local.holds(pattern(length, 1)));
            const memory_block next(kind, pattern(length, 2));
            CHECK(own.copy(answer, false, next) == UCS_OK);
            CHECK(other.holds(2));
        }
    }
    CHECK(other.end() == 0);
}

TEST_CASE("copies over a kept mapping take few calls of the driver") {
    const memory_block local(UCS_MEMORY_TYPE_CUDA, bytes(length));
    peer other;
    user own;
    const shared_answer answer = other.share(1);
    const auto via = own.connect(answer);
    REQUIRE(own.copy(answer, true, local) == UCS_OK);
    standin_reset_calls();
    const auto region = own.attach(answer.key);
    REQUIRE(region);
    CHECK(standin_calls(nullptr) == 1);
    CHECK(test::calls_to_start(own.side, *via, local, {answer.address, region->get()}) == 7);
    CHECK(other.end() == 0);
}

TEST_CASE("memory of pools is not shared, and nothing is logged") {
    peer other;
    CHECK(other.share(1, memory_form::pool).status == UCS_ERR_UNSUPPORTED);
    CHECK(other.end() == 0);
}

TEST_CASE("memory that the owner has freed and allocated again is mapped again") {
    const memory_block used(UCS_MEMORY_TYPE_CUDA, 1);
    peer other;
    user own;
    const memory_block local(UCS_MEMORY_TYPE_CUDA, bytes(length));
    for (unsigned round = 0; round < 6; ++round) {
        const auto form = round % 3 == 2 ? memory_form::two_parts : memory_form::allocation;
        const shared_answer answer = other.share(round, form);
        CHECK(own.copy(answer, true, local) == UCS_OK);
        CHECK(local.holds(pattern(length, round)));
    }
    CHECK(other.end() == 0);
}

TEST_CASE("operations beyond the range or the rights of a key are refused") {
    const memory_block used(UCS_MEMORY_TYPE_CUDA, 1);
    peer other;
    user own;
    const shared_answer answer =
        other.share(1, memory_form::allocation, 0, uct::memory_access::read);
    const auto via = own.connect(answer);
    const auto region = own.attach(answer.key);
    REQUIRE(region);
    const memory_block local(UCS_MEMORY_TYPE_HOST, bytes(length));
    const test::log_capture log;
    CHECK(transfer(own.side, *via, false, local, {answer.address, region->get()}) ==
          UCS_ERR_REJECTED);
    for (const std::uint64_t offset :
         {std::uint64_t{1}, std::uint64_t{0} - 1, std::uint64_t{length}})
        CHECK(transfer(own.side, *via, true, local, {answer.address + offset, region->get()}) ==
              UCS_ERR_INVALID_ADDR);
    CHECK(log.size() == 4);
    CHECK(transfer(own.side, *via, true, local, {answer.address, region->get()}) == UCS_OK);
    CHECK(other.end() == 0);
}

TEST_CASE("forged keys give an error or access to their own range, and do no harm") {
    const memory_block used(UCS_MEMORY_TYPE_CUDA, 1);
    peer other;
    user own;
    for (const memory_form form : {memory_form::allocation, memory_form::two_parts}) {
        const shared_answer answer = other.share(1, form);
        const auto via = own.connect(answer);
        const memory_block local(UCS_MEMORY_TYPE_HOST, bytes(length));
        const test::log_capture log;
        for (std::size_t size = 0; size < answer.key.size(); ++size)
            CHECK(own.attach(std::span(answer.key).first(size)).status() == UCS_ERR_INVALID_PARAM);
        for (std::size_t i = 0; i < answer.key.size(); ++i) {
            for (const unsigned flipped : {0x01U, 0x80U}) {
                auto forged = answer.key;
                forged[i] ^= static_cast<std::byte>(flipped);
                CAPTURE(i, flipped);
                const auto region = own.attach(forged);
                if (!region) {
                    CHECK((region.status() == UCS_ERR_INVALID_PARAM ||
                           region.status() == UCS_ERR_UNREACHABLE));
                    continue;
                }
                const ucs_status_t status =
                    transfer(own.side, *via, true, local, {answer.address, region->get()});
                CHECK((status == UCS_OK || status == UCS_ERR_INVALID_ADDR));
            }
        }
        CHECK(own.copy(answer, true, local) == UCS_OK);
        CHECK(local.holds(pattern(length, 1)));
    }
    CHECK(other.end() == 0);
}

TEST_CASE("a key with the number of this process gives access to its own allocation alone") {
    user own;
    const memory_block block(UCS_MEMORY_TYPE_CUDA, pattern(length, 3));
    const memory_block other(UCS_MEMORY_TYPE_CUDA, length);
    const auto shared = own.side.iface->domain()->share(block.span(), uct::memory_access::change);
    REQUIRE(shared);
    CHECK(own.attach(shared->key));
    auto forged = *uct::cuda::ipc_key::parse(shared->key);
    const bytes host(length);
    const test::log_capture log;
    for (const void* place :
         {static_cast<const void*>(host.data()), static_cast<const void*>(other.data())}) {
        forged.base = reinterpret_cast<std::uint64_t>(place);
        CHECK(own.attach(forged.pack()).status() == UCS_ERR_UNREACHABLE);
        forged.type = uct::cuda::ipc_key::kind::exported;
        CHECK(own.attach(forged.pack()).status() == UCS_ERR_UNREACHABLE);
        forged.type = uct::cuda::ipc_key::kind::legacy;
    }
}

TEST_CASE("mapped memory survives its owner, and goes with the last endpoint") {
    const memory_block used(UCS_MEMORY_TYPE_CUDA, 1);
    for (const memory_form form : {memory_form::allocation, memory_form::two_parts}) {
        user own;
        peer other;
        const memory_block local(UCS_MEMORY_TYPE_HOST, bytes(length));
        const shared_answer answer = other.share(5, form);
        auto via = own.connect(answer);
        auto region = own.attach(answer.key);
        REQUIRE(region);
        other.kill();
        CHECK(transfer(own.side, *via, true, local, {answer.address, region->get()}) == UCS_OK);
        CHECK(local.holds(pattern(length, 5)));
        *region = nullptr;
        CHECK(standin_live("imported memory") + standin_live("mapping") > 0);
        via.reset();
        CHECK(standin_live("imported memory") + standin_live("mapping") == 0);
        const test::log_capture log;
        CHECK(own.attach(answer.key).status() == UCS_ERR_UNREACHABLE);
    }
}

TEST_CASE("no more mappings are kept than allowed") {
    const memory_block used(UCS_MEMORY_TYPE_CUDA, 1);
    user few({{"CUDA_IPC_CACHE_MAX_REGIONS", "2"}});
    user none({{"CUDA_IPC_CACHE", "n"}});
    std::vector<std::unique_ptr<peer>> peers;
    std::vector<std::unique_ptr<uct::ep>> kept;
    const memory_block local(UCS_MEMORY_TYPE_HOST, bytes(length));
    for (unsigned i = 0; i < 4; ++i) {
        peers.push_back(std::make_unique<peer>());
        const shared_answer answer = peers.back()->share(i);
        kept.push_back(few.connect(answer));
        CHECK(few.copy(answer, true, local) == UCS_OK);
        CHECK(local.holds(pattern(length, i)));
        CHECK(standin_live("imported memory") <= 2);
    }
    kept.clear();
    CHECK(standin_live("imported memory") == 0);
    const shared_answer answer = peers.front()->share(9);
    kept.push_back(none.connect(answer));
    CHECK(none.copy(answer, true, local) == UCS_OK);
    CHECK(standin_live("imported memory") == 0);
}

TEST_CASE("program that copies from every device of a peer", "[.program]") {
    const int count = std::stoi(std::getenv("STANDIN_DEVICES"));
    const memory_block used(UCS_MEMORY_TYPE_CUDA, 1);
    peer other;
    user own;
    for (int device = 0; device < count; ++device) {
        for (const memory_form form : {memory_form::allocation, memory_form::two_parts}) {
            CAPTURE(device, static_cast<int>(form));
            const shared_answer answer = other.share(7, form, device);
            for (int local_device = 0; local_device < count; ++local_device) {
                const memory_block local(UCS_MEMORY_TYPE_CUDA, bytes(length), local_device);
                CHECK(own.copy(answer, true, local) == UCS_OK);
                CHECK(local.holds(pattern(length, 7)));
            }
        }
    }
    CHECK(other.end() == 0);
}

TEST_CASE("every device of a peer can be accessed") {
    for (const char* variable : {"STANDIN_DEVICES=1", "STANDIN_DEVICES=2", "STANDIN_DEVICES=4"}) {
        const auto ended = standin::run("program that copies from every device of a peer",
                                        {variable, "STANDIN_LEAKS=fatal"});
        INFO(ended.output);
        CHECK(ended.status == 0);
    }
}

TEST_CASE("program that does not see the device of its peer", "[.program]") {
    const memory_block used(UCS_MEMORY_TYPE_CUDA, 1);
    peer other({"CUDA_VISIBLE_DEVICES=1"});
    user own;
    const memory_block local(UCS_MEMORY_TYPE_HOST, bytes(length));
    for (const memory_form form : {memory_form::allocation, memory_form::two_parts})
        CHECK(own.copy(other.share(8, form), true, local) == UCS_ERR_UNREACHABLE);
    CHECK(other.end() == 0);
}

TEST_CASE("memory of a device that this process does not see is unreachable") {
    const auto ended =
        standin::run("program that does not see the device of its peer",
                     {"STANDIN_DEVICES=2", "CUDA_VISIBLE_DEVICES=0", "UCX_LOG_LEVEL=diag"});
    INFO(ended.output);
    CHECK(ended.status == 0);
    CHECK(ended.output.find("of a peer cannot be accessed") != std::string::npos);
}

TEST_CASE("program whose device cannot access that of its peer", "[.program]") {
    const memory_block used(UCS_MEMORY_TYPE_CUDA, 1, 0);
    peer other;
    user own;
    const memory_block local(UCS_MEMORY_TYPE_HOST, bytes(length));
    for (const memory_form form : {memory_form::allocation, memory_form::two_parts}) {
        CHECK(own.copy(other.share(8, form, 1), true, local) == UCS_OK);
        CHECK(local.holds(pattern(length, 8)));
    }
    CHECK(other.end() == 0);
}

TEST_CASE("memory of a device without peer access is copied by that device") {
    const auto ended = standin::run("program whose device cannot access that of its peer",
                                    {"STANDIN_DEVICES=2", "STANDIN_NO_PEER=0-1"});
    INFO(ended.output);
    CHECK(ended.status == 0);
}

TEST_CASE("program that does not use CUDA", "[.program]") {
    peer other;
    user own;
    const shared_answer answer = other.share(1);
    CHECK(own.attach(answer.key).status() == UCS_ERR_UNREACHABLE);
    CHECK(standin_calls("cuInit") == 0);
    CHECK(other.end() == 0);
}

TEST_CASE("a process that does not use CUDA cannot access device memory") {
    CHECK(standin::run("program that does not use CUDA").status == 0);
}

TEST_CASE("a call of the driver that fails in the importing process leaves nothing behind") {
    const memory_block used(UCS_MEMORY_TYPE_CUDA, 1);
    peer other;
    memory_block local(UCS_MEMORY_TYPE_CUDA, bytes(length));
    for (const memory_form form : {memory_form::allocation, memory_form::two_parts}) {
        const shared_answer answer = other.share(4, form);
        const auto use_all = [&] {
            user own;
            return own.copy(answer, true, local);
        };
        REQUIRE(use_all() == UCS_OK);
        const std::size_t before = test::live_objects();
        for (const char* function :
             {"cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetUuid",
              "cuDeviceGetAttribute", "cuDeviceTotalMem_v2", "cuDeviceCanAccessPeer",
              "cuDevicePrimaryCtxGetState", "cuDevicePrimaryCtxRetain", "cuIpcOpenMemHandle_v2",
              "cuMemGetAddressRange_v2", "cuMemImportFromShareableHandle", "cuMemAddressReserve",
              "cuMemMap", "cuMemSetAccess", "cuMemcpyAsync", "cuEventRecord", "cuStreamCreate"}) {
            for (unsigned nth = 1;; ++nth) {
                CAPTURE(function, nth, static_cast<int>(form));
                const test::log_capture log;
                local.write(bytes(length));
                standin_reset_calls();
                standin_fail(function, nth, ucs::cuda::CUDA_ERROR_OUT_OF_MEMORY);
                const ucs_status_t status = use_all();
                const bool was_reached = standin_calls(function) >= nth;
                standin_clear_faults();
                if (status == UCS_OK) CHECK(local.holds(pattern(length, 4)));
                CHECK(test::live_objects() == before);
                if (!was_reached) break;
            }
        }
        CHECK(use_all() == UCS_OK);
    }
    CHECK(other.end() == 0);
}

TEST_CASE("a call of the driver that fails while memory is shared leaves nothing behind") {
    for (const memory_form form : {memory_form::allocation, memory_form::two_parts}) {
        const owned_memory memory(form, 0);
        const std::size_t before = test::live_objects();
        for (const char* function :
             {"cuPointerGetAttributes", "cuIpcGetMemHandle", "cuMemRetainAllocationHandle",
              "cuDeviceGet", "cuDeviceGetUuid", "cuPointerSetAttribute"}) {
            for (unsigned nth = 1;; ++nth) {
                CAPTURE(function, nth, static_cast<int>(form));
                const test::log_capture log;
                standin_reset_calls();
                standin_fail(function, nth, ucs::cuda::CUDA_ERROR_OUT_OF_MEMORY);
                {
                    const user own;
                    const auto shared =
                        own.side.iface->domain()->share(memory.span(), uct::memory_access::change);
                    CHECK((shared || shared.status() < 0));
                }
                const bool was_reached = standin_calls(function) >= nth;
                standin_clear_faults();
                CHECK(test::live_objects() == before);
                if (!was_reached) break;
            }
        }
    }
}
