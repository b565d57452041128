#include "uct/ib/rc/base/iface.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "ucs/config/source.hpp"
#include "ucs/time/clock.hpp"
#include "ucs/type/allocated.hpp"
#include "uct/ib/base/device/port.hpp"
#include "uct/ib/rc/base/ep.hpp"
#include "uct/ib/rc/base/lingering_load.hpp"
#include "uct/ib/rc/base/queue_pair.hpp"

namespace uct::rc {
namespace {

constexpr ucs::time::nanoseconds goodbye_time = 20 * ucs::time::millisecond;
// A dead peer acknowledges no goodbye, and peers decide how many such connections are made. So only
// so many wait for the acknowledgement, and goodbyes take only a part of the credits that all
// endpoints share.
constexpr std::ptrdiff_t max_lingering_goodbyes = 256;
constexpr std::uint32_t part_for_goodbyes = 8;

bool waits_for_goodbye_only(const std::unique_ptr<connection>& lingering) noexcept {
    return !lingering->has_messages();
}

std::uint8_t depth(int of_device, const ucs::config::auto_count& wanted) noexcept {
    const auto most = static_cast<unsigned>(std::clamp(of_device, 1, 255));
    return static_cast<std::uint8_t>(wanted.is_auto() ? most : std::min(most, wanted.value));
}

ib::receive_pool::setup pool_setup(const settings& options) noexcept {
    return {"rc receive buffers", options.segment.bytes, wire::header_size,
            options.rx_queue,     options.rx_first,      options.rx_batch};
}

}  // namespace

ucs::result<iface::parts> iface::gather(const resource& where, const iface_params& params) {
    auto options = ucs::config::load<settings>(params.config);
    if (!options) return options.status();
    auto port = ib::iface::gather(where, params, {options->tx_completions, options->rx_queue});
    if (!port) return port.status();
    auto receives =
        ib::receive_pool::create(*port->domain, port->receives->size(), pool_setup(*options));
    if (!receives) return receives.status();
    return parts{std::move(*port), *options, std::move(*receives)};
}

iface::iface(const resource& where, const iface_params& params, parts made)
    : ib::iface(where, params, std::move(made.port)),
      options_(made.options),
      pool_(std::move(made.receives)),
      credits_(sends_.size()) {
    const ibv_device_attr& device = domain_->attr();
    ibv_mtu mtu = port_attr_.active_mtu;
    if (!options_.path_mtu.is_auto()) mtu = std::min(mtu, ib::mtu_code(options_.path_mtu.bytes));
    static_cast<ib::path_setup&>(port_setup_) = path_;
    port_setup_.mtu = mtu;
    port_setup_.read_depth = depth(device.max_qp_init_rd_atom, options_.read_depth);
    port_setup_.read_resources = depth(device.max_qp_rd_atom, options_.read_depth);
    set_path(mtu, port_setup_.read_resources);
    attr_.needs_check = true;  // no device reports that a peer is gone
}

iface::~iface() = default;

// If the queues cannot be created, which is logged, exposed memory is registered.
void iface::provide_windows() noexcept {
    if (!domain_->wants_windows()) return;
    auto queues = make_window_queues(pair_setup(), own_address());
    if (queues) domain_->use_windows(std::move(*queues));
}

void iface::close() noexcept {
    // Accepted messages are still sent, for a limited time. For goodbyes alone the time is shorter,
    // because they only spare the peer a timeout.
    const auto owing = [this] {
        return std::count_if(lingering_.begin(), lingering_.end(),
                             [](const auto& each) { return each->has_messages(); });
    };
    const ucs::time::nanoseconds start = ucs::time::now();
    const auto spent = [start](ucs::time::nanoseconds limit) {
        return ucs::time::now() - start >= limit;
    };
    const ucs::time::nanoseconds linger = ucs::time::from_seconds(options_.linger.seconds);
    while (!lingering_.empty() && !spent(owing() > 0 ? linger : std::min(linger, goodbye_time))) {
        drop_received();
        reap_sends(messages::leave);
        send_queued();
        remove_ended();
    }
    if (const auto lost = owing(); lost > 0) {
        ucs::log::warn(ib_log, "{}: messages to {} peers are lost: they do not take them",
                       where().device, lost);
    }
    while (!lingering_.empty()) {
        forget(*lingering_.back());
        lingering_.back()->destroy();
        lingering_.pop_back();
    }
    complete_ended();
}

// Drops received messages, but handles control messages, so that the interface does not wait for
// peers that have closed.
void iface::drop_received() noexcept {
    for (const ibv_wc& each : receives_.poll()) {
        pool_->taken();
        if (each.status == IBV_WC_SUCCESS && (each.wc_flags & IBV_WC_WITH_IMM) != 0) {
            take_control(each.qp_num, ntohl(each.imm_data));
        }
        pool_->give_back(ib::receive_buffer::of(each.wr_id));
    }
}

bool iface::has_work() const noexcept {
    auto& self = const_cast<iface&>(*this);  // completions found here are kept for progress
    return base_iface::has_work() || !ended_.empty() || self.receives_.has_entries() ||
           self.sends_.has_entries();
}

unsigned iface::progress() {
    unsigned events = receive();
    if (sends_are_due(events)) events += reap_sends(messages::deliver);
    if (!ended_.empty()) events += complete_ended();
    // Steps that free credits come first, then those that need them, because the worker may sleep
    // after this call.
    if (!lingering_.empty() || !destroyed_.empty()) [[unlikely]]
        remove_ended();
    if (!waiting_.empty()) [[unlikely]]
        try_waiting();
    if (!send_queue_.empty()) [[unlikely]]
        send_queued();
    pool_->refill();
    return events + dispatch_waiting() + report_failures();
}

unsigned iface::reap_sends(messages arrived) noexcept {
    const std::span<const ibv_wc> batch = sends_.poll();
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (batch[i].status != IBV_WC_SUCCESS && arrived == messages::deliver) [[unlikely]] {
            reap_after_messages(batch.subspan(i));
            break;
        }
        reap(batch[i]);
    }
    completions_ += batch.size();
    return static_cast<unsigned>(batch.size());
}

