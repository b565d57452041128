// Base of the interfaces and endpoints of the CUDA transports.
#pragma once

#include "uct/base/base_iface.hpp"
#include "uct/cuda/base/address.hpp"
#include "uct/cuda/base/copy_queue.hpp"

namespace uct::cuda {

// Returns the one resource of a CUDA transport. It is usable if there is a driver, which is not
// initialized: whether there is a device shows when a program has memory of one. Cheap.
[[nodiscard]] listing list_driver(const char* transport);

// Owns the copies of the endpoints. Opening it neither initializes the driver nor makes anything on
// a device. Owned by the worker, owner context.
class cuda_iface : public base_iface {
public:
    cuda_iface(const resource& where, const iface_params& params, const copy_queue::limits& limits);

    unsigned progress() override;
    [[nodiscard]] bool has_work() const noexcept override {
        return copies_.has_work() || base_iface::has_work();
    }
    // No device wakes the worker, so it stays awake while copies are in flight.
    [[nodiscard]] ucs_status_t arm() noexcept override { return fall_asleep(); }
    void pack_address(std::span<std::byte> into) const override;
    void describe(ucs::vfs::directory& into) const override;

    [[nodiscard]] copy_queue& copies() noexcept { return copies_; }

protected:
    const process_address own_;

private:
    const ucs::memory::device_memory_user device_memory_;
    copy_queue copies_;
};

// Holds the copies in flight of one endpoint. Owned by the protocol layer, owner context.
class cuda_ep : public base_ep {
public:
    cuda_ep(cuda_iface& owner, const process_address& peer) noexcept
        : base_ep(owner), copies_(owner.copies()), peer_(peer) {}
    ~cuda_ep() override { cancel(); }

    ucs_status_t flush(completion* done) override { return copies_.flush(in_flight_, done); }
    [[nodiscard]] std::string peer_name() const override;

protected:
    // Starts an operation. Statuses as ep::get_zcopy.
    ucs_status_t start(const copy_queue::transfer& wanted, completion* done) noexcept {
        const ucs_status_t status = copies_.start(wanted, in_flight_, done);
        if (status == UCS_OK || status == UCS_INPROGRESS) count(total_length(wanted.pieces));
        return status;
    }

    // Waits for the devices, and ends the operations in flight.
    void cancel() noexcept { copies_.cancel(in_flight_); }

    copy_queue& copies_;
    const process_address peer_;

private:
    operation_list in_flight_;
};

}  // namespace uct::cuda
