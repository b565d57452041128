// Keys that reach the bytes of one operation, and nothing after it.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <utility>

#include "ucs/type/result.hpp"
#include "uct/ib/base/handle.hpp"

namespace uct::ib {

// Memory windows of type 1 (InfiniBand Architecture Specification, volume 1, chapter 10.6): a
// window is bound to some bytes of a registered region, with rights of its own, by a request in a
// send queue. Binding gives it a new key, and binding it to nothing ends that key, so a window
// costs two requests where registering the bytes would cost system calls and pinned pages. Any
// thread.
class memory_windows {
public:
    // Requests to bind are sent with these: a queue pair that is connected to itself and ready to
    // send, with queues that nothing else uses. In the order of destruction, last first.
    struct queues {
        queue_handle completions;
        receive_queue_handle receives;
        pair_handle pair;
    };
    // `device`: its name, for the log, which has to live longer.
    memory_windows(const char* device, ibv_pd& domain, queues made) noexcept
        : device_(device), domain_(domain), queues_(std::move(made)) {}

    // A window that is bound. The key dies with this, before the destructor returns. Move only; the
    // windows and the region must live longer.
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

    // False once a request has failed.
    [[nodiscard]] bool are_usable() const noexcept {
        return !broken_.load(std::memory_order_relaxed);
    }

    // `rights`: those of a peer, IBV_ACCESS_REMOTE_*. `region` covers the bytes and is registered
    // with IBV_ACCESS_MW_BIND, and with IBV_ACCESS_LOCAL_WRITE if the peer may write.
    // UCS_ERR_NO_MEMORY: the device has no more windows now. UCS_ERR_IO_ERROR: a request failed, so
    // that no window can be bound any more, which is logged the first time.
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
    // Bound to nothing. The one that has been free for longest is taken: a driver changes only 8
    // bits of a window's key, so keys come again.
    std::deque<window_handle> free_;
    std::atomic<bool> broken_ = false;
};

}  // namespace uct::ib
