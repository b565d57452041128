// Requests of peers to open, check and close connections. All of their content is untrusted.
#include <algorithm>

#include "uct/ib/ud/base/ep.hpp"
#include "uct/ib/ud/base/iface.hpp"

namespace uct::ud {

// Ends a connection to make room for a new one.
void iface::displace(receiver& rx) noexcept {
    ++count_.displaced;
    if (rx.is_forgettable()) {
        remove(rx);  // its sender requests it again when it has data
        return;
    }
    rejected().warn(ib_log,
                    "{}: there are too many connections, one of queue pair {:#x} has ended, "
                    "which has most",
                    where().device, rx.from().where.pair);
    end_receiver(rx);
}

datagram_source iface::source_of(const arrival& arrived) const noexcept {
    datagram_source found{{}, arrived.from_lid, arrived.from_pair};
    const std::span bytes(arrived.buffer->data(), arrived.length);
    if (arrived.has_route) found.gid = source_gid(bytes.first<wire::route_header>(), own_.port);
    return found;
}

// A reply goes to the address that the datagram claims. If no port has that address, the device
// resolves it for seconds while progress waits. So the claim must match the source.
std::optional<wire::hello> iface::parse_hello(const wire::datagram& datagram,
                                              const datagram_source& source,
                                              const char* title) noexcept {
    auto found = wire::hello::parse(datagram.body);
    if (!found) {
        malformed(source.pair, title);
    } else if (!source.may_be(found->from.port, found->from.pair)) {
        malformed(source.pair, "an address in it that is not where it comes from");
        found.reset();
    }
    return found;
}

void iface::take_request(const wire::datagram& datagram, const arrival& arrived) {
    const datagram_source source = source_of(arrived);
    const std::uint32_t from_pair = source.pair;
    const auto hello = parse_hello(datagram, source, "a request");
    if (!hello || closing_) return;
    const psn number(datagram.head.number);
    receiver* rx = receivers_.find(hello->from, hello->connection);
    const bool fresh = rx == nullptr;
    if (fresh) {
        std::shared_ptr<peer> from = find_peer(hello->from);
        if (from == nullptr) return malformed(from_pair, "the address in a request");
        const auto room = receivers_.admit(source);
        if (!room.admitted) return malformed(from_pair, "one request too many");
        if (resolve_address_handle(*from) != UCS_OK)
            return malformed(from_pair, "there is no way back to it");
        const ended_source made_by{hello->from, hello->connection};
        if (std::ranges::find(ended_receivers_, made_by) != ended_receivers_.end())
            return send_ended(*from, hello->connection, 0);  // the first notification was lost
        // This comes last, so that a refused request ends no other connection.
        if (room.displaced != nullptr) displace(*room.displaced);
        rx = &receivers_.add(std::move(from), *hello, number, source);
        watch_receivers();
    } else if (forgets(*rx, datagram)) [[unlikely]] {
        return remove(*rx);
    }
    rx->heard = true;
    peers_.note_heard(rx->from(), source);
    rx->confirm(number);
    if (datagram.head.type == wire::kind::resync && rx->is_new_resync(hello->request_number)) {
        ++count_.resyncs;
        if (!fresh) {
            release_kept(*rx);
            rx->window.restart(number);
            rx->parts.drop();
            rx->confirm(number);
        }
    }
    wire::header head{};
    head.type = wire::kind::reply;
    head.to = rx->source();
    head.number = rx->window.expected().value();
    std::array<std::byte, wire::welcome::size> body;
    wire::welcome{rx->id(), hello->request_number}.pack(body);
    send_control(rx->from(), head, body);  // if it is not sent, the peer repeats its request
}

// For tests. The request has the number of the oldest packet that is not acknowledged. If that is
// the next expected one, the sender knows of all delivered packets, and none is repeated.
bool iface::forgets(const receiver& rx, const wire::datagram& datagram) noexcept {
    return datagram.head.type == wire::kind::request &&
           psn(datagram.head.number) == rx.window.expected() && !rx.parts.is_open() &&
           faults_.forgets();
}

void iface::take_reply(const wire::datagram& datagram, const arrival& arrived) noexcept {
    connection* const conn = find(datagram.head.to, arrived.from_pair);
    const auto welcome = wire::welcome::parse(datagram.body);
    if (!welcome) return malformed(arrived.from_pair, "a reply");
    if (conn == nullptr) return;
    peers_.note_heard(conn->to(), source_of(arrived));
    packet_list done;
    conn->protocol.on_reply(*welcome, psn(datagram.head.number), ucs::time::now(), done);
    update(*conn, done);
}

void iface::take_goodbye(const wire::datagram& datagram, const arrival& arrived) {
    const datagram_source source = source_of(arrived);
    const auto hello = parse_hello(datagram, source, "a goodbye");
    if (!hello) return;
    receiver* const gone = receivers_.find(hello->from, hello->connection);
    const std::shared_ptr<peer> from = find_peer(hello->from);
    if (from == nullptr || resolve_address_handle(*from) != UCS_OK)
        return malformed(source.pair, "a goodbye");
    if (gone != nullptr) remove(*gone);
    wire::header head{};
    head.type = wire::kind::ended;
    head.to = hello->connection;
    send_control(*from, head, std::as_bytes(std::span(&datagram.head.to, 1)));
}

void iface::take_ended(const wire::datagram& datagram, const arrival& arrived) noexcept {
    const std::uint64_t gone = wire::u64_in(datagram.body);
    connection* conn = nullptr;
    if (datagram.head.to != 0) {
        conn = find(datagram.head.to, arrived.from_pair);
    } else if (gone != 0) {
        conn = static_cast<connection*>(peers_.find_connection(
            source_of(arrived),
            [gone](const sending_side& each) { return each.protocol.remote() == gone; }));
    }
    if (conn == nullptr || conn->protocol.is_ended()) return;
    if ((datagram.head.flags & wire::iface_closes) != 0) {
        conn->protocol.fail(UCS_ERR_NOT_CONNECTED);
    } else {
        conn->protocol.on_unknown(gone, ucs::time::now());
    }
    update(*conn);
}

// A data packet does not name its sender, but the peers that were heard from its source are known.
// If several peers share the source, its owner claims several interfaces, and only the latest of
// them get a reply.
void iface::reply_unknown(std::uint64_t id, const datagram_source& source) noexcept {
    ++count_.unknown;
    peers_.visit_heard(source, [&](peer& known) {
        wire::header head{};
        head.type = wire::kind::ended;
        send_control(known, head, std::as_bytes(std::span(&id, 1)));
    });
}

void iface::release_kept(receiver& rx) noexcept {
    rx.window.drop([&](const kept_packet& each) {
        receivers_.count_released(rx);
        pool_->give_back(*each.buffer);
    });
}

// The other direction is a connection of its own, which stays.
bool iface::end_connection(std::uint64_t number, ucs_status_t) noexcept {
    receiver* ended = nullptr;
    receivers_.for_each([&](receiver& each) {
        if (each.number() == number) ended = &each;
    });
    if (ended == nullptr) return false;
    end_receiver(*ended);
    return true;
}

void iface::end_receiver(receiver& ended) noexcept {
    ended_receivers_[ended_receivers_count_++ % ended_receivers_.size()] = {ended.from().where,
                                                                            ended.source()};
    send_ended(ended.from(), ended.source(), ended.id());
    remove(ended);
}

void iface::append_connections(std::vector<std::uint64_t>& into) const {
    receivers_.append_numbers(into);
}

void iface::send_ended(peer& sender, std::uint64_t source, std::uint64_t id) noexcept {
    wire::header head{};
    head.type = wire::kind::ended;
    head.flags = wire::iface_closes;
    head.to = source;
    send_control(sender, head, std::as_bytes(std::span(&id, 1)));
}

void iface::remove(receiver& gone) noexcept {
    release_kept(gone);
    receivers_.remove(gone);
}

}  // namespace uct::ud
