// Connections of peers come, are found out about, and go. Everything that they say may be anything.
#include <algorithm>

#include "uct/ib/ud/base/ep.hpp"
#include "uct/ib/ud/base/iface.hpp"

namespace uct::ud {

// Ends a connection whose place a newcomer takes.
void iface::displace(receiver& on) noexcept {
    ++count_.displaced;
    if (on.is_forgettable()) {
        remove(on);  // its sender asks for it again when it has something to send
        return;
    }
    rejected().warn(ib::ib_log,
                    "{}: there are too many connections, one of queue pair {:#x} has ended, "
                    "which has most",
                    where().device, on.from().where.pair);
    cut_off(on);
}

datagram_source iface::source_of(const arrival& arrived) const noexcept {
    datagram_source found{{}, arrived.from_lid, arrived.from_pair};
    const std::span bytes(arrived.buffer->data(), arrived.length);
    if (arrived.has_route) found.gid = source_gid(bytes.first<wire::route_header>(), own_.port);
    return found;
}

// An answer goes to the address that the datagram claims. If that is one that nobody has, the
// device looks for a neighbor for seconds while progress waits. So the claim must be true.
std::optional<wire::hello> iface::hello_in(const wire::datagram& what,
                                           const datagram_source& source,
                                           const char* title) noexcept {
    auto found = wire::hello::parse(what.body);
    if (!found) {
        malformed(source.pair, title);
    } else if (!source.may_be(found->from.port, found->from.pair)) {
        malformed(source.pair, "an address in it that is not where it comes from");
        found.reset();
    }
    return found;
}

void iface::take_request(const wire::datagram& what, const arrival& arrived) noexcept {
    const datagram_source source = source_of(arrived);
    const std::uint32_t from_pair = source.pair;
    const auto by = hello_in(what, source, "a request");
    if (!by || closing_) return;
    const psn number(what.head.number);
    receiver* on = receivers_.find(by->from, by->connection);
    const bool fresh = on == nullptr;
    if (fresh) {
        std::shared_ptr<peer> from;
        try {
            from = find_peer(by->from);
        } catch (const std::bad_alloc&) {
            return;
        }
        if (from == nullptr) return malformed(from_pair, "the address in a request");
        const auto room = receivers_.admit(source);
        if (!room.admitted) return malformed(from_pair, "one request too many");
        if (find_way(*from) != UCS_OK) return malformed(from_pair, "there is no way back to it");
        const cut_off_source who{by->from, by->connection};
        if (std::ranges::find(cut_off_, who) != cut_off_.end())
            return tell_end(*from, by->connection, 0);  // the first time was lost
        // Last, so that a request which gets no place ends no other connection.
        if (room.displaced != nullptr) displace(*room.displaced);
        on = receivers_.add(std::move(from), *by, number, source);
        if (on == nullptr) return;
        watch_receivers();
    } else if (forgets(*on, what)) [[unlikely]] {
        return remove(*on);
    }
    on->heard = true;
    peers_.note_heard(on->from(), source);
    on->confirm(number);
    if (what.head.what == wire::kind::resync && on->is_new_resync(by->question)) {
        ++count_.resyncs;
        if (!fresh) {
            release_kept(*on);
            on->window.restart(number);
            on->parts.drop();
            on->confirm(number);
        }
    }
    wire::header head{};
    head.what = wire::kind::reply;
    head.to = on->source();
    head.number = on->window.expected().value();
    std::array<std::byte, wire::welcome::size> body;
    wire::welcome{on->id(), by->question}.pack(body);
    send_control(on->from(), head, body);  // lost where there is no room: it is asked for again
}

// For tests. The question has the number of the oldest packet that is not acknowledged. When that
// is the next one here, the sender knows of all that was delivered, and nothing is repeated.
bool iface::forgets(const receiver& on, const wire::datagram& what) noexcept {
    return what.head.what == wire::kind::request && psn(what.head.number) == on.window.expected() &&
           !on.parts.is_open() && faults_.forgets();
}

void iface::take_reply(const wire::datagram& what, const arrival& arrived) noexcept {
    connection* const on = find(what.head.to, arrived.from_pair);
    const auto by = wire::welcome::parse(what.body);
    if (!by) return malformed(arrived.from_pair, "a reply");
    if (on == nullptr) return;
    peers_.note_heard(on->to(), source_of(arrived));
    packet_list done;
    on->protocol.welcomed(*by, psn(what.head.number), ucs::time::now(), done);
    look_after(*on, done);
}

void iface::take_goodbye(const wire::datagram& what, const arrival& arrived) noexcept {
    const datagram_source source = source_of(arrived);
    const auto by = hello_in(what, source, "a goodbye");
    if (!by) return;
    receiver* const gone = receivers_.find(by->from, by->connection);
    std::shared_ptr<peer> from;
    try {
        from = find_peer(by->from);
    } catch (const std::bad_alloc&) {
        return;
    }
    if (from == nullptr || find_way(*from) != UCS_OK) return malformed(source.pair, "a goodbye");
    if (gone != nullptr) remove(*gone);
    wire::header head{};
    head.what = wire::kind::ended;
    head.to = by->connection;
    send_control(*from, head, std::as_bytes(std::span(&what.head.to, 1)));
}

void iface::take_ended(const wire::datagram& what, const arrival& arrived) noexcept {
    const std::uint64_t gone = wire::word_in(what.body);
    connection* on = nullptr;
    if (what.head.to != 0) {
        on = find(what.head.to, arrived.from_pair);
    } else if (gone != 0) {
        on = static_cast<connection*>(peers_.find_connection(
            source_of(arrived),
            [gone](const sending_side& each) { return each.protocol.remote() == gone; }));
    }
    if (on == nullptr || on->protocol.ended()) return;
    if ((what.head.flags & wire::leaves) != 0) {
        on->protocol.left();
    } else {
        on->protocol.unknown(gone, ucs::time::now());
    }
    look_after(*on);
}

// Data does not say whose it is, but peers that were heard from there are known. More than one
// comes from that queue pair only if its owner claims several interfaces; then some get no answer.
void iface::answer_unknown(std::uint64_t id, const datagram_source& source) noexcept {
    ++count_.unknown;
    peers_.visit_heard(source, [&](peer& known) {
        wire::header head{};
        head.what = wire::kind::ended;
        send_control(known, head, std::as_bytes(std::span(&id, 1)));
    });
}

void iface::release_kept(receiver& of) noexcept {
    of.window.drop([&](const kept_packet& each) {
        receivers_.count_released(of);
        pool_->give_back(*each.buffer);
    });
}

// The other direction has a connection of its own.
bool iface::end_connection(std::uint64_t number, ucs_status_t) noexcept {
    receiver* ended = nullptr;
    receivers_.for_each([&](receiver& each) {
        if (each.number() == number) ended = &each;
    });
    if (ended == nullptr) return false;
    cut_off(*ended);
    return true;
}

void iface::cut_off(receiver& ended) noexcept {
    cut_off_[cut_off_count_++ % cut_off_.size()] = {ended.from().where, ended.source()};
    tell_end(ended.from(), ended.source(), ended.id());
    remove(ended);
}

void iface::append_connections(std::vector<std::uint64_t>& into) const {
    receivers_.append_numbers(into);
}

void iface::tell_end(peer& sender, std::uint64_t source, std::uint64_t id) noexcept {
    wire::header head{};
    head.what = wire::kind::ended;
    head.flags = wire::leaves;
    head.to = source;
    send_control(sender, head, std::as_bytes(std::span(&id, 1)));
}

void iface::remove(receiver& gone) noexcept {
    release_kept(gone);
    receivers_.remove(gone);
}

}  // namespace uct::ud
