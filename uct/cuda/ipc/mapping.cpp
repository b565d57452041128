#include "uct/cuda/ipc/mapping.hpp"

#include <cstring>

#include "ucs/cuda/scoped_context.hpp"

namespace uct::cuda {

using namespace ucs::cuda;

namespace {

opened_mapping refused(const char* call, CUresult outcome) {
    return {nullptr, outcome, std::string(call) + " failed: " + error_text(outcome)};
}

// A mapping by the driver's own handle.
class legacy_mapping final : public mapping {
public:
    legacy_mapping(const driver_functions& driver, primary_context context, int ordinal) noexcept
        : driver_(driver), context_(std::move(context)) {
        memory_.context = context_.handle();
        memory_.device = ordinal;
    }
    ~legacy_mapping() override {
        const scoped_context current(driver_, context_.handle());
        if (is_open_ && current.status() == CUDA_SUCCESS) driver_.cuIpcCloseMemHandle(memory_.base);
    }

    // The primary context is current.
    [[nodiscard]] CUresult open(const CUipcMemHandle& handle) noexcept {
        const CUresult outcome = driver_.cuIpcOpenMemHandle_v2(&memory_.base, handle,
                                                               CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
        is_open_ = outcome == CUDA_SUCCESS;
        return outcome;
    }
    // Asks the driver how much is mapped: the key may lie.
    [[nodiscard]] CUresult measure() noexcept {
        CUdeviceptr begin = 0;
        const CUdeviceptr mapped = memory_.base;
        const CUresult outcome = driver_.cuMemGetAddressRange_v2(&begin, &memory_.length, mapped);
        if (outcome == CUDA_SUCCESS) memory_.length -= mapped - begin;
        return outcome;
    }
    [[nodiscard]] CUcontext context() const noexcept { return context_.handle(); }

private:
    const driver_functions& driver_;
    const primary_context context_;
    bool is_open_ = false;
};

// A mapping of allocations whose descriptors the owner has passed on. They belong to no context.
class imported_mapping final : public mapping {
public:
    imported_mapping(const driver_functions& driver, int ordinal) noexcept : driver_(driver) {
        memory_.device = ordinal;
    }
    ~imported_mapping() override {
        if (mapped_ > 0) driver_.cuMemUnmap(memory_.base, mapped_);
        if (memory_.length > 0) driver_.cuMemAddressFree(memory_.base, memory_.length);
    }

    [[nodiscard]] CUresult reserve(std::size_t length) noexcept {
        const CUresult outcome = driver_.cuMemAddressReserve(&memory_.base, length, 0, 0, 0);
        if (outcome == CUDA_SUCCESS) memory_.length = length;
        return outcome;
    }
    // Maps the next part.
    [[nodiscard]] CUresult map(const imported_part& part) noexcept {
        CUmemGenericAllocationHandle imported{};
        // The driver takes the descriptor itself in place of a pointer.
        const auto descriptor = static_cast<std::intptr_t>(part.descriptor.get());
        CUresult outcome =
            driver_.cuMemImportFromShareableHandle(&imported, reinterpret_cast<void*>(descriptor),
                                                   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
        if (outcome != CUDA_SUCCESS) return outcome;
        // The mapping keeps the memory.
        const allocation_handle held(driver_, imported);
        outcome = driver_.cuMemMap(memory_.base + mapped_, part.length, 0, held.get(), 0);
        if (outcome == CUDA_SUCCESS) mapped_ += part.length;
        return outcome;
    }
    [[nodiscard]] CUresult give_access() noexcept {
        const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, memory_.device},
                                     CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        return driver_.cuMemSetAccess(memory_.base, mapped_, &access, 1);
    }

private:
    const driver_functions& driver_;
    std::size_t mapped_ = 0;
};

}  // namespace

opened_mapping open_legacy(const driver_functions& driver, const ipc_key& key, int ordinal) {
    auto context = primary_context::retain(driver, ordinal);
    if (!context) return {nullptr, CUDA_ERROR_INVALID_DEVICE, "a device has no context"};
    auto made = std::make_unique<legacy_mapping>(driver, std::move(*context), ordinal);
    const scoped_context current(driver, made->context());
    if (current.status() != CUDA_SUCCESS) return refused("cuCtxPushCurrent_v2", current.status());
    CUipcMemHandle handle;
    static_assert(sizeof handle == sizeof key.handle);
    std::memcpy(&handle, key.handle.data(), sizeof handle);
    if (const CUresult outcome = made->open(handle); outcome != CUDA_SUCCESS)
        return refused("cuIpcOpenMemHandle_v2", outcome);
    if (const CUresult outcome = made->measure(); outcome != CUDA_SUCCESS)
        return refused("cuMemGetAddressRange_v2", outcome);
    if (key.base_length > made->memory().length)
        return {nullptr, CUDA_ERROR_INVALID_VALUE, "the key claims more than its handle gives"};
    return {std::move(made), CUDA_SUCCESS, {}};
}

opened_mapping open_parts(const driver_functions& driver, const std::vector<imported_part>& parts,
                          int ordinal) {
    std::size_t length = 0;
    for (const imported_part& each : parts)
        length += each.length;
    auto made = std::make_unique<imported_mapping>(driver, ordinal);
    if (const CUresult outcome = made->reserve(length); outcome != CUDA_SUCCESS)
        return refused("cuMemAddressReserve", outcome);
    for (const imported_part& each : parts) {
        if (const CUresult outcome = made->map(each); outcome != CUDA_SUCCESS)
            return refused("mapping an imported allocation", outcome);
    }
    if (const CUresult outcome = made->give_access(); outcome != CUDA_SUCCESS)
        return refused("cuMemSetAccess", outcome);
    return {std::move(made), CUDA_SUCCESS, {}};
}

}  // namespace uct::cuda
