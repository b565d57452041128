#include "uct/sm/posix/posix_iface.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "ucs/descriptor/close_in_background.hpp"
#include "ucs/random/random_bytes.hpp"
#include "ucs/type/allocated.hpp"
#include "uct/base/implemented_ops.hpp"
#include "uct/base/log.hpp"
#include "uct/sm/memory/apply_atomic.hpp"
#include "uct/sm/memory/mapped_memory.hpp"

namespace uct::posix {

namespace {
constexpr double default_bandwidth = 12.0 * (std::size_t{1} << 30);
}

ucs::result<std::unique_ptr<iface>> posix_iface::open(const resource& where,
                                                      const iface_params& params) {
    auto options = ucs::config::load<config>(params.config);
    if (!options) return options.status();
    const std::uint64_t id = ucs::sys::random_id();
    auto listener = listen_on(id);
    if (!listener) return listener.status();

    std::unique_ptr<posix_iface> made{new posix_iface(
        where, params,
        parts{*options, options->geometry(), sm::read_host_identity(), id, std::move(*listener)})};
    const ucs_status_t status = made->listening_.start({made->listener_.get()});
    if (status != UCS_OK) return status;
    return std::unique_ptr<iface>(std::move(made));
}

posix_iface::posix_iface(const resource& where, const iface_params& params, parts made)
    : base_iface(where, params),
      budget_(made.options.max_poll),
      may_sleep_(params.sleeps),
      linger_(ucs::time::from_seconds(made.options.linger.seconds)),
      geometry_(made.geometry),
      host_(made.host),
      identity_{secret_, made.socket_id},
      listener_(std::move(made.listener)),
      listening_(params.events, [this](int) { accept_some(); }) {
    set_attributes(made.options);
}

void posix_iface::set_attributes(const config& options) {
    attr_.ops = implemented_ops<posix_ep>();
    attr_.atomics = sm::processor_atomics();
    attr_.atomics_of_processor = true;
    attr_.max_bcopy = geometry_.max_message;
    attr_.max_short = geometry_.max_message - sizeof(std::uint64_t);
    attr_.address_length = sizeof(sm::posix_address);
    attr_.latency = options.latency.seconds;
    attr_.bandwidth = options.bandwidth.or_else(default_bandwidth);
    attr_.overhead = options.overhead.seconds;
    attr_.reach = scope::host;
    attr_.needs_check = true;
    attr_.shows_processes = true;
    attr_.cost = poll_cost::memory;
    attr_.uses_descriptor = true;
}

posix_iface::~posix_iface() {
    linger();
    // Senders that wait in the queue get the goodbye, which distinguishes closing from a death.
    accept_the_rest();
    listening_.stop();
    ucs::sys::close_in_background(
        std::move(listener_));  // together with the connections in its queue
    if (retry_timer_ != 0) events_.remove_timer(retry_timer_);
    for (auto* list : {&connecting_, &rings_}) {
        for (const auto& from : *list) {
            events_.remove(from->socket());
            from->end(packet_kind::closing);
        }
    }
    for (outgoing* orphan = orphans_.get(); orphan != nullptr; orphan = orphan->next_orphan.get()) {
        if (orphan->watched) events_.remove(orphan->socket());
        ucs::log::warn(posix_log,
                       "messages of a closed endpoint are lost: the peer has not accepted its "
                       "connection within UCX_POSIX_LINGER");
    }
}

// Peers that connect meanwhile are served, because they may be waiting here, too.
void posix_iface::linger() {
    const ucs::time::nanoseconds end = ucs::time::now() + linger_;
    while (true) {
        static_cast<void>(introduce_orphans());
        if (orphans_ == nullptr || ucs::time::now() >= end) return;
        serve_connections();
    }
}

// Waits for a moment, then accepts connections and replies.
void posix_iface::serve_connections() {
    constexpr int moment_ms = 1;
    pollfd waits{orphans_->socket(), POLLIN, 0};
    static_cast<void>(::poll(&waits, 1, moment_ms));
    static_cast<void>(accept_some());
    for (std::size_t i = connecting_.size(); i-- > 0;)
        on_socket_event(*connecting_[i]);
}

void posix_iface::pack_address(std::span<std::byte> into) const {
    sm::posix_address address;
    if (may_sleep_) address.flags = sm::posix_address::may_sleep;
    address.pid = static_cast<std::uint32_t>(::getpid());
    address.host = host_.host;
    address.socket_id = identity_.socket_id;
    address.net_namespace = host_.net_namespace;
    address.user_namespace = host_.user_namespace;
    address.uid = ::geteuid();
    address.pid_namespace = host_.pid_namespace;
    std::ranges::copy(secret_.data(), address.secret.begin());
    std::memcpy(into.data(), &address, sizeof address);
}

reachability posix_iface::check_reachable(std::span<const std::byte> address) const {
    const auto peer = sm::parse_posix_address(address);
    if (!peer) return {"its posix address is malformed or of another version"};
    if (peer->host != host_.host) return {"it runs on another host"};
    if (peer->net_namespace == 0 || peer->net_namespace != host_.net_namespace) {
        return {"it is in another network namespace, where its socket cannot be reached"};
    }
    // User ids of another user namespace cannot be compared; there the peer's own check decides.
    const std::uint32_t own = ::geteuid();
    if (peer->user_namespace == host_.user_namespace && peer->uid != own && own != 0) {
        return {fmt::format("it belongs to user {} and this process to user {}", peer->uid, own)};
    }
    return {};
}

listener_identity posix_iface::identity_of(const sm::posix_address& peer) const noexcept {
    return {
        .socket_id = peer.socket_id,
        .pid = peer.pid,
        .uid = peer.uid,
        .has_our_pids = host_.pid_namespace != 0 && peer.pid_namespace == host_.pid_namespace,
        .has_our_uids = host_.user_namespace != 0 && peer.user_namespace == host_.user_namespace,
        .secret = ucs::security::worker_secret::from_bytes(peer.secret)};
}

ucs::result<std::unique_ptr<ep>> posix_iface::create_ep(std::span<const std::byte> address) {
    const reachability answer = check_reachable(address);
    if (!answer.ok()) {
        ucs::log::error(posix_log, "no endpoint to a peer that cannot be reached: {}",
                        answer.reason);
        return UCS_ERR_UNREACHABLE;
    }
    const auto peer = sm::parse_posix_address(address);
    return std::unique_ptr<ep>(std::make_unique<posix_ep>(*this, *peer, identity_of(*peer)));
}

// Only few messages are queried, so the others pay nothing for it.
const incoming* posix_iface::sender_of(const peer_bytes& message) const noexcept {
    const auto sender = std::ranges::find_if(
        rings_, [&](const auto& from) { return from->has_in_ring(message.payload()); });
    return sender == rings_.end() ? nullptr : sender->get();
}

ucs::sys::process_identity posix_iface::sender_process(const peer_bytes& message) const noexcept {
    const incoming* const sender = sender_of(message);
    if (sender == nullptr) return {};
    return ucs::sys::identify_living_peer(sender->socket());
}

std::uint64_t posix_iface::connection_of(const peer_bytes& message) const noexcept {
    const incoming* const sender = sender_of(message);
    return sender == nullptr ? 0 : sender->number();
}

// A ring has one direction; endpoints of this interface have rings of their own.
bool posix_iface::end_connection(std::uint64_t number, ucs_status_t) noexcept {
    const auto ended =
        std::ranges::find_if(rings_, [&](const auto& from) { return from->number() == number; });
    if (ended == rings_.end()) return false;
    (*ended)->end(packet_kind::refused);
    remove(**ended);
    return true;
}

void posix_iface::append_connections(std::vector<std::uint64_t>& into) const {
    for (const auto& from : rings_)
        if (from->now() != incoming::state::ended) into.push_back(from->number());
}

void posix_iface::endpoint_failed(posix_ep& endpoint) noexcept {
    ended_.push_back(endpoint);
    need_attention();
}

void posix_iface::add_retry(posix_ep& endpoint) {
    if (!endpoint.retry_hook.is_linked()) retry_.push_back(endpoint);
    need_attention();
}

void posix_iface::forget_retry(posix_ep& endpoint) noexcept {
    if (endpoint.retry_hook.is_linked()) retry_.erase(retry_.iterator_to(endpoint));
}

void posix_iface::adopt(std::unique_ptr<outgoing> orphan) noexcept {
    orphan->next_orphan = std::move(orphans_);
    orphans_ = std::move(orphan);
    need_attention();
}

bool posix_iface::expect_flush() noexcept {
    if (finished_.capacity() <= flushes_ &&
        !ucs::allocated([&] { finished_.reserve(2 * flushes_ + 8); }))
        return false;
    ++flushes_;
    return true;
}

void posix_iface::finish_later(const std::vector<completion*>& completions,
                               ucs_status_t status) noexcept {
    for (completion* done : completions)
        finished_.emplace_back(done, status);
    if (!completions.empty()) need_attention();
}

void posix_iface::describe(ucs::vfs::directory& into) const {
    base_iface::describe(into);
    into.file("socket",
              [this] { return fmt::format("@hawser-posix-{:016x}", identity_.socket_id); });
    into.folder("rings", [this](ucs::vfs::directory& rings) {
        for (const auto& from : rings_) {
            rings.file(fmt::format("{}-{}", from->peer().pid, from->socket()),
                       [&ring = from->ring()] { return std::to_string(ring.received()); });
        }
    });
}

}  // namespace uct::posix
