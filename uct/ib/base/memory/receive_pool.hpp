// Shared receive queue with the buffers for the messages of all peers.
#pragma once

#include <memory>
#include <vector>

#include "ucs/memory/mpool.hpp"
#include "uct/ib/base/memory/registered_chunks.hpp"

namespace uct::ib {

// One buffer and the work request that passes it to the device. The bytes follow this header.
struct receive_buffer {
    ibv_recv_wr request;
    ibv_sge piece;

    // The memory that the device writes. A message in it begins at a multiple of 8.
    [[nodiscard]] std::byte* data() const noexcept {
        return reinterpret_cast<std::byte*>(piece.addr);
    }
    static receive_buffer& of(std::uint64_t request_id) noexcept {
        return *reinterpret_cast<receive_buffer*>(request_id);
    }
};
static_assert(sizeof(receive_buffer) % 8 == 0);

// A shared receive queue with its buffers, which lie on the NUMA node of the device. It grows when
// the device reports that few are left, or when progress notices that. Owned by the interface;
// owner context.
class receive_pool {
public:
    struct setup {
        const char* name;
        std::size_t segment;  // bytes of one buffer
        std::size_t front;    // of these, before the first byte of a message
        std::uint32_t most;   // maximum number of buffers
        std::uint32_t first;  // buffers at first
        std::uint32_t batch;  // buffers that are posted at a time
    };
    // The number of buffers is limited by the completion queue and by the device. Failures are
    // logged.
    static ucs::result<std::unique_ptr<receive_pool>> create(domain& on, unsigned completions,
                                                             const setup& wanted);
    ~receive_pool();
    receive_pool(const receive_pool&) = delete;
    receive_pool& operator=(const receive_pool&) = delete;

    // The device has filled a buffer. The caller owns it until give_back.
    void taken() noexcept { --posted_; }
    void give_back(receive_buffer& empty) noexcept {
        empty.request.next = returned_;
        returned_ = &empty.request;
        if (++returned_count_ >= batch_) post_returned();
    }
    // To be called at the end of progress: posts buffers if the device has few.
    void refill() noexcept {
        if (posted_ < low_) [[unlikely]]
            replenish();
    }
    // The device has reported that few buffers are left.
    void ran_short() noexcept;

    [[nodiscard]] ibv_srq& queue() const noexcept { return *queue_; }
    // The number of buffers.
    [[nodiscard]] std::uint32_t all() const noexcept {
        return static_cast<std::uint32_t>(buffers_.size());
    }
    void describe(ucs::vfs::directory& into) const;

private:
    receive_pool(domain& on, const setup& with, receive_queue_handle queue, int node) noexcept;
    void add(std::uint32_t count) noexcept;
    void post_returned() noexcept;
    void replenish() noexcept;
    void ask_for_event() noexcept;

    domain& domain_;
    const std::size_t segment_;
    const std::size_t front_;
    const std::uint32_t batch_;
    std::uint32_t most_;  // maximum number of buffers
    registered_chunks chunks_;
    ucs::memory::mpool pool_;
    receive_queue_handle queue_;
    std::vector<receive_buffer*> buffers_;  // all buffers taken from the pool
    ibv_recv_wr* returned_ = nullptr;
    std::uint32_t returned_count_ = 0;
    std::uint32_t posted_ = 0;  // at the device
    std::uint32_t low_ = 0;
    std::uint64_t shortages_ = 0;
    bool complained_ = false;
};

}  // namespace uct::ib
