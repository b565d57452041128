// Base of all interfaces on RDMA devices: a port, an address, completion queues.
#pragma once

#include "ucs/net/route.hpp"
#include "uct/base/base_iface.hpp"
#include "uct/ib/base/completion_queue.hpp"
#include "uct/ib/base/device/address.hpp"
#include "uct/ib/base/device/device.hpp"
#include "uct/ib/base/device/path.hpp"
#include "uct/ib/base/device/reach.hpp"
#include "uct/ib/base/memory/receive_pool.hpp"

namespace uct::ib {

// One port of a device, opened by a transport. Owner context.
class iface : public base_iface {
public:
    // Resources that are acquired before the interface is constructed. Destroyed in reverse order.
    struct parts {
        settings options;
        std::shared_ptr<ib::domain> domain;
        std::uint8_t port = 1;
        ibv_port_attr attr{};
        bool software = false;  // a driver emulates the device, such as soft RoCE
        gid_entry gid;
        std::uint16_t pkey = 0;
        std::uint16_t pkey_index = 0;
        channel_handle channel;
        std::unique_ptr<event_inbox> events;
        std::optional<completion_queue> sends;
        std::optional<completion_queue> receives;
    };
    struct queue_sizes {
        unsigned sends;
        unsigned receives;
    };

    ~iface() override;

    [[nodiscard]] memory_domain* domain() noexcept override { return domain_.get(); }
    void pack_address(std::span<std::byte> into) const override { address_.pack(into); }
    [[nodiscard]] reachability check_reachable(std::span<const std::byte> address) const override;
    [[nodiscard]] ucs_status_t arm() noexcept override;
    void describe(ucs::vfs::directory& into) const override;

    [[nodiscard]] ib::domain& device() noexcept { return *domain_; }
    [[nodiscard]] const address& own_address() const noexcept { return address_; }

protected:
    // Opens the device and creates the queues of an interface. Failures are logged.
    static ucs::result<parts> gather(const resource& where, const iface_params& params,
                                     const queue_sizes& sizes);
    // Requests one completion event for several completions (UCX_IB_CQ_EVENT_COUNT).
    static void moderate_events(parts& made) noexcept;
    iface(const resource& where, const iface_params& params, parts made);
    // Starts to watch the device. Must be called right after the constructor. Failures are logged.
    [[nodiscard]] ucs_status_t start();
    // Sets the path MTU and the read depth that peers find in the address of this interface, and
    // the estimated performance of the interface with that MTU.
    void set_path(ibv_mtu mtu, std::uint8_t read_depth) noexcept;

    // This class handles the events of the device, in the event loop. It calls the following
    // functions of the transport.

    // Handles the error of a queue pair, which may belong to another interface on the device.
    virtual void on_broken_pair(const device_event& event, ucs_status_t status) noexcept = 0;
    // Handles the failure of the device: nothing can be sent or received any more. `go_on`: the
    // device still reports the end of operations in progress. `end`: it does not, so this function
    // ends them.
    enum class completions : std::uint8_t { go_on, end };
    virtual void fail_all(ucs_status_t status, completions then) noexcept = 0;
    [[nodiscard]] virtual receive_pool& pool() noexcept = 0;

    // Returns true if progress should poll the completions of sends now, having received `arrived`
    // messages. While messages arrive, progress handles only these, unless a sender waits for
    // credits. It still polls the completions of sends in at least every eighth call, because
    // operations end with them.
    [[nodiscard]] bool sends_are_due(unsigned arrived) noexcept {
        if (arrived != 0 && !waits_for_room() && ++skipped_send_polls_ < max_skipped_send_polls)
            return false;
        skipped_send_polls_ = 0;
        return true;
    }

    [[nodiscard]] bool is_ethernet() const noexcept {
        return port_attr_.link_layer == IBV_LINK_LAYER_ETHERNET;
    }

    const settings ib_options_;
    const std::shared_ptr<ib::domain> domain_;
    const std::uint8_t port_;
    const ibv_port_attr port_attr_;
    const bool software_;
    const gid_entry gid_;
    const path_setup path_;
    const channel_handle channel_;
    const std::unique_ptr<event_inbox> inbox_;
    // A duplicate of the device's descriptor, because several interfaces of one worker on one
    // device watch it in one event loop.
    ucs::unique_fd device_fd_;
    completion_queue sends_;
    completion_queue receives_;
    address address_;

private:
    // Caches of check_reachable().
    mutable ucs::net::kernel_routes routes_;
    mutable reach reach_;
    void take_events() noexcept;
    void take_device_events() noexcept;
    void on_device_event(const device_event& event) noexcept;
    [[nodiscard]] bool concerns(const device_event& event) noexcept;
    void watch_port() noexcept;
    void port_stayed_down() noexcept;

    static constexpr unsigned max_skipped_send_polls = 8;
    unsigned skipped_send_polls_ = 0;
    ucs::async::event_loop::timer_id port_timer_ = 0;  // runs while the port is down
};

}  // namespace uct::ib
