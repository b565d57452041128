// An interface of the transport layer, and its endpoint to the interface of the peer.
#pragma once

#include <fmt/format.h>
#include <sched.h>

#include "tools/perf/net/control.hpp"
#include "tools/perf/uct/resources.hpp"

namespace tools::perf {

// Owned by the run of a test; one thread. Operations are not queued: if there is no resource, the
// caller progresses and retries.
class transport_link final : public idle_work {
public:
    // Throws not_offered or failure.
    transport_link(const test_params& params, const stop_flag& stop)
        : stop_(stop), opened_(open_interface(params.transport, params.device)) {
        iface().set_error_handler({&transport_link::on_failure, this});
    }
    ~transport_link() = default;
    transport_link(const transport_link&) = delete;
    transport_link& operator=(const transport_link&) = delete;

    [[nodiscard]] uct::iface& iface() noexcept { return *opened_.iface; }
    [[nodiscard]] uct::ep& ep() noexcept { return *ep_; }
    [[nodiscard]] const std::string& name() const noexcept { return opened_.name; }

    // Returns the address of this interface and of `memory`, for the peer.
    [[nodiscard]] blob address(const void* memory) const {
        const auto where = reinterpret_cast<std::uint64_t>(memory);
        blob packed(sizeof where + opened_.iface->attr().address_length);
        std::memcpy(packed.data(), &where, sizeof where);
        opened_.iface->pack_address(std::span(packed).subspan(sizeof where));
        return packed;
    }
    // Throws failure if the peer is unreachable or its address is malformed.
    void connect(const blob& peer) {
        if (peer.size() < sizeof remote_memory_) throw failure("the peer sent a malformed address");
        std::memcpy(&remote_memory_, peer.data(), sizeof remote_memory_);
        const auto address = std::span(peer).subspan(sizeof remote_memory_);
        const uct::reachability answer = iface().check_reachable(address);
        if (!answer.ok()) {
            throw failure(fmt::format("{} does not reach the peer: {}", name(), answer.reason));
        }
        auto made = iface().create_ep(address);
        if (!made) give_up("create_ep", made.status());
        ep_ = std::move(*made);
    }
    void disconnect() noexcept { ep_.reset(); }
    // For transports whose endpoints are connected in pairs: the connection data that both sides
    // exchange after creating them.
    [[nodiscard]] bool pairs() const noexcept {
        return opened_.iface->attr().connection_length > 0;
    }
    [[nodiscard]] blob connection() const {
        blob packed(opened_.iface->attr().connection_length);
        ep_->pack_connection(packed);
        return packed;
    }
    void pair(const blob& peer) {
        const ucs_status_t status = ep_->connect_to(peer);
        if (status != UCS_OK) give_up("connect_to", status);
    }

    // Share new memory, share existing memory, and attach to the memory of the peer by its key.
    // Throw failure.
    [[nodiscard]] uct::shared_memory share(std::size_t length) {
        auto made = domain("share").allocate(length);
        if (!made) give_up("share", made.status());
        return std::move(*made);
    }
    [[nodiscard]] uct::shared_memory share(std::span<std::byte> memory) {
        auto made = domain("share").share(memory, uct::memory_access::change);
        if (!made) give_up("share", made.status());
        return std::move(*made);
    }
    void reach(const blob& key) {
        auto found = domain("reach").attach(key, uct::memory_access::change);
        if (!found) give_up("reach", found.status());
        memory_ = std::move(*found);
    }
    // The memory that the peer shares.
    [[nodiscard]] uct::remote_place remote() const noexcept {
        return {remote_memory_, memory_.get()};
    }

    // Progresses while the control connection waits.
    void operator()() override { once(); }
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

    [[nodiscard]] uct::memory_domain& domain(const char* operation) {
        uct::memory_domain* const found = iface().domain();
        if (found == nullptr) give_up(operation, UCS_ERR_UNSUPPORTED);
        return *found;
    }
    static void on_failure(void* arg, uct::ep&, ucs_status_t status) {
        static_cast<transport_link*>(arg)->failed_ = status;
    }
    [[noreturn]] void give_up(const char* operation, ucs_status_t status) const {
        throw failure(
            fmt::format("{}: {} failed: {}", name(), operation, ucs_status_string(status)));
    }
    void pause() {
        idle_ = 0;
        opened_.events->poll(0);
        if (stop_.requested()) throw stopped();
        ::sched_yield();
    }

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