void iface::reap(const ibv_wc& completion) noexcept {
    connection* const conn = slots_[slot_of(completion.wr_id)];
    if (conn == nullptr) return;  // the connection was destroyed meanwhile
    if (completion.status == IBV_WC_SUCCESS) [[likely]] {
        conn->complete(number_of(completion.wr_id), UCS_OK);
        if (conn->must_grant()) [[unlikely]]
            queue_for_send(*conn);
        if (conn->error() != UCS_OK) [[unlikely]]
            handle_failure(*conn);
        return;
    }
    if (conn->error() == UCS_OK) {
        ucs::log::diag(ib_log, "{}: a request to {} failed: {}", where().device,
                       conn->endpoint != nullptr ? conn->endpoint->peer_name() : "a peer",
                       ibv_wc_status_str(completion.status));
    }
    conn->complete(number_of(completion.wr_id), ib::status_of(completion.status));
    handle_failure(*conn);
}

// A peer that has closed accepts no requests, but has sent a goodbye before. Received messages are
// read first, so that an orderly close is not reported as a death. Handlers may destroy endpoints
// and reap sends meanwhile, so the batch is copied.
void iface::reap_after_messages(std::span<const ibv_wc> batch) noexcept {
    std::array<ibv_wc, ib::completion_queue::most_in_batch> failed;
    const auto end = std::copy(batch.begin(), batch.end(), failed.begin());
    ib::receive_all(receives_, [this] { return receive(); });
    std::for_each(failed.begin(), end, [this](const ibv_wc& each) { reap(each); });
}

void iface::handle_failure(connection& failed) noexcept {
    if (failed.wants_drain) queue_for_send(failed);
    if (failed.current_state() != connection::state::failed || failed.endpoint == nullptr) return;
    note_failure(*failed.endpoint, failed.error());
}

unsigned iface::receive() {
    const std::span<const ibv_wc> batch = receives_.poll();
    for (const ibv_wc& each : batch) {
        ib::receive_buffer& buffer = ib::receive_buffer::of(each.wr_id);
        pool_->taken();
        if (each.status != IBV_WC_SUCCESS) [[unlikely]] {
            receive_failed(each);
        } else if ((each.wc_flags & IBV_WC_WITH_IMM) != 0) [[unlikely]] {
            take_control(each.qp_num, ntohl(each.imm_data));
        } else if (each.byte_len >= wire::header_size) [[likely]] {
            const auto header = std::to_integer<std::uint8_t>(buffer.data()[0]);
            if (header >> wire::flow_shift != 0)
                take_control(each.qp_num, header >> wire::flow_shift);
            ++messages_;
            deliver(header % am_id_count, buffer.data() + wire::header_size,
                    each.byte_len - wire::header_size);
        }
        pool_->give_back(buffer);
    }
    return static_cast<unsigned>(batch.size());
}

