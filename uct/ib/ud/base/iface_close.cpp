// Endpoints and interfaces end.
#include <algorithm>

#include "uct/ib/ud/base/ep.hpp"
#include "uct/ib/ud/base/iface.hpp"

namespace uct::ud {
namespace {

// Datagrams may be lost: what is not answered is said more than once.
constexpr unsigned times_to_leave = 4;
// A device that takes longer than that to send what it was given is broken.
constexpr ucs::time::nanoseconds device_time = ucs::time::second;

}  // namespace

void iface::leave(std::unique_ptr<connection> left) noexcept {
    left->user = nullptr;
    if (!free_program_memory(*left)) left->protocol.fail(UCS_ERR_NO_MEMORY);
    end_flushes(*left, left->protocol.window().next(), UCS_ERR_CANCELED);
    left->protocol.leave();
    look_after(*left);
    // The device is done with the program's memory before that is the program's again.
    const ucs::time::nanoseconds end = ucs::time::now() + device_time;
    tell_ended_of(*left);
    while (left->open > 0 && ucs::time::now() < end) {
        reap_sends();
        tell_ended_of(*left);
    }
    if (left->open > 0) {
        ucs::log::error(ib::ib_log, "{}: the device does not end what it has to send",
                        where().device);
        fail_all(UCS_ERR_IO_ERROR, completions::end);
        tell_ended_of(*left);
    }
    if (left->protocol.at() == sender::state::closed) {
        connections_.remove(left->id);
        return;
    }
    lingering_.add(std::move(left));  // there is room, see make_connection
    note_work();
}

// Messages that lie in the program's memory are copied, to be repeated from there.
bool iface::free_program_memory(connection& of) noexcept {
    packet_list& window = of.protocol.window().packets();
    for (auto at = window.begin(); at != window.end();) {
        auto& each = static_cast<packet&>(*at);
        ++at;
        if (!each.from_memory) continue;
        bounce* const copy = sends_out_.get_bounce();
        if (copy == nullptr) return false;
        auto& from = static_cast<direct&>(each);
        std::memcpy(copy->bytes, from.bytes, from.length);
        copy->length = from.length;
        for (std::size_t i = 1; i <= from.pieces.count(); ++i) {
            std::memcpy(copy->bytes + copy->length, reinterpret_cast<void*>(from.list[i].addr),
                        from.list[i].length);
            copy->length += from.list[i].length;
        }
        copy->on = &of;
        of.protocol.window().replace(from, *copy);
        from.status = UCS_ERR_CANCELED;
        sends_out_.retire(from);
    }
    return true;
}

void iface::tell_ended_of(connection& which) noexcept {
    packet_list others;
    packet_list& ended = sends_out_.ended();
    while (!ended.empty()) {
        auto& first = static_cast<direct&>(ended.front());
        ended.pop_front();
        if (first.on == &which) {
            tell(first);
        } else {
            others.push_back(first);
        }
    }
    ended.splice(ended.end(), others);
    flush_queue rest;
    while (!ended_flushes_.empty()) {
        flush_op& first = ended_flushes_.front();
        ended_flushes_.pop_front();
        if (first.on == &which) {
            tell(first);
        } else {
            rest.push_back(first);
        }
    }
    ended_flushes_.swap(rest);
}

// Connections whose peers have everything, or are lost.
void iface::bury() noexcept {
    lingering_.remove_ended([this](connection& each) {
        count_.repeated_before += each.protocol.window().repeated();
        connections_.remove(each.id);
    });
}

void iface::close() noexcept {
    closing_ = true;
    // What was accepted goes out, within bounds.
    const auto owing = [this] {
        std::size_t count = 0;
        lingering_.for_each([&count](connection& each) {
            if (!each.protocol.window().empty()) ++count;
        });
        return count;
    };
    const ucs::time::nanoseconds end =
        ucs::time::now() + ucs::time::from_seconds(options_.linger.seconds);
    while (owing() > 0 && ucs::time::now() < end) {
        receive();
        reap_sends();
        on_time(ucs::time::now());
        attend();
        bury();
        pool_->refill();
    }
    if (const auto owed = owing(); owed > 0) {
        ucs::log::diag(ib::ib_log,
                       "{}: {} peers have not confirmed the last messages, which may be lost",
                       where().device, owed);
    }
    acknowledge(true);
    say_goodbye();
    // Connections go while their packets still have somewhere to go.
    lingering_.for_each([this](connection& each) {
        each.protocol.fail(UCS_ERR_CANCELED);
        dismantle(each);
    });
    lingering_.clear();
    receivers_.for_each([this](receiver& each) { release_kept(each); });
    for (const arrival& each : overtaken_)
        pool_->give_back(*each.buffer);
    overtaken_.clear();
    sends_out_.stop();
    events_.remove_timer(wake_timer_);
    events_.remove_timer(sweep_timer_);
}

// Peers need not find out by waiting.
void iface::say_goodbye() noexcept {
    for (unsigned time = 0; time < times_to_leave; ++time) {
        receivers_.for_each([this](receiver& each) {
            if (!sends_out_.has_room()) wait_for_device(device_time);
            wire::header head{};
            head.what = wire::kind::ended;
            head.flags = wire::leaves;
            head.to = each.source();
            const std::uint64_t id = each.id();
            send_control(each.from(), head, std::as_bytes(std::span(&id, 1)));
        });
    }
    wait_for_device(device_time);
}

// Until it has sent everything; what has no completion of its own is behind one that has.
void iface::wait_for_device(ucs::time::nanoseconds most) noexcept {
    const ucs::time::nanoseconds end = ucs::time::now() + most;
    while (sends_out_.credits().outstanding() > sends_out_.credits().unsignaled() &&
           ucs::time::now() < end)
        reap_sends();
}

}  // namespace uct::ud
