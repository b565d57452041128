// An interface of the transport layer and the endpoint to the peer's.
#pragma once

#include <cstdint>
#include <string>

#include "tools/perf/core/stop_flag.hpp"
#include "tools/perf/core/test_params.hpp"
#include "tools/perf/net/frame.hpp"
#include "tools/perf/uct/resources.hpp"

namespace tools::perf {

// Owned by the run of a test; one thread. Nothing is queued in the endpoint: who finds no resource
// progresses and tries again.
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

    // By which the peer finds this interface and `memory`.
    [[nodiscard]] blob address(const void* memory) const;
    // Throws failure when the peer cannot be reached, or its address is none.
    void connect(const blob& peer);
    void disconnect() noexcept { ep_.reset(); }
    // Where endpoints come in pairs: what each side tells the other once they are made.
    [[nodiscard]] bool pairs() const noexcept {
        return opened_.iface->attr().connection_length > 0;
    }
    [[nodiscard]] blob connection() const;
    void pair(const blob& peer);

    // New memory for the peer, memory that is there, and the peer's by its key. Throw failure.
    [[nodiscard]] uct::shared_memory share(std::size_t length);
    [[nodiscard]] uct::shared_memory share(std::span<std::byte> memory);
    void reach(const blob& key);
    // What the peer gave as memory.
    [[nodiscard]] uct::remote_place remote() const noexcept {
        return {remote_memory_, memory_.get()};
    }

    // One turn. Throws stopped.
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

    // Until `start` returns another status than UCS_ERR_NO_RESOURCE, which is returned.
    template<class Start>
    ucs_status_t once_there_is_room(Start&& start) {
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
    static void on_failure(void* arg, uct::ep& which, ucs_status_t status);
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