std::uint64_t iface::connection_of(const peer_bytes& message) const noexcept {
    const std::less<const std::byte*> before;
    for (const ibv_wc& each : receives_.last_batch()) {
        if (each.status != IBV_WC_SUCCESS) continue;
        const std::byte* const begin = ib::receive_buffer::of(each.wr_id).data();
        if (before(message.payload(), begin) || !before(message.payload(), begin + each.byte_len))
            continue;
        const connection* const from = find(each.qp_num);
        return from == nullptr ? 0 : from->number;
    }
    return 0;
}

bool iface::end_connection(std::uint64_t number, ucs_status_t status) noexcept {
    const auto ended = std::ranges::find_if(
        by_number_, [number](const auto& each) { return each.second->number == number; });
    if (ended == by_number_.end() || ended->second->error() != UCS_OK) return false;
    ended->second->fail(status);
    handle_failure(*ended->second);
    return true;
}

void iface::append_connections(std::vector<std::uint64_t>& into) const {
    for (const auto& [qp_number, each] : by_number_)
        if (each->error() == UCS_OK) into.push_back(each->number);
}

void iface::on_broken_pair(const ib::device_event& event, ucs_status_t status) noexcept {
    // The peer violated the protocol: its own requests fail on its side, and this side would not
    // notice otherwise.
    connection* const broken = find(event.qp_number);
    if (broken == nullptr || broken->error() != UCS_OK) return;
    rejected().warn(ib_log, "{}: the connection to {} is broken: {}", where().device,
                    broken->endpoint != nullptr ? broken->endpoint->peer_name() : "a peer",
                    ibv_event_type_str(event.type));
    broken->fail(status);
    handle_failure(*broken);
}

void iface::fail_all(ucs_status_t status, completions then) noexcept {
    abandoned_ = abandoned_ || then == completions::end;
    for (const auto& [number, each] : by_number_) {
        each->fail(status);
        if (abandoned_) each->abandon();
        handle_failure(*each);
    }
}

void iface::take_control(std::uint32_t qp_number, std::uint32_t immediate) noexcept {
    connection* const from = find(qp_number);
    if (from == nullptr) return;  // its connection was removed
    take_flow(*from, immediate & all_flow_bits);
    if ((immediate & wire::goodbye) == 0) return;
    from->fail(UCS_ERR_NOT_CONNECTED);
    handle_failure(*from);
}

void iface::take_flow(connection& from, std::uint8_t bits) noexcept {
    if (!from.flow.arrived(bits) || !from.connected()) return;
    if (!from.queue().has_room() || !from.post_grant()) queue_for_send(from);
    handle_failure(from);
}

void iface::receive_failed(const ibv_wc& completion) noexcept {
    connection* const from = find(completion.qp_num);
    if (from == nullptr || completion.status == IBV_WC_WR_FLUSH_ERR) return;
    rejected().warn(ib_log, "{}: a message of {} was not received: {}", where().device,
                    from->endpoint != nullptr ? from->endpoint->peer_name() : "a peer",
                    ibv_wc_status_str(completion.status));
    from->fail(ib::status_of(completion.status));
    handle_failure(*from);
}

unsigned iface::complete_ended() noexcept {
    unsigned completed = 0;
    while (!ended_.empty()) {
        tx_op& first = ended_.front();
        ended_.pop_front();
        first.finish(first);
        ++completed;
    }
    return completed;
}

void iface::try_waiting() noexcept {
    op_queue taken;
    taken.swap(waiting_);
    while (!taken.empty()) {
        tx_op& first = taken.front();
        taken.pop_front();
        first.status = first.conn->error();
        first.finish(first);
    }
}

void iface::complete_operations_of(const connection& conn) noexcept {
    for (op_queue* among : {&ended_, &waiting_}) {
        op_queue others;
        while (!among->empty()) {
            tx_op& first = among->front();
            among->pop_front();
            if (first.conn != &conn) {
                others.push_back(first);
                continue;
            }
            if (among == &waiting_) first.status = UCS_ERR_CANCELED;
            first.finish(first);
        }
        among->swap(others);
    }
}

