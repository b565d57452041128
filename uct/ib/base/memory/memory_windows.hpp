// Memory windows: keys that give access to the bytes of one operation, and expire after it.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <utility>

#include "ucs/type/result.hpp"
#include "uct/ib/base/device/handle.hpp"

namespace uct::ib {

// Memory windows of type 1 (InfiniBand Architecture Specification, volume 1, chapter 10.6): a
// request in a send queue binds a window to some bytes of a registered region, with its own rights.
// Binding creates a new key, and binding it to nothing ends that key. So a window costs two
// requests, while registering the bytes would cost system calls and pinned pages. Any thread.
class memory_windows {
public:
    // Queues for the bind requests: a queue pair that is connected to itself and ready to send,
    // with queues that nothing else uses. Destroyed in reverse order.
    struct queues {
        queue_handle completions;
        receive_queue_handle receives;
        pair_handle pair;
    };
    // `device`: its name for log lines. The string must outlive this object.
    memory_windows(const char* device, ibv_pd& domain, queues made) noexcept
        : device_(device), domain_(domain), queues_(std::move(made)) {}

    // A bound window. Its key is invalid when the destructor returns. Move only; the windows and
    // the region must live longer.
    class binding {
    public:
        binding(binding&& other) noexcept
            : owner_(other.owner_), window_(std::move(other.window_)), region_(other.region_) {}
        binding& operator=(binding&&) = delete;
        ~binding() {
            if (window_ != nullptr) owner_.unbind(std::move(window_), region_);
        }
        [[nodiscard]] std::uint32_t key() const noexcept { return window_->rkey; }

    private:
        friend class memory_windows;
        binding(memory_windows& owner, window_handle window, ibv_mr& region) noexcept
            : owner_(owner), window_(std::move(window)), region_(region) {}

        memory_windows& owner_;
        window_handle window_;
        ibv_mr& region_;
    };

    // Returns false once a request has failed.
    [[nodiscard]] bool are_usable() const noexcept {
        return !broken_.load(std::memory_order_relaxed);
    }

    // `rights`: the rights of a peer, IBV_ACCESS_REMOTE_*. `region` covers the bytes and is
    // registered with IBV_ACCESS_MW_BIND, and with IBV_ACCESS_LOCAL_WRITE if the peer may write.
    // Returns UCS_ERR_NO_MEMORY if the device has no more windows now. Returns UCS_ERR_IO_ERROR if
    // a request failed; then no window can be bound any more, which is logged the first time.
    [[nodiscard]] ucs::result<binding> bind(ibv_mr& region, std::span<std::byte> bytes,
                                            unsigned rights) noexcept;

private:
    void unbind(window_handle window, ibv_mr& region) noexcept;
    [[nodiscard]] window_handle take() noexcept;
    [[nodiscard]] bool rebind(ibv_mw& window, ibv_mr& region, std::span<std::byte> bytes,
                              unsigned access) noexcept;
    [[nodiscard]] const char* await_request() noexcept;

    const char* const device_;
    ibv_pd& domain_;
    const queues queues_;
    std::mutex lock_;
    // Unbound windows. The one that has been free for longest is used first: a driver changes only
    // 8 bits of a window's key, so keys are reused.
    std::deque<window_handle> free_;
    std::atomic<bool> broken_ = false;
};

}  // namespace uct::ib
