// Memory of any kind for tests, with functions to fill and to read it.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

#include "ucs/cuda/context.hpp"
#include "ucs/cuda/scoped_context.hpp"
#include "ucs/memory/memory_type.h"

namespace test {

// Owns memory of the host, of a CUDA device, or managed by CUDA. Device memory needs a driver with
// a device (start_driver() in ucs/cuda/driver.hpp). It belongs to the primary context of its
// device, as the memory of programs does. Throws if the driver refuses.
class memory_block {
public:
    memory_block(ucs_memory_type_t kind, std::size_t length, int device = 0) : length_(length) {
        if (kind == UCS_MEMORY_TYPE_HOST) {
            host_.resize(length);
            address_ = host_.data();
            return;
        }
        const ucs::cuda::driver_functions* const driver = ucs::cuda::start_driver();
        if (driver == nullptr) throw std::runtime_error(ucs::cuda::why_no_driver());
        auto context = ucs::cuda::primary_context::retain(*driver, device);
        if (!context) throw std::runtime_error("a device has no context");
        context_ = std::move(*context);
        const ucs::cuda::scoped_context current(*driver, context_.handle());
        ucs::cuda::CUdeviceptr made = 0;
        // The driver refuses to allocate nothing.
        const std::size_t room = length + 1;
        const bool is_managed = kind == UCS_MEMORY_TYPE_CUDA_MANAGED;
        require(is_managed ? driver->cuMemAllocManaged(&made, room, ucs::cuda::CU_MEM_ATTACH_GLOBAL)
                           : driver->cuMemAlloc_v2(&made, room));
        driver_ = driver;
        address_ = reinterpret_cast<std::byte*>(made);
    }
    memory_block(ucs_memory_type_t kind, std::span<const std::byte> content, int device = 0)
        : memory_block(kind, content.size(), device) {
        write(content);
    }
    ~memory_block() {
        if (driver_ == nullptr) return;
        const ucs::cuda::scoped_context current(*driver_, context_.handle());
        driver_->cuMemFree_v2(pointer(address_));
    }
    memory_block(const memory_block&) = delete;
    memory_block& operator=(const memory_block&) = delete;

    [[nodiscard]] std::byte* data() const noexcept { return address_; }
    [[nodiscard]] std::size_t size() const noexcept { return length_; }
    [[nodiscard]] std::span<std::byte> span() const noexcept { return {address_, length_}; }
    [[nodiscard]] ucs::cuda::CUcontext context() const noexcept { return context_.handle(); }

    [[nodiscard]] std::vector<std::byte> content() const {
        std::vector<std::byte> read(length_);
        copy(read.data(), address_, length_);
        return read;
    }
    [[nodiscard]] bool holds(const std::vector<std::byte>& wanted) const {
        return content() == wanted;
    }
    void write(std::span<const std::byte> bytes, std::size_t offset = 0) {
        if (bytes.size() > length_ || offset > length_ - bytes.size())
            throw std::out_of_range("memory_block::write");
        copy(address_ + offset, bytes.data(), bytes.size());
    }

private:
    static void require(ucs::cuda::CUresult outcome) {
        if (outcome != ucs::cuda::CUDA_SUCCESS)
            throw std::runtime_error(ucs::cuda::error_text(outcome));
    }
    static ucs::cuda::CUdeviceptr pointer(const void* address) noexcept {
        return reinterpret_cast<ucs::cuda::CUdeviceptr>(address);
    }
    void copy(void* to, const void* from, std::size_t length) const {
        if (length == 0) return;
        if (driver_ == nullptr) {
            std::memcpy(to, from, length);
            return;
        }
        const ucs::cuda::scoped_context current(*driver_, context_.handle());
        require(driver_->cuMemcpyAsync(pointer(to), pointer(from), length, nullptr));
        require(driver_->cuStreamSynchronize(nullptr));
    }

    std::vector<std::byte> host_;
    const ucs::cuda::driver_functions* driver_ = nullptr;  // null: memory of the host
    ucs::cuda::primary_context context_;
    std::byte* address_ = nullptr;
    const std::size_t length_;
};

}  // namespace test