// Connections that find no room stay queued until the next progress.
void iface::send_queued() noexcept {
    send_queue taken;
    taken.swap(send_queue_);
    while (!taken.empty()) {
        connection& each = taken.front();
        taken.pop_front();
        bool done = !each.wants_drain || each.drain();
        if (!done) {
            send_queue_.push_back(each);
            continue;
        }
        if (each.must_grant()) done = each.queue().has_room() && each.post_grant();
        if (each.wants_completion) done = each.request_completion() && done;
        if (each.wants_goodbye && each.connected()) done = send_goodbye(each) && done;
        if (!done && each.connected()) send_queue_.push_back(each);
        handle_failure(each);  // the device may have refused a request
    }
}

ucs::result<std::unique_ptr<connection>> iface::make_connection() {
    if (abandoned_) {
        ucs::log::error(ib_log, "{}: the device has failed, no connection is made", where().device);
        return UCS_ERR_IO_ERROR;
    }
    auto pair = queue_pair::create(pair_setup());
    if (!pair) return pair.status();
    if (free_slots_.empty()) {
        free_slots_.reserve(slots_.size() + 1);
        destroyed_.reserve(slots_.size() + 1);
        slots_.push_back(nullptr);
        free_slots_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
    }
    const std::uint32_t slot = free_slots_.back();
    const std::uint32_t number = pair->number();
    auto made = std::make_unique<connection>(
        connection::setup{{credits_, slot, options_.tx_moderation}, ended_, flow_limits()},
        std::move(*pair));
    by_number_.insert_or_assign(number, made.get());
    slots_[slot] = made.get();
    free_slots_.pop_back();
    return made;
}

ucs_status_t iface::connect(connection& conn, const ib::address& peer,
                            const wire::connection_data& peer_data) noexcept {
    return conn.connect(pair_setup(), peer, peer_data);
}

void iface::leave(std::unique_ptr<connection> left) noexcept {
    left->endpoint = nullptr;
    complete_operations_of(*left);
    // Messages from the program's memory get some time to be sent; then the program may reuse the
    // memory.
    const ucs::time::nanoseconds end =
        ucs::time::now() + ucs::time::from_seconds(options_.linger.seconds);
    while (left->ops.hold_memory() && left->connected() && ucs::time::now() < end)
        reap_sends(messages::leave);
    if (left->ops.hold_memory() && left->connected()) {
        ucs::log::warn(ib_log,
                       "{}: operations on the memory of a closed endpoint are canceled: its peer "
                       "does not take them",
                       where().device);
    }
    complete_operations_of(*left);
    const bool in_use = left->ops.hold_memory();
    if (!in_use) left->ops.cancel_flushes(left->error());
    if (!in_use && left->connected()) {
        if (ucs::allocated([&] { lingering_.push_back(std::move(left)); })) {
            lingering_.back()->wants_goodbye = true;
            lingering_.back()->left_at = ucs::time::now();
            queue_for_send(*lingering_.back());
            send_queued();
            limit_lingering();
            return;
        }
        ucs::log::warn(ib_log, "{}: out of memory: messages of a closed endpoint are lost",
                       where().device);
    }
    forget(*left);
    std::unique_ptr<connection> last = std::move(left);
    last->destroy();
}

void iface::forget(connection& gone) noexcept {
    doorbells_before_ += gone.queue().doorbells();
    // The number of an abandoned queue pair may belong to another one by now.
    const auto found = by_number_.find(gone.queue().pair.number());
    if (found != by_number_.end() && found->second == &gone) by_number_.erase(found);
    slots_[gone.queue().slot] = nullptr;
    if (gone.goodbye_sent() && gone.queue().empty()) --open_goodbyes_;
    destroyed_.push_back({gone.queue().slot, gone.queue().credits().outstanding(),
                          gone.goodbye_sent() && !gone.queue().empty()});
}

// Returns false if the goodbye must be retried in another progress.
bool iface::send_goodbye(connection& leaving) noexcept {
    const std::uint32_t most = std::max(1U, credits_.size() / part_for_goodbyes);
    if (open_goodbyes_ >= most || !leaving.queue().has_room() || !leaving.post_goodbye())
        return false;
    ++open_goodbyes_;
    return true;
}

