#include "uct/ib/base/iface.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "ucs/config/once.hpp"
#include "ucs/config/source.hpp"
#include "ucs/random/random_bytes.hpp"
#include "uct/ib/base/device/port.hpp"
#include "uct/ib/base/device/sysfs.hpp"

namespace uct::ib {
namespace {

struct partition {
    std::uint16_t key;
    std::uint16_t index;
};

ucs::result<partition> find_partition(domain& on, std::uint8_t port, const ibv_port_attr& attr,
                                      const settings& options) {
    std::optional<partition> limited;
    for (int index = 0; index < attr.pkey_tbl_len; ++index) {
        __be16 raw = 0;
        if (ibv_query_pkey(&on.context(), port, index, &raw) != 0) break;
        const std::uint16_t key = ntohs(raw);
        if ((key & ~full_member) == 0) continue;
        const partition found{key, static_cast<std::uint16_t>(index)};
        if (!options.pkey.is_auto()) {
            if ((key & ~full_member) == (options.pkey.value & 0x7fffU)) return found;
            continue;
        }
        if ((key & full_member) != 0) return found;
        if (!limited) limited = found;
    }
    if (limited) return *limited;
    ucs::log::error(
        ib_log, "{}:{}: there is no partition {}", on.name(), port,
        options.pkey.is_auto() ? std::string("at all") : fmt::format("{:#x}", options.pkey.value));
    return UCS_ERR_NO_DEVICE;
}

ucs::result<gid_entry> find_gid(domain& on, std::uint8_t port, bool ethernet,
                                const settings& options) {
    std::vector<gid_entry> all = read_gids(on.context(), port, ethernet);
    if (!options.gid_index.is_auto()) {
        const auto found = std::find_if(all.begin(), all.end(), [&](const gid_entry& each) {
            return each.index == options.gid_index.value;
        });
        if (found != all.end() && !found->empty()) return *found;
        ucs::log::error(ib_log, "{}:{}: UCX_IB_GID_INDEX={} names no GID of this port", on.name(),
                        port, options.gid_index.value);
        return UCS_ERR_INVALID_PARAM;
    }
    if (ethernet) {
        ucs::net::kernel_routes routes;
        find_own(all, routes);
    }
    if (const auto best = choose_gid(all)) return *best;
    if (!ethernet) return gid_entry{};  // the LID is sufficient within a subnet
    ucs::log::error(ib_log, "{}:{}: the port has no GID: give its network interface an address",
                    on.name(), port);
    return UCS_ERR_NO_DEVICE;
}

channel_handle open_channel(domain& on) {
    channel_handle made(ibv_create_comp_channel(&on.context()));
    if (made == nullptr) return made;
    const int flags = ::fcntl(made->fd, F_GETFL);
    ::fcntl(made->fd, F_SETFL, flags | O_NONBLOCK);
    return made;
}

}  // namespace

ucs::result<iface::parts> iface::gather(const resource& where, const iface_params& params,
                                        const queue_sizes& sizes) {
    const auto port = port_name::parse(where.device);
    if (!port) {
        ucs::log::error(ib_log, "{} is no port of an RDMA device", where.device);
        return UCS_ERR_NO_DEVICE;
    }
    auto options = ucs::config::load<settings>(params.config);
    if (!options) return options.status();
    parts made;
    made.options = *options;
    made.port = port->port;
    made.domain = std::dynamic_pointer_cast<ib::domain>(params.domain);
    if (made.domain == nullptr) {
        auto opened = ib::domain::open(port->device, params.config);
        if (!opened) return opened.status();
        made.domain = std::move(*opened);
    }
    ib::domain& on = *made.domain;
    if (const int error = ibv_query_port(&on.context(), made.port, &made.attr); error != 0) {
        ucs::log::error(ib_log, "{} cannot be asked: {}", where.device, std::strerror(error));
        return UCS_ERR_IO_ERROR;
    }
    if (const std::string reason = why_port_unusable(made.attr); !reason.empty()) {
        ucs::log::error(ib_log, "{} cannot be used: {}", where.device, reason);
        return UCS_ERR_NO_DEVICE;
    }
    made.software = device_entry::read(port->device).is_software;
    const auto partition = find_partition(on, made.port, made.attr, made.options);
    if (!partition) return partition.status();
    made.pkey = partition->key;
    made.pkey_index = partition->index;
    const bool ethernet = made.attr.link_layer == IBV_LINK_LAYER_ETHERNET;
    auto gid = find_gid(on, made.port, ethernet, made.options);
    if (!gid) return gid.status();
    made.gid = *gid;
    if (params.sleeps) {
        made.channel = open_channel(on);
        if (made.channel == nullptr) {
            ucs::log::error(ib_log, "{}: no completion channel: {}", where.device,
                            std::strerror(errno));
            return UCS_ERR_IO_ERROR;
        }
    }
    auto inbox = event_inbox::create();
    if (!inbox) return inbox.status();
    made.events = std::move(*inbox);
    auto sends = completion_queue::create(on, sizes.sends, made.channel.get(), *made.events);
    if (!sends) return sends.status();
    made.sends = std::move(*sends);
    auto receives = completion_queue::create(on, sizes.receives, made.channel.get(), *made.events);
    if (!receives) return receives.status();
    made.receives = std::move(*receives);
    if (made.channel != nullptr && made.options.event_count > 1) moderate_events(made);
    return made;
}

void iface::moderate_events(parts& made) noexcept {
    const unsigned count = made.options.event_count;
    const auto period = static_cast<unsigned>(made.options.event_period.seconds * 1e6);
    const bool done = made.sends->moderate(*made.domain, count, period) &&
                      made.receives->moderate(*made.domain, count, period);
    if (done || !ucs::config::first_time("completion events are not moderated")) return;
    ucs::log::warn(ib_log,
                   "{}: UCX_IB_CQ_EVENT_COUNT has no effect, because the device cannot gather "
                   "completions; it wakes a program that sleeps for each",
                   made.domain->name());
}

iface::iface(const resource& where, const iface_params& params, parts made)
    : base_iface(where, params),
      ib_options_(made.options),
      domain_(std::move(made.domain)),
      port_(made.port),
      port_attr_(made.attr),
      software_(made.software),
      gid_(made.gid),
      path_(path_from(made.port, made.pkey_index, made.gid, made.options)),
      channel_(std::move(made.channel)),
      inbox_(std::move(made.events)),
      sends_(std::move(*made.sends)),
      receives_(std::move(*made.receives)),
      reach_(gid_, routes_) {
    address_.link = gid_.type;
    address_.lid = is_ethernet() ? std::uint16_t{0} : port_attr_.lid;
    address_.pkey = made.pkey;
    address_.gid = gid_.gid;
    address_.iface_id = ucs::sys::random_id();
    attr_.address_length = address::size;
    attr_.reach = scope::network;
    attr_.cost = poll_cost::memory;
    set_path(port_attr_.active_mtu, 1);
}

// Descriptors must be watched, or they would wake no thread and the device's events would be lost.
ucs_status_t iface::start() {
    device_fd_ = ucs::unique_fd(::fcntl(domain_->events().fd(), F_DUPFD_CLOEXEC, 0));
    if (!device_fd_) {
        ucs::log::error(ib_log, "{}: no descriptor for the device's events: {}", where().device,
                        std::strerror(errno));
        return UCS_ERR_IO_ERROR;
    }
    domain_->events().add(*inbox_);
    ucs_status_t status = events_.add(device_fd_.get(), EPOLLIN,
                                      [this](std::uint32_t) { domain_->events().distribute(); });
    if (status == UCS_OK) {
        status =
            events_.add(inbox_->fd(), EPOLLIN, [this](std::uint32_t) { take_device_events(); });
    }
    if (status == UCS_OK && channel_ != nullptr) {
        // Progress finds the completions; this event only wakes a sleeping worker.
        status = events_.add(channel_->fd, EPOLLIN, [this](std::uint32_t) { take_events(); });
    }
    return status;
}

iface::~iface() {
    events_.remove_timer(port_timer_);
    events_.remove(device_fd_.get());
    events_.remove(inbox_->fd());
    domain_->events().remove(*inbox_);
    if (channel_ != nullptr) {
        take_events();
        events_.remove(channel_->fd);
    }
}

void iface::set_path(ibv_mtu mtu, std::uint8_t read_depth) noexcept {
    address_.mtu = static_cast<std::uint8_t>(mtu);
    address_.read_depth = read_depth;
    const port_cost cost =
        estimate({port_attr_.active_width, port_attr_.active_speed, mtu, is_ethernet(), software_});
    attr_.latency = cost.latency;
    attr_.bandwidth = cost.bandwidth;
    attr_.overhead = cost.overhead;
}

reachability iface::check_reachable(std::span<const std::byte> bytes) const {
    const auto peer = address::parse(bytes);
    if (!peer) return {"its RDMA address is malformed, or of another version"};
    if (std::string reason = reason_apart(address_, *peer); !reason.empty()) {
        return {std::move(reason)};
    }
    if (gid_.type != gid_type::roce_v2) return {};
    gid_entry peer_gid;
    peer_gid.gid = peer->gid;
    return {reach_.why_not(peer_gid)};
}

void iface::take_events() noexcept {
    ibv_cq* queue = nullptr;
    void* context = nullptr;
    while (ibv_get_cq_event(channel_.get(), &queue, &context) == 0)
        ibv_ack_cq_events(queue, 1);
}

ucs_status_t iface::arm() noexcept {
    if (channel_ == nullptr) return UCS_ERR_UNSUPPORTED;
    take_events();
    if (!sends_.arm() || !receives_.arm()) return UCS_ERR_IO_ERROR;
    // Completions from before the queues were armed produce no event.
    return fall_asleep();
}

void iface::describe(ucs::vfs::directory& into) const {
    base_iface::describe(into);
    into.file("link", [this] { return std::string(name(gid_.type)); });
    into.file("gid", [this] { return gid_.text(); });
    into.file("gid_index", [this] { return std::to_string(gid_.index); });
    into.file("lid", [this] { return std::to_string(address_.lid); });
    into.file("pkey", [this] { return fmt::format("{:#x}", address_.pkey); });
    into.file("path_mtu",
              [this] { return std::to_string(mtu_bytes(static_cast<ibv_mtu>(address_.mtu))); });
    into.folder("hw_counters", [this](ucs::vfs::directory& counters) {
        describe_counters(domain_->name(), port_, counters);
    });
    into.folder("memory_domain", *domain_);
}

}  // namespace uct::ib
