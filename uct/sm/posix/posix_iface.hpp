// Interface of the posix transport.
#pragma once

#include <vector>

#include "ucs/async/listener_watch.hpp"
#include "ucs/datastruct/intrusive.hpp"
#include "uct/base/base_iface.hpp"
#include "uct/sm/base/host.hpp"
#include "uct/sm/memory/shared_block.hpp"
#include "uct/sm/posix/config.hpp"
#include "uct/sm/posix/incoming.hpp"
#include "uct/sm/posix/posix_ep.hpp"

namespace uct::posix {

// Receives for one worker: a listening socket for senders, and the rings of these. The worker's
// event loop serves the sockets. Progress serves the rings and makes no system call. Owned by the
// worker, owner context.
class posix_iface final : public base_iface {
public:
    // Resources that are acquired before the interface is constructed.
    struct parts {
        config options;
        ring_geometry geometry;
        sm::host_identity host;
        std::uint64_t socket_id = 0;
        ucs::unique_fd listener;
    };

    static ucs::result<std::unique_ptr<iface>> open(const resource& where,
                                                    const iface_params& params);
    ~posix_iface() override;

    unsigned progress() override;
    [[nodiscard]] bool has_work() const noexcept override;
    [[nodiscard]] ucs_status_t arm() noexcept override;
    void pack_address(std::span<std::byte> into) const override;
    [[nodiscard]] reachability check_reachable(std::span<const std::byte> address) const override;
    ucs::result<std::unique_ptr<ep>> create_ep(std::span<const std::byte> address) override;
    [[nodiscard]] memory_domain* domain() noexcept override { return &blocks_; }
    [[nodiscard]] ucs::sys::process_identity sender_process(
        const peer_bytes& message) const noexcept override;
    [[nodiscard]] std::uint64_t connection_of(const peer_bytes& message) const noexcept override;
    bool end_connection(std::uint64_t number, ucs_status_t status) noexcept override;
    void append_connections(std::vector<std::uint64_t>& into) const override;
    void describe(ucs::vfs::directory& into) const override;

    // For endpoints.
    [[nodiscard]] const ring_geometry& geometry() const noexcept { return geometry_; }
    [[nodiscard]] std::uint64_t socket_id() const noexcept { return identity_.socket_id; }
    [[nodiscard]] ucs::async::event_loop& events() noexcept { return events_; }
    // Refuses a sender, because this process has no memory or descriptors to send to it: a sender
    // that would wait for replies is notified.
    void refuse_sender(std::uint64_t reply_socket) noexcept;
    // Returns how many messages have come from the peer that claims to receive on that socket,
    // including one that is being delivered.
    [[nodiscard]] std::uint64_t received_from(std::uint64_t sender) const noexcept;
    void endpoint_failed(posix_ep& endpoint) noexcept;
    void add_retry(posix_ep& endpoint);
    void forget_retry(posix_ep& endpoint) noexcept;
    void adopt(std::unique_ptr<outgoing> orphan) noexcept;
    // Reserves room in finish_later for one more completion. Returns false if there is no memory.
    [[nodiscard]] bool expect_flush() noexcept;
    void forget_flushes(std::size_t count) noexcept { flushes_ -= count; }
    // Calls completions from progress, so that no operation calls back.
    void finish_later(const std::vector<completion*>& completions, ucs_status_t status) noexcept;

private:
    posix_iface(const resource& where, const iface_params& params, parts made);
    void set_attributes(const config& options);
    // Returns the sender of a message that is being delivered, or nullptr.
    [[nodiscard]] const incoming* sender_of(const peer_bytes& message) const noexcept;
    [[nodiscard]] listener_identity identity_of(const sm::posix_address& peer) const noexcept;

    // Connections (connections.cpp).
    // Returns whether more senders may wait.
    bool accept_some();
    bool drop_silent() noexcept;
    void wait_for_silent() noexcept;
    void accept_the_rest();
    void admit(ucs::unique_fd socket) noexcept;
    void begin(ucs::unique_fd socket, const ucs::sys::peer_credentials& peer) noexcept;
    void accept_failed(int error);
    void on_socket_event(incoming& from) noexcept;
    void open_ring(incoming& from) noexcept;
    void remove(incoming& from) noexcept;

    // Messages (posix_iface_datapath.cpp). The rest of progress, when there is work. Most calls
    // find none, and a separate function spares them saving registers.
    [[gnu::noinline]] unsigned serve();
    unsigned receive(incoming& from);
    [[gnu::noinline]] unsigned handle_attention();
    void need_attention() noexcept;
    void retry_connections();
    // Returns true if some must be retried after a while.
    [[nodiscard]] bool introduce_orphans();
    [[nodiscard]] bool watch(outgoing& orphan) noexcept;
    // Before the interface closes.
    void linger();
    void serve_connections();
    void drop_drained();
    void report_ended();
    void read_ring_of(std::uint64_t sender);
    unsigned finish_completions();

    using retry_list = ucs::datastruct::list<posix_ep, &posix_ep::retry_hook>;

    std::vector<std::unique_ptr<incoming>> rings_;  // open or draining
    std::size_t first_ = 0;                         // index at which the next round begins
    unsigned budget_;
    bool attention_ = false;     // progress has other work than polling rings
    bool retries_only_ = false;  // and the only work is to retry connections
    ucs::async::event_loop::timer_id retry_timer_ = 0;  // wakes a sleeping worker for that
    bool accept_complained_ = false;
    const bool may_sleep_;

    std::vector<std::unique_ptr<incoming>> connecting_;
    retry_list retry_;
    std::unique_ptr<outgoing> orphans_;  // the first of a chain
    // Endpoints that failed; what their peers had sent is delivered before they are reported.
    ucs::datastruct::auto_list<posix_ep, &posix_ep::ended_hook> ended_;
    const ucs::time::nanoseconds linger_;
    std::size_t flushes_ = 0;  // waiting or in finished_
    std::vector<std::pair<completion*, ucs_status_t>> finished_;
    const ring_geometry geometry_;
    sm::block_domain blocks_;
    const sm::host_identity host_;
    const ucs::security::worker_secret secret_ = ucs::security::worker_secret::random();
    const receiver_identity identity_;
    ucs::unique_fd listener_;
    ucs::async::listener_watch listening_;
};

}  // namespace uct::posix