// Limits the number of connections that wait for the acknowledgement of their goodbye, because
// peers decide how many there are.
void iface::limit_lingering() noexcept {
    const auto are_too_many = [this] {
        return std::ranges::count_if(lingering_, waits_for_goodbye_only) > max_lingering_goodbyes;
    };
    if (!are_too_many()) return;
    while (reap_sends(messages::leave) > 0) {
    }
    remove_ended();
    if (are_too_many()) destroy_oldest_lingering();
    send_queued();
}

// Destroys the connection that posted its goodbye first, because its peer, if alive, has most
// likely received it. If none has posted a goodbye, destroys any; its peer then notices when it
// sends.
void iface::destroy_oldest_lingering() noexcept {
    auto longest = std::ranges::find_if(lingering_, [](const auto& each) {
        return waits_for_goodbye_only(each) && each->goodbye_sent();
    });
    if (longest == lingering_.end())
        longest = std::ranges::find_if(lingering_, waits_for_goodbye_only);
    forget(**longest);
    lingering_.erase(longest);
    remove_ended();  // its credits are free for the next one
}

// Destroys connections whose peers do not receive their messages while there are too many of them.
// Each had RC_VERBS_LINGER for that.
void iface::destroy_overdue() noexcept {
    lingering_load load(credits_.size());
    for (const auto& each : lingering_)
        if (each->has_messages()) load.add(each->queue().credits().outstanding());
    if (!load.is_excessive()) return;
    const ucs::time::nanoseconds now = ucs::time::now();
    const ucs::time::nanoseconds limit = ucs::time::from_seconds(options_.linger.seconds);
    for (auto found = lingering_.begin(); found != lingering_.end() && load.is_excessive();) {
        connection& each = **found;
        if (!each.has_messages() || now < each.left_at + limit) {
            ++found;
            continue;
        }
        rejected().warn(ib_log,
                        "{}: messages of a closed endpoint are lost: its peer does not take them",
                        where().device);
        load.remove(each.queue().credits().outstanding());
        forget(each);
        each.destroy();
        found = lingering_.erase(found);
    }
}

// Removes lingering connections that have sent everything, and frees the slots of destroyed ones.
void iface::remove_ended() noexcept {
    std::erase_if(lingering_, [this](const auto& each) {
        const bool said_all = each->queue().empty() && !each->wants_goodbye;
        const bool over = said_all || each->current_state() == connection::state::failed;
        if (over) forget(*each);
        return over;
    });
    destroy_overdue();
    // A destroyed queue pair produces no further completions, so an empty queue has none of it.
    if (destroyed_.empty() || sends_.has_entries()) return;
    for (const destroyed_connection& each : destroyed_) {
        credits_.give_back(each.credits);
        if (each.has_goodbye) --open_goodbyes_;
        free_slots_.push_back(each.slot);
    }
    destroyed_.clear();
}

connection* iface::find(std::uint32_t qp_number) const noexcept {
    const auto found = by_number_.find(qp_number);
    return found == by_number_.end() ? nullptr : found->second;
}

flow_window::limits iface::flow_limits() const noexcept {
    if (!options_.flow_control) return {0, 0, 0};
    const std::uint32_t size = options_.flow_window;
    const auto part = [size](double fraction) {
        return static_cast<std::uint32_t>(fraction * static_cast<double>(size));
    };
    // A sender must request a window before its own is empty.
    const std::uint32_t hard = std::clamp(part(options_.flow_hard), 1U, size - 1);
    return {size, std::clamp(part(options_.flow_soft), hard, size), hard};
}

void iface::describe(ucs::vfs::directory& into) const {
    ib::iface::describe(into);
    into.file("connections", [this] { return std::to_string(by_number_.size()); });
    into.file("messages_received", [this] { return std::to_string(messages_); });
    into.file("send_completions", [this] { return std::to_string(completions_); });
    into.file("doorbells", [this] {
        std::uint64_t sum = doorbells_before_;
        for (const auto& [number, each] : by_number_)
            sum += each->queue().doorbells();
        return std::to_string(sum);
    });
    into.file("send_requests",
              [this] { return fmt::format("{} of {}", credits_.used(), credits_.size()); });
    into.folder("receive_pool", [this](ucs::vfs::directory& pool) { pool_->describe(pool); });
}

}  // namespace uct::rc
