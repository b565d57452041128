// An interface of the transport layer, and its endpoint to the interface of the peer.
#pragma once

#include "tools/perf/core/stop_flag.hpp"
#include "tools/perf/core/test_params.hpp"
#include "tools/perf/net/frame.hpp"
#include "tools/perf/uct/resources.hpp"

namespace tools::perf {

// Owned by the run of a test; one thread. Operations are not queued: if there is no resource, the
// caller progresses and retries.
class transport_link {
public:
    // Throws not_offered or failure.
    transport_link(const test_params& params, const stop_flag& stop);
    ~transport_link();
    transport_link(const transport_link&) = delete;
    transport_link& operator=(const transport_link&) = delete;

    [[nodiscard]] uct::iface& iface() noexcept { return *opened_.iface; }
    [[nodiscard]] uct::ep& ep() noexcept { return *ep_; }
    [[nodiscard]] const std::string& name() const noexcept { return opened_.name; }

    // Returns the address of this interface and of `memory`, for the peer.
    [[nodiscard]] blob address(const void* memory) const;
    // Throws failure if the peer is unreachable or its address is malformed.
    void connect(const blob& peer);
    void disconnect() noexcept { ep_.reset(); }
    // For transports whose endpoints are connected in pairs: the connection data that both sides
    // exchange after creating them.
    [[nodiscard]] bool pairs() const noexcept {
        return opened_.iface->attr().connection_length > 0;
    }
    [[nodiscard]] blob connection() const;
    void pair(const blob& peer);

    // Share new memory, share existing memory, and attach to the memory of the peer by its key.
    // Throw failure.
    [[nodiscard]] uct::shared_memory share(std::size_t length);
    [[nodiscard]] uct::shared_memory share(std::span<std::byte> memory);
    void reach(const blob& key);
    // The memory that the peer shares.
    [[nodiscard]] uct::remote_place remote() const noexcept {
        return {remote_memory_, memory_.get()};
    }

    // Progresses once. Throws stopped.
    void once() {
        if (opened_.iface->progress() != 0) {
            idle_ = 0;
        } else if (++idle_ >= idle_limit) [[unlikely]] {
            pause();
        }
        if (++turns_ % turns_per_poll == 0) [[unlikely]] {
            opened_.events->poll(0);
        }
    }

    template<class Done>
    void until(Done&& done) {
        while (!done()) {
            throw_if_failed();
            once();
        }
    }

    // Repeats `start` while it returns UCS_ERR_NO_RESOURCE, and returns its other status.
    template<class Start>
    ucs_status_t retry_until_posted(Start&& start) {
        ucs_status_t status = start();
        while (status == UCS_ERR_NO_RESOURCE)
            [[unlikely]] {
                once();
                throw_if_failed();
                status = start();
            }
        return status;
    }

    void throw_if_failed() const { require("the endpoint", failed_); }
    // Throws failure for an operation that ended with an error.
    void require(const char* operation, ucs_status_t status) const {
        if (status != UCS_OK) [[unlikely]] {
            give_up(operation, status);
        }
    }

private:
    static constexpr std::uint32_t idle_limit = 4096;
    static constexpr std::uint32_t turns_per_poll = 128;

    [[nodiscard]] uct::memory_domain& domain(const char* operation);
    static void on_failure(void* arg, uct::ep& failed_ep, ucs_status_t status);
    [[noreturn]] void give_up(const char* operation, ucs_status_t status) const;
    void pause();

    const stop_flag& stop_;
    opened_interface opened_;
    std::unique_ptr<uct::ep> ep_;
    std::unique_ptr<uct::remote_memory> memory_;
    std::uint64_t remote_memory_ = 0;
    std::uint32_t idle_ = 0;
    std::uint32_t turns_ = 0;
    ucs_status_t failed_ = UCS_OK;
};

}  // namespace tools::perf
