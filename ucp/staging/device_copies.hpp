// Asynchronous copies between host memory and memory of devices.
#pragma once

#include <memory>
#include <vector>

#include "ucp/core/slots.hpp"
#include "ucp/dt/buffer.hpp"
#include "ucs/cuda/context.hpp"
#include "ucs/cuda/handle.hpp"
#include "uct/api/iface.hpp"

namespace ucp {

// Host memory of fixed parts, through which data of devices flows. The parts are pinned, so that a
// device copies from and to them without help of the processor; if the system refuses that, they
// are ordinary memory. Parts are kept for the next use. Owner context.
class staging_pool {
public:
    // `part` is the length of a part. More than `most` are given out at the same time only to
    // transfers that could not begin otherwise.
    staging_pool(std::size_t part, std::size_t most) noexcept : part_(part), most_(most) {}
    ~staging_pool();
    staging_pool(const staging_pool&) = delete;
    staging_pool& operator=(const staging_pool&) = delete;

    [[nodiscard]] std::size_t part_length() const noexcept { return part_; }
    // The device whose primary context owns the pinned parts. Without one, parts are ordinary
    // memory.
    void set_device(int ordinal) noexcept { device_ = ordinal; }
    [[nodiscard]] bool has_device() const noexcept { return device_ >= 0; }
    // Returns nullptr if there is no memory, or if all parts are in use and `beyond_limit` is not
    // set.
    [[nodiscard]] std::byte* take(bool beyond_limit) noexcept;
    void give_back(std::byte* part) noexcept;

private:
    [[nodiscard]] std::byte* make();
    [[nodiscard]] bool retain_context();

    const std::size_t part_;
    const std::size_t most_;
    std::size_t made_ = 0;
    int device_ = -1;
    ucs::cuda::primary_context context_;  // of the pinned parts
    std::vector<ucs::cuda::pinned_memory> pinned_;
    std::vector<std::unique_ptr<std::byte[]>> ordinary_;
    std::vector<std::byte*> free_;  // has capacity for all
};

// Slot of a worker: the endpoint by which it copies within this process, made at the first use.
// Owner context.
class device_copies {
public:
    explicit device_copies(worker& owner) noexcept;
    ~device_copies();
    device_copies(const device_copies&) = delete;
    device_copies& operator=(const device_copies&) = delete;

    // Learns on which device the data of this worker lies.
    void prepare_for(dt::buffer& buffer) noexcept;
    // Returns false if the worker cannot copy: its cuda_copy interface could not be opened.
    [[nodiscard]] bool are_possible() noexcept;
    // Start a copy between host memory and a piece of any memory. Return UCS_OK if the completion
    // reports its end, which may have happened already, or an error.
    ucs_status_t start_read(std::byte* into, const uct::iov& from, uct::completion& done) noexcept;
    ucs_status_t start_write(const std::byte* from, const uct::iov& into,
                             uct::completion& done) noexcept;
    [[nodiscard]] staging_pool& parts() noexcept { return parts_; }

    // Waits for the end of all copies. Called when the worker's endpoints have ended.
    void drain() noexcept;

private:
    void open();
    static ucs_status_t end_start(ucs_status_t status, void* to, const uct::iov& from,
                                  uct::completion& done) noexcept;

    worker& owner_;
    uct::iface* iface_ = nullptr;
    bool was_tried_ = false;
    std::unique_ptr<uct::ep> endpoint_;
    staging_pool parts_;
};

}  // namespace ucp
