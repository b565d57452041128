// Interface of unreliable datagrams: the device, peers, progress and sleep.
#include "uct/ib/ud/base/iface.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ucs/config/source.hpp"
#include "uct/ib/base/device/port.hpp"
#include "uct/ib/ud/base/ep.hpp"

namespace uct::ud {
namespace {

// The connection messages of the layer above fit into a message over any path.
constexpr std::size_t least_message = 2048;
// `progress` reads the clock once in so many calls.
constexpr unsigned turns_per_clock_read = 8;
constexpr double sweep_seconds = 30;
constexpr ucs::time::nanoseconds shortest_sleep = 1000;

ib::receive_pool::setup pool_setup(const settings& options, ibv_mtu mtu) noexcept {
    return {"ud receive buffers",
            wire::route_header + ib::mtu_bytes(mtu),
            wire::route_header + wire::header_size,
            options.rx_queue,
            options.rx_first,
            options.rx_batch};
}

sender::setup sender_setup(const settings& options, std::uint32_t least_window) noexcept {
    sender::setup made;
    made.window.size = std::max(options.tx_window, least_window);
    made.window.timer.least = ucs::time::from_seconds(options.least_timer.seconds);
    made.window.timer.most =
        std::max(ucs::time::from_seconds(options.most_timer.seconds), made.window.timer.least);
    made.window.timer.first =
        std::clamp(made.window.timer.first, made.window.timer.least, made.window.timer.most);
    made.timeout = ucs::time::from_seconds(options.timeout.seconds);
    made.first = psn(static_cast<std::uint32_t>(ucs::sys::random_id()));
    return made;
}

}  // namespace

ucs::result<iface::parts> iface::gather(const resource& where, const iface_params& params) {
    auto options = ucs::config::load<settings>(params.config);
    if (!options) return options.status();
    auto port = ib::iface::gather(where, params, {options->tx_queue, options->rx_queue});
    if (!port) return port.status();
    ibv_mtu mtu = port->attr.active_mtu;
    if (!options->path_mtu.is_auto()) mtu = std::min(mtu, ib::mtu_code(options->path_mtu.bytes));
    auto receives =
        ib::receive_pool::create(*port->domain, port->receives->size(), pool_setup(*options, mtu));
    if (!receives) return receives.status();
    const ib::path_setup path =
        ib::path_from(port->port, port->pkey_index, port->gid, port->options);
    auto pair = queue_pair::create({*port->domain, path, *options, port->sends->get(),
                                    port->receives->get(), (*receives)->queue()});
    if (!pair) return pair.status();
    return parts{std::move(*port), *options, mtu, std::move(*receives), std::move(*pair)};
}

iface::iface(const resource& where, const iface_params& params, parts made)
    : ib::iface(where, params, std::move(made.port)),
      options_(made.options),
      payload_(ib::mtu_bytes(made.mtu) - wire::header_size),
      longest_(std::max(payload_, least_message)),
      pool_(std::move(made.receives)),
      address_handles_(*domain_, path_),
      transmitter_(*domain_, std::move(made.pair), options_, payload_),
      faults_({options_.test_drop, options_.test_duplicate, options_.test_reorder,
               options_.test_seed, options_.test_forget}) {
    set_path(made.mtu, 1);
    own_ = {own_address(), transmitter_.pair().number(), transmitter_.pair().key()};
    attr_.address_length = wire::address::size;
    // Each packet is acknowledged by the peer's processor.
    attr_.latency += 0.6e-6;
    attr_.overhead *= 2;
    attr_.needs_check = true;
}

iface::~iface() {
    close();
}

reachability iface::check_reachable(std::span<const std::byte> bytes) const {
    if (!wire::address::parse(bytes)) {
        return {"its address for datagrams is malformed, or of another version"};
    }
    return ib::iface::check_reachable(bytes.first(ib::address::size));
}

// Returns nullptr if the address is unreachable. May throw std::bad_alloc.
std::shared_ptr<peer> iface::find_peer(const wire::address& address) {
    std::shared_ptr<peer> known = peers_.find(address);
    if (known != nullptr) return known;
    std::array<std::byte, wire::address::size> bytes;
    address.pack(bytes);
    if (!check_reachable(bytes).ok()) return nullptr;
    known = std::make_shared<peer>();
    known->where = address;
    known->payload = std::min(
        payload_, ib::mtu_bytes(static_cast<ibv_mtu>(address.port.mtu)) - wire::header_size);
    peers_.add(known);
    return known;
}

ucs_status_t iface::resolve_address_handle(peer& to) noexcept {
    if (to.address_handle != nullptr) return UCS_OK;
    try {
        auto found = address_handles_.get(to.where.port, transmitter_.credits());
        if (!found) return found.status();
        to.address_handle = std::move(*found);
        return UCS_OK;
    } catch (const std::bad_alloc&) {
        return UCS_ERR_NO_MEMORY;
    }
}

ucs::result<std::unique_ptr<connection>> iface::make_connection(const wire::address& to) {
    if (transmitter_.stopped()) {
        ucs::log::error(ib_log, "{}: the device has failed, no connection is made", where().device);
        return UCS_ERR_IO_ERROR;
    }
    std::shared_ptr<peer> known = find_peer(to);
    if (known == nullptr) {
        ucs::log::error(ib_log, "{}: a peer's address leads nowhere", where().device);
        return UCS_ERR_UNREACHABLE;
    }
    const std::size_t most_parts = (longest_ + known->payload - 1) / known->payload;
    auto made = std::make_unique<connection>(
        std::move(known), sender_setup(options_, static_cast<std::uint32_t>(most_parts)));
    // Reserves its place for the time when its endpoint is destroyed.
    lingering_.reserve(connections_.size());
    made->id = connections_.add(made.get());
    if (made->id == 0) return UCS_ERR_NO_MEMORY;
    return made;
}

unsigned iface::progress() {
    const unsigned arrived = receive();
    unsigned events = arrived;
    if (sends_are_due(arrived)) events += reap_sends();
    events += complete_ended();
    if (next_time_ != 0 && turn_++ % turns_per_clock_read == 0) events += check_timers();
    if (!send_queue_.empty()) [[unlikely]]
        send_queued();
    // While more datagrams arrive, a reply may carry the acknowledgement.
    if (!pending_acks_.empty()) acknowledge(arrived == 0);
    if (lingering_.have_ended()) [[unlikely]]
        remove_ended_connections();
    pool_->refill();
    return events + dispatch_waiting() + report_failures();
}

// Reads all received datagrams before the deadlines are checked: after a pause of this process, an
// acknowledgement or a goodbye may wait behind other datagrams.
unsigned iface::check_timers() noexcept {
    const ucs::time::nanoseconds now = ucs::time::now();
    if (now < next_time_) return 0;
    const unsigned arrived = ib::receive_all(receives_, [this] { return receive(); });
    on_time(now);
    return arrived;
}

bool iface::has_work() const noexcept {
    auto& self = const_cast<iface&>(*this);  // completions found here are kept for progress
    return base_iface::has_work() || !pending_acks_.empty() || !self.transmitter_.ended().empty() ||
           !ended_flushes_.empty() || !delayed_.empty() || self.receives_.has_entries() ||
           self.sends_.has_entries();
}

ucs_status_t iface::arm() noexcept {
    const ucs_status_t status = ib::iface::arm();
    if (status != UCS_OK) return status;
    events_.remove_timer(wake_timer_);
    wake_timer_ = 0;
    if (timed_.empty()) next_time_ = 0;
    if (next_time_ == 0) return UCS_OK;
    const ucs::time::nanoseconds now = ucs::time::now();
    wake_timer_ = events_.add_timer(
        next_time_ > now ? next_time_ - now : shortest_sleep,
        [this] {
            wake_timer_ = 0;
            turn_ = 0;
        },
        true);
    return wake_timer_ == 0 ? UCS_ERR_NO_MEMORY : UCS_OK;
}

// If a sender is silent for longer than its own timeout, it has given up its connection.
void iface::watch_receivers() noexcept {
    if (sweep_timer_ != 0) return;
    sweep_timer_ =
        events_.add_timer(ucs::time::from_seconds(sweep_seconds), [this] { remove_silent(); });
}

void iface::remove_silent() noexcept {
    receivers_.sweep(sweep_seconds, [this](receiver& each) { remove(each); });
    receivers_.for_each([this](receiver& each) {
        // All peers share these buffers. The sender repeats the packets.
        if (each.is_stalled()) release_kept(each);
        each.release_memory();
    });
    if (receivers_.size() > 0) return;
    events_.remove_timer(sweep_timer_);
    sweep_timer_ = 0;
}

void iface::on_broken_pair(const ib::device_event& event, ucs_status_t status) noexcept {
    if (event.qp_number != own_.pair || transmitter_.stopped()) return;
    ucs::log::error(ib_log, "{}: the queue pair for datagrams is broken: {}", where().device,
                    ibv_event_type_str(event.type));
    fail_all(status, completions::end);
}

void iface::fail_all(ucs_status_t status, completions then) noexcept {
    // Destroying the queue pair makes the device release all send buffers.
    if (then == completions::end) transmitter_.stop();
    connections_.for_each([&](std::uint64_t, connection* each) {
        each->protocol.fail(status);
        update(*each);
    });
}

void iface::describe(ucs::vfs::directory& into) const {
    ib::iface::describe(into);
    const auto number = [&into](const char* name, const std::uint64_t& value) {
        into.file(name, [&value] { return std::to_string(value); });
    };
    into.file("queue_pair", [this] { return fmt::format("{:#x}", own_.pair); });
    into.file("connections_out", [this] { return std::to_string(connections_.size()); });
    into.file("connections_in", [this] { return std::to_string(receivers_.size()); });
    into.file("address_handles", [this] { return std::to_string(address_handles_.size()); });
    into.file("send_requests",
              [this] { return std::to_string(transmitter_.credits().outstanding()); });
    into.file("datagrams_sent", [this] { return std::to_string(transmitter_.posted()); });
    into.file("retransmissions", [this] {
        std::uint64_t sum = count_.repeated_before;
        const_cast<iface*>(this)->connections_.for_each(
            [&](std::uint64_t, connection* each) { sum += each->protocol.window.repeated(); });
        return std::to_string(sum);
    });
    number("datagrams_received", count_.datagrams);
    number("messages_received", count_.messages);
    number("received_again", count_.again);
    number("received_early", count_.early);
    number("dropped", count_.dropped);
    number("unknown", count_.unknown);
    number("malformed", count_.malformed);
    number("acknowledgements", count_.acknowledgements);
    number("resyncs", count_.resyncs);
    number("displaced", count_.displaced);
    into.folder("receive_pool", [this](ucs::vfs::directory& pool) { pool_->describe(pool); });
    transmitter_.describe(into);
}

}  // namespace uct::ud
