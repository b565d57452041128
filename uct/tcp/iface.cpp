#include "uct/tcp/iface.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>

#include "ucs/descriptor/descriptor_budget.hpp"
#include "ucs/security/job_key.hpp"
#include "uct/base/implemented_ops.hpp"

namespace uct::tcp {

namespace {

constexpr std::size_t short_payload = 4096;

std::size_t tx_segment(const settings& options) noexcept {
    const std::size_t wanted = options.tx_segment.is_auto() ? 16384 : options.tx_segment.bytes;
    return wanted & ~std::size_t{7};
}

// A buffer holds one read, or the messages that wait for a full socket.
std::size_t buffer_bytes(const settings& options) noexcept {
    const std::size_t rx = options.rx_segment.is_auto() ? 65536 : options.rx_segment.bytes;
    return std::max(rx & ~std::size_t{7},
                    2 * wire::frame_size(std::max(tx_segment(options), short_payload + 8)));
}

// Returns the device without addresses of unwanted families.
device only_wanted(device own, const std::vector<int>& order) {
    const auto wanted = [&](int family) {
        return std::find(order.begin(), order.end(), family) != order.end();
    };
    if (!wanted(AF_INET)) own.v4 = {};
    if (!wanted(AF_INET6)) own.v6 = {};
    return own;
}

}  // namespace

ucs::result<std::unique_ptr<uct::iface>> iface::open(const resource& where,
                                                     const iface_params& params) {
    auto options = ucs::config::load<settings>(params.config);
    if (!options) return options.status();
    const auto security = ucs::config::load<ucs::security::job_key_settings>(params.config);
    if (!security) return security.status();
    if (security->tcp_encryption && params.job_key == nullptr) {
        ucs::log::error(log, "{}: UCX_TCP_ENCRYPTION=y needs a job key", where.device);
        return UCS_ERR_INVALID_PARAM;
    }
    const std::vector<device> all = list_devices();
    const auto known = std::find_if(all.begin(), all.end(),
                                    [&](const device& d) { return d.name == where.device; });
    if (known == all.end()) {
        ucs::log::error(log, "there is no network interface {}", where.device);
        return UCS_ERR_NO_DEVICE;
    }
    const device own = only_wanted(*known, options->families.order);
    if (const std::string reason = own.why_unusable(true); !reason.empty()) {
        ucs::log::error(log, "{} cannot be used: {}", where.device, reason);
        return UCS_ERR_NO_DEVICE;
    }
    ucs::unique_fd epoll = ucs::sys::within_budget(ucs::unique_fd(::epoll_create1(EPOLL_CLOEXEC)));
    if (!epoll) {
        ucs::log::error(log, "epoll_create1(): {}", error_text(errno));
        return UCS_ERR_IO_ERROR;
    }
    std::unique_ptr<iface> made(new iface(where, params, own, std::move(*options),
                                          security->tcp_encryption, std::move(epoll)));
    if (const ucs_status_t status = made->open_listener(); status != UCS_OK) return status;
    return std::unique_ptr<uct::iface>(std::move(made));
}

iface::iface(const resource& where, const iface_params& params, const device& own, settings options,
             bool encrypted, ucs::unique_fd epoll)
    : base_iface(where, params),
      options_(std::move(options)),
      credentials_(params.job_key, encrypted),
      device_index_(own.index),
      reach_(own, ucs::net::network_identity(), options_.families.order, routes_),
      pool_(buffer_bytes(options_)),
      scratch_(std::make_unique<std::byte[]>(
          wire::frame_size(std::max(tx_segment(options_), short_payload + 8)))),
      epoll_(std::move(epoll)),
      unused_(where_.device, rejected()),
      listener_(*this, params.events) {
    address_.iface_id = credentials_.id();
    address_.network_id = ucs::net::network_identity();
    std::ranges::copy(credentials_.secret().data(), address_.secret.begin());
    address_.loopback = own.kind == device_kind::loopback;
    address_.v4 = own.v4;
    address_.v6 = own.v6;
    set_attributes(own);
}

void iface::set_attributes(const device& own) {
    const device_cost cost = estimate(own.kind, own.speed);
    attr_.ops = implemented_ops<ep>();
    attr_.max_short = short_payload;
    attr_.max_bcopy = tx_segment(options_);
    attr_.max_zcopy = std::max(options_.max_zcopy.bytes, attr_.max_bcopy);
    attr_.max_zcopy_header = max_zcopy_header;
    assert(options_.max_pieces <= max_zcopy_pieces);
    attr_.max_iov = options_.max_pieces;
    attr_.latency = cost.latency;
    attr_.bandwidth = cost.bandwidth;
    attr_.overhead = 1e-6;
    attr_.reach = scope::network;
    attr_.cost = poll_cost::system_call;
    attr_.supports_landing = true;
    attr_.needs_check = true;
    attr_.uses_descriptor = true;
}

ucs_status_t iface::open_listener() {
    if (const ucs_status_t status = listener_.open(options_, address_.v4, address_.v6);
        status != UCS_OK) {
        return status;
    }
    credentials_.set_address(address_);
    attr_.address_length =
        address_.packed_size();  // with the families on which the listener could be opened
    // Progress serves the sockets; this event only wakes a sleeping worker.
    return events_.add(epoll_.get(), EPOLLIN, [](std::uint32_t) {});
}

void iface::pack_address(std::span<std::byte> into) const {
    address_.pack(into);
}

reachability iface::check_reachable(std::span<const std::byte> bytes) const {
    const auto peer = address::parse(bytes, device_index_);
    if (!peer) return {"its tcp address is malformed"};
    return {reach_.to(*peer).reason};
}

ucs::result<std::unique_ptr<uct::ep>> iface::create_ep(std::span<const std::byte> bytes) {
    const auto peer = address::parse(bytes, device_index_);
    if (!peer) {
        ucs::log::error(log, "{}: a peer's address of {} bytes is malformed", where_.device,
                        bytes.size());
        return UCS_ERR_INVALID_ADDR;
    }
    reach::answer answer = reach_.to(*peer);
    if (!answer.reason.empty()) {
        ucs::log::error(log, "{} cannot reach a peer: {}", where_.device, answer.reason);
        return UCS_ERR_UNREACHABLE;
    }
    const ucs::security::key key = key_of_address(*peer);
    connection& link = connection_to({peer->iface_id, tag_of_address(key)});
    auto made = std::make_unique<ep>(*this, link);
    link.attach(*made, std::move(answer.paths), key);
    return std::unique_ptr<uct::ep>(std::move(made));
}

connection& iface::connection_to(const peer_key& peer) {
    const auto known = peers_.find(peer);
    if (known != peers_.end() && !has_ended(known->second->current_state())) return *known->second;
    auto fresh = std::make_unique<connection>(*this, peer);
    if (known == peers_.end()) return *peers_.emplace(peer, std::move(fresh)).first->second;
    others_.push_back(std::move(known->second));
    known->second = std::move(fresh);
    return *known->second;
}

connection& iface::connection_for_greeting(const peer_key& peer) {
    if (peer.interface_id != id()) return connection_to(peer);
    // A send to this interface itself has two ends here; peers_ holds the sending one.
    others_.push_back(std::make_unique<connection>(*this, peer));
    return *others_.back();
}

std::uint64_t iface::connection_of(const peer_bytes& message) const noexcept {
    const bool is_of_it = reading_ != nullptr && reading_->rx.has_in_buffer(message.payload());
    return is_of_it ? reading_->number : 0;
}

connection* iface::find(std::uint64_t number) noexcept {
    for (const auto& [peer, link] : peers_)
        if (link->number == number) return link.get();
    for (const auto& link : others_)
        if (link->number == number) return link.get();
    return nullptr;
}

bool iface::end_connection(std::uint64_t number, ucs_status_t status) noexcept {
    connection* const ended = find(number);
    if (ended == nullptr || ended->current_state() == state::failed) return false;
    if (hot_ == ended) hot_ = nullptr;
    ended->fail(status);
    return true;
}

void iface::append_connections(std::vector<std::uint64_t>& into) const {
    const auto append = [&into](const connection& link) {
        if (link.current_state() != state::failed) into.push_back(link.number);
    };
    for (const auto& [peer, link] : peers_)
        append(*link);
    for (const auto& link : others_)
        append(*link);
}

void iface::describe(ucs::vfs::directory& into) const {
    base_iface::describe(into);
    into.file("connections", [this] { return std::to_string(sockets_); });
    into.file("peers", [this] { return std::to_string(peers_.size() + others_.size()); });
    into.file("address", [this] {
        std::string text;
        for (const listen_point* point : {&address_.v4, &address_.v6}) {
            if (point->ip.is_none()) continue;
            text += socket_address(point->ip, point->port).text() + "\n";
        }
        return text;
    });
}

}  // namespace uct::tcp
