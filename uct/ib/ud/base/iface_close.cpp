// Closing of endpoints and interfaces of unreliable datagrams.
#include <algorithm>

#include "uct/ib/ud/base/ep.hpp"
#include "uct/ib/ud/base/iface.hpp"

namespace uct::ud {
namespace {

// Datagrams may be lost, so messages without a reply are sent several times.
constexpr unsigned times_to_leave = 4;
// A device that takes longer to send its queue is broken.
constexpr ucs::time::nanoseconds device_time = ucs::time::second;

}  // namespace

void iface::leave(std::unique_ptr<connection> left) noexcept {
    left->endpoint = nullptr;
    if (!free_program_memory(*left)) left->protocol.fail(UCS_ERR_NO_MEMORY);
    end_flushes(*left, left->protocol.window.next(), UCS_ERR_CANCELED);
    left->protocol.close();
    update(*left);
    // The device must be done with the program's memory before the program reuses it.
    const ucs::time::nanoseconds end = ucs::time::now() + device_time;
    complete_operations_of(*left);
    while (left->open_operations > 0 && ucs::time::now() < end) {
        reap_sends();
        complete_operations_of(*left);
    }
    if (left->open_operations > 0) {
        ucs::log::error(ib_log, "{}: the device does not end what it has to send", where().device);
        fail_all(UCS_ERR_IO_ERROR, completions::end);
        complete_operations_of(*left);
    }
    if (left->protocol.current_state() == sender::state::closed) {
        connections_.remove(left->id);
        return;
    }
    lingering_.add(std::move(left));  // cannot fail, see make_connection
    note_work();
}

// Copies messages that lie in the program's memory, so that they can be repeated from the copies.
bool iface::free_program_memory(connection& conn) noexcept {
    packet_list& window = conn.protocol.window.packets();
    for (auto it = window.begin(); it != window.end();) {
        auto& each = static_cast<packet&>(*it);
        ++it;
        if (!each.from_memory) continue;
        bounce* const copy = transmitter_.get_bounce();
        if (copy == nullptr) return false;
        auto& from = static_cast<direct&>(each);
        std::memcpy(copy->bytes, from.bytes, from.length);
        copy->length = from.length;
        for (std::size_t i = 1; i <= from.pieces.count(); ++i) {
            std::memcpy(copy->bytes + copy->length, reinterpret_cast<void*>(from.list[i].addr),
                        from.list[i].length);
            copy->length += from.list[i].length;
        }
        copy->conn = &conn;
        conn.protocol.window.replace(from, *copy);
        from.status = UCS_ERR_CANCELED;
        transmitter_.retire(from);
    }
    return true;
}

void iface::complete_operations_of(connection& conn) noexcept {
    packet_list others;
    packet_list& ended = transmitter_.ended();
    while (!ended.empty()) {
        auto& first = static_cast<direct&>(ended.front());
        ended.pop_front();
        if (first.conn == &conn) {
            complete(first);
        } else {
            others.push_back(first);
        }
    }
    ended.splice(ended.end(), others);
    flush_queue rest;
    while (!ended_flushes_.empty()) {
        flush_op& first = ended_flushes_.front();
        ended_flushes_.pop_front();
        if (first.conn == &conn) {
            complete(first);
        } else {
            rest.push_back(first);
        }
    }
    ended_flushes_.swap(rest);
}

// Removes connections that are closed or have failed.
void iface::remove_ended_connections() noexcept {
    lingering_.remove_ended([this](connection& each) {
        count_.repeated_before += each.protocol.window.repeated();
        connections_.remove(each.id);
    });
}

void iface::close() noexcept {
    closing_ = true;
    // Accepted messages are still sent, for a limited time.
    const auto unacknowledged = [this] {
        std::size_t count = 0;
        lingering_.for_each([&count](connection& each) {
            if (!each.protocol.window.empty()) ++count;
        });
        return count;
    };
    const ucs::time::nanoseconds end =
        ucs::time::now() + ucs::time::from_seconds(options_.linger.seconds);
    while (unacknowledged() > 0 && ucs::time::now() < end) {
        receive();
        reap_sends();
        on_time(ucs::time::now());
        send_queued();
        remove_ended_connections();
        pool_->refill();
    }
    if (const auto count = unacknowledged(); count > 0) {
        ucs::log::diag(ib_log,
                       "{}: {} peers have not confirmed the last messages, which may be lost",
                       where().device, count);
    }
    acknowledge(true);
    notify_peers_of_close();
    // Connections end before the transmitter that takes back their packets.
    lingering_.for_each([this](connection& each) {
        each.protocol.fail(UCS_ERR_CANCELED);
        dismantle(each);
    });
    lingering_.clear();
    receivers_.for_each([this](receiver& each) { release_kept(each); });
    for (const arrival& each : delayed_)
        pool_->give_back(*each.buffer);
    delayed_.clear();
    transmitter_.stop();
    events_.remove_timer(wake_timer_);
    events_.remove_timer(sweep_timer_);
}

// Notifies the senders of all connections, which would otherwise wait for a timeout.
void iface::notify_peers_of_close() noexcept {
    for (unsigned time = 0; time < times_to_leave; ++time) {
        receivers_.for_each([this](receiver& each) {
            if (!transmitter_.has_room()) wait_for_device(device_time);
            wire::header head{};
            head.type = wire::kind::ended;
            head.flags = wire::iface_closes;
            head.to = each.source();
            const std::uint64_t id = each.id();
            send_control(each.from(), head, std::as_bytes(std::span(&id, 1)));
        });
    }
    wait_for_device(device_time);
}

// Waits until the device has sent everything. The last work request is signaled, so unsignaled ones
// before it complete with it.
void iface::wait_for_device(ucs::time::nanoseconds most) noexcept {
    const ucs::time::nanoseconds end = ucs::time::now() + most;
    while (transmitter_.credits().outstanding() > transmitter_.credits().unsignaled() &&
           ucs::time::now() < end)
        reap_sends();
}

}  // namespace uct::ud
