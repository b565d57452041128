// Buffers that messages of all peers arrive in.
#pragma once

#include <memory>
#include <vector>

#include "ucs/memory/mpool.hpp"
#include "uct/ib/base/registered_chunks.hpp"

namespace uct::ib {

// One buffer and the work request that hands it to the device. The bytes follow.
struct receive_buffer {
    ibv_recv_wr request;
    ibv_sge piece;

    // What the device writes; where a message begins in it, is a multiple of 8.
    [[nodiscard]] std::byte* data() const noexcept {
        return reinterpret_cast<std::byte*>(piece.addr);
    }
    static receive_buffer& of(std::uint64_t request_id) noexcept {
        return *reinterpret_cast<receive_buffer*>(request_id);
    }
};
static_assert(sizeof(receive_buffer) % 8 == 0);

// A shared receive queue with its buffers: some at first, more when the device says that they run
// short, or when it shows. Owned by the interface; owner context.
class receive_pool {
public:
    struct setup {
        const char* name;
        std::size_t segment;  // bytes of one buffer
        std::size_t front;    // of them in front of where a message begins
        std::uint32_t most;   // buffers in the end
        std::uint32_t first;  // buffers at first
        std::uint32_t batch;  // of them that are handed to the device at a time
    };
    // Has no more buffers than completions of them fit, and than the device offers. Failures are
    // logged.
    static ucs::result<std::unique_ptr<receive_pool>> create(domain& on, unsigned completions,
                                                             const setup& wanted);
    ~receive_pool();
    receive_pool(const receive_pool&) = delete;
    receive_pool& operator=(const receive_pool&) = delete;

    // The device has filled one; its content is the caller's until give_back.
    void taken() noexcept { --posted_; }
    void give_back(receive_buffer& empty) noexcept {
        empty.request.next = returned_;
        returned_ = &empty.request;
        if (++returned_count_ >= batch_) post_returned();
    }
    // At the end of a round of progress: buffers go to the device while it has few.
    void refill() noexcept {
        if (posted_ < low_) [[unlikely]]
            replenish();
    }
    // The device says that few are left.
    void ran_short() noexcept;

    [[nodiscard]] ibv_srq& queue() const noexcept { return *queue_; }
    // Buffers there are.
    [[nodiscard]] std::uint32_t all() const noexcept {
        return static_cast<std::uint32_t>(buffers_.size());
    }
    void describe(ucs::vfs::directory& into) const;

private:
    receive_pool(domain& on, const setup& with, receive_queue_handle queue) noexcept;
    void add(std::uint32_t count) noexcept;
    void post_returned() noexcept;
    void replenish() noexcept;
    void ask_for_event() noexcept;

    domain& domain_;
    const std::size_t segment_;
    const std::size_t front_;
    const std::uint32_t batch_;
    std::uint32_t most_;  // buffers there may be
    registered_chunks chunks_;
    ucs::memory::mpool pool_;
    receive_queue_handle queue_;
    std::vector<receive_buffer*> buffers_;  // all that were taken from the pool
    ibv_recv_wr* returned_ = nullptr;
    std::uint32_t returned_count_ = 0;
    std::uint32_t posted_ = 0;  // at the device
    std::uint32_t low_ = 0;
    std::uint64_t shortages_ = 0;
    bool complained_ = false;
};

}  // namespace uct::ib
