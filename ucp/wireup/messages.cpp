#include "ucp/wireup/messages.hpp"

#include <cstring>
#include <new>
#include <optional>
#include <vector>

#include "ucp/cm/endpoint.hpp"
#include "ucp/core/handler.hpp"
#include "ucp/core/log.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/wireup/pair_wire.hpp"
#include "ucp/wireup/proof.hpp"
#include "ucp/wireup/wire.hpp"

namespace ucp::wireup {

namespace {

using wire::wireup_header;
using wire::wireup_type;

// The sender's packed worker address in a message that holds one. Nothing: it is malformed.
std::optional<std::span<const std::byte>> address_in(wireup_type type,
                                                     std::span<const std::byte> body) {
    if (type != wireup_type::pair) return body;
    const auto question = parse_question(body);
    return question ? std::optional(question->address) : std::nullopt;
}

// Returns whether the sender starts a connection with this message. The lanes to it may lead
// elsewhere, while an answer shows that they have reached it.
bool starts_connection(wireup_type type) {
    return type == wireup_type::request || type == wireup_type::bind || type == wireup_type::pair;
}

wireup_type with_flag(wireup_type type, std::uint8_t flag, bool set) {
    return set ? static_cast<wireup_type>(static_cast<std::uint8_t>(type) | flag) : type;
}

bool take_flag(wireup_type& type, std::uint8_t flag) {
    const auto said = static_cast<std::uint8_t>(type);
    type = static_cast<wireup_type>(said & ~flag);
    return (said & flag) != 0;
}

// Facts about a proven message that its header does not show.
struct arrival_facts {
    std::uint64_t ep = 0;                  // the sender's
    bool full = false;                     // the sender has no room for more than it has asked for
    ucs::sys::process_identity process{};  // that sent it, as the kernel says; none: not known
    std::uint64_t connection = 0;  // by which it came, see uct::iface::connection_of; 0: not known
};

void note(const ep& to, const arrival_facts& facts) {
    // Later it may be a copy of a message that was recorded on its way. What is full then is told
    // when the endpoint asks.
    const state at = to.connection();
    if (at != state::idle && at != state::requested) return;
    if (facts.full) to.remote().begin_held();
    to.remote().learn_process(facts.process);
    if (facts.connection != 0) to.remote().learn_connection(facts.connection);
}

ucs::sys::process_identity sender_process(const worker& owner, const uct::peer_bytes& message) {
    for (std::size_t i = 0; i < owner.interface_count(); ++i) {
        const uct::iface* const each = owner.interface(i);
        if (each == nullptr) continue;
        const auto shown = each->sender_process(message);
        if (shown.pid != 0) return shown;
    }
    return {};
}

wireup_header header_of(const ep& from, wireup_type type, std::uint64_t last) {
    type = with_flag(type, wire::over_pair, connects(type) && from.remote().in_pairs());
    // The other side sends as soon as it has it.
    type = with_flag(type, wire::no_room, !from.owner().matcher().room().has_room());
    return {type, {}, from.owner().uid(), from.remote().uid(), from.id(), last};
}

void send(ep& from, wireup_header header, std::span<const std::byte> body) {
    from.remote().seal(header, body);
    from.remote().send_control(wire::wireup, std::as_bytes(std::span(&header, 1)), body);
}

// The message was meant for a worker that had this address before. Nothing in it can be proven
// here.
void on_stray(worker& owner, const wireup_header& header, std::span<const std::byte> body) {
    if (!can_be_refused(header.type)) return;
    owner.rejected().warn(wireup_log,
                          "worker {:x} asked for worker {:x}, which is not here any more: refused",
                          header.uid, header.peer_uid);
    if (const auto address = address_in(header.type, body))
        owner.refuse(worker::evidence::none, header, *address);
}

// A message that connects makes its endpoint ready, which therefore needs lanes. Its peer object
// may have none yet: the bind tells a client the peer, and an endpoint may have been handed to
// another peer object, because the worker has given another address than its client
// (peer::hand_waiting_to). A message that finds no lanes came without pairs, so these lanes do
// without them, too.
bool ensure_lanes(ep& about) {
    return about.ensure_lanes(pairs::excluded);
}

void on_request(worker& owner, const wireup_header& header, std::span<const std::byte> address,
                const arrival_facts& facts) {
    ep* accepted = owner.accept(header, facts.ep, address);
    if (accepted == nullptr || !ensure_lanes(*accepted)) return;
    accepted->set_remote_id(facts.ep);
    note(*accepted, facts);
    accepted->handle(event::request);
}

// A client by socket address has no peer before its bind: nobody can have an answer for it, whoever
// he says he is.
bool expects(const ep& asked, std::uint64_t uid) {
    const cm::ep_part* part = asked.by_socket();
    return asked.remote().uid() == uid && (part == nullptr || !part->waits_for_bind());
}

// The end of an endpoint that is not, or not any more, the other half of this one.
bool is_of_another(const ep& to, const wireup_header& header) {
    const bool ends = header.type == wireup_type::close || header.type == wireup_type::failed;
    return ends && is_established(to.connection()) && to.remote_id() != header.ep;
}

void on_bind(worker& owner, const wireup_header& header, std::span<const std::byte> address,
             const arrival_facts& facts) {
    ep* client = owner.find_ep(header.peer_ep_or_number);
    const cm::ep_part* part = client == nullptr ? nullptr : client->by_socket();
    const bool waits = part != nullptr && part->which() == cm::ep_part::half::client &&
                       part->token() == header.token() && client->failure() == UCS_OK;
    // Asked again over another lane, or for the first time.
    const bool again = part != nullptr && part->which() == cm::ep_part::half::client &&
                       expects(*client, header.uid) && client->remote_id() == facts.ep;
    // A client that closes tells the server. One that failed may have told nothing that reached it.
    if (!waits && again && !is_over(client->connection())) return;
    if (!waits || (!part->waits_for_bind() && !again)) {
        owner.refuse(worker::evidence::proof, header, address);
        return;
    }
    if (!again) {
        if (!owner.bind(*client, header, address)) return;
        client->set_remote_id(facts.ep);
    }
    if (!ensure_lanes(*client)) return;
    note(*client, facts);
    client->handle(event::request);
}

// A client at a listener has said where its worker is, and now the worker says so itself. False: it
// is elsewhere, somebody has changed what the client said, and the connection ends.
bool is_at_claimed_address(worker& owner, ep& served, const wireup_header& header,
                           std::span<const std::byte> address) {
    const peer& claimed = served.remote();
    if (!claimed.is_claimed() || !is_waiting(served.connection())) return true;
    if (claimed.has_address(address)) {
        owner.intern(claimed.identity(), peer::source::given, address);
        return true;
    }
    owner.rejected().warn(wireup_log,
                          "a client came with an address of worker {:x} that is not the worker's: "
                          "the connection ends",
                          header.uid);
    served.handle(event::failure, UCS_ERR_REJECTED);
    owner.refuse(worker::evidence::proof, header, address);
    return false;
}

void on_reply(worker& owner, ep* answered, const wireup_header& header,
              std::span<const std::byte> address, const arrival_facts& facts) {
    const bool gone = answered == nullptr || is_over(answered->connection());
    const bool known = !gone && is_established(answered->connection());
    if (gone || (known && answered->remote_id() != facts.ep)) {
        // Our request outlived its connection, or a repeated one came after the peer had closed
        // its end: the endpoint that it made has no other half.
        owner.refuse(worker::evidence::proof, header, address);
        return;
    }
    if (answered->connection() == state::requested || answered->connection() == state::abandoned) {
        answered->set_remote_id(facts.ep);
    }
    if (!is_at_claimed_address(owner, *answered, header, address) || !ensure_lanes(*answered))
        return;
    note(*answered, facts);
    answered->handle(event::reply);
}

// The peer's worker has ended or refused an endpoint because it has too many.
void tell_too_many(worker& owner, const ep& ended) {
    if (ended.failure() != UCS_OK) return;
    owner.unreachable().warn(
        wireup_log,
        "worker {:x} ends the connection: peers have made as many endpoints there as they may that "
        "its program has not asked for",
        ended.remote().uid());
}

void on_failed(worker& owner, ep& ended, wire::end_reason reason) {
    const bool is_one_of_many = reason == wire::end_reason::too_many;
    if (is_one_of_many) tell_too_many(owner, ended);
    ended.handle(event::peer_failure,
                 is_one_of_many ? UCS_ERR_EXCEEDS_LIMIT : UCS_ERR_CONNECTION_RESET);
}

void on_refusal(worker& owner, ep& refused, wire::end_reason reason) {
    if (refused.by_socket() != nullptr) {
        // A client that asked was there a moment ago.
        refused.handle(event::failure, UCS_ERR_CONNECTION_RESET);
        return;
    }
    if (reason == wire::end_reason::too_many) {
        tell_too_many(owner, refused);
        refused.handle(event::failure, UCS_ERR_EXCEEDS_LIMIT);
        return;
    }
    if (refused.failure() == UCS_OK) tell_unreachable(owner, refused.remote());
    refused.handle(event::failure, UCS_ERR_UNREACHABLE);
}

void drop_malformed(worker& owner, const wireup_header& header) {
    owner.rejected().warn(wireup_log,
                          "a message of worker {:x} about lanes that come in pairs is malformed: "
                          "dropped",
                          header.uid);
}

// About lanes, which all endpoints to a worker share.
void on_pair_message(worker& owner, peer* from, const wireup_header& header,
                     std::span<const std::byte> body) {
    if (header.type == wireup_type::pair) {
        take_question(owner, header, body);
        return;
    }
    if (from == nullptr) return;  // nobody wants it any more
    if (header.type == wireup_type::joined) {
        from->partner_joined(header.ep);
        return;
    }
    if (header.type == wireup_type::unpaired) {
        from->unpaired(header.ep, static_cast<wire::unpaired_reason>(header.peer_ep_or_number));
        return;
    }
    if (const auto answer = parse_answer(body)) {
        from->paired(header.ep, *answer);
    } else {
        drop_malformed(owner, header);
    }
}

// The verdict on who made a message, found without changing anything.
enum class origin : std::uint8_t { proven, forged, unknown };

struct judgement {
    origin verdict = origin::unknown;
    peer* from = nullptr;       // the sender's peer object that is in use
    ep* about = nullptr;        // the endpoint here that the message names, if it is the sender's
    std::uint64_t ep_mask = 0;  // hides the number of the sender's endpoint
};

// The sender may have been given either of the worker's addresses.
bool is_proven_to(const worker& owner, const ucs::security::key& shared, const wireup_header& sent,
                  std::span<const std::byte> body) {
    return is_proven(shared, owner.address(false), sent, body) ||
           is_proven(shared, owner.address(true), sent, body);
}

bool proves(peer& sender, const wireup_header& sent, std::span<const std::byte> body) {
    const ucs::security::key* const shared = sender.shared_key();
    return shared != nullptr && is_proven_to(sender.owner(), *shared, sent, body);
}

origin judge(bool proven) noexcept {
    return proven ? origin::proven : origin::forged;
}

// The verdict on a message under this key, if there is one.
judgement judge_by_key(const worker& owner, const ucs::security::key* shared,
                       const wireup_header& header, const wireup_header& sent,
                       std::span<const std::byte> body) {
    if (shared == nullptr || !is_proven_to(owner, *shared, sent, body)) return {origin::forged};
    judgement proven{origin::proven};
    if (connects(header.type)) proven.ep_mask = make_ep_mask(*shared, header.receipt);
    return proven;
}

judgement judge_by_key(peer& sender, const wireup_header& header, const wireup_header& sent,
                       std::span<const std::byte> body) {
    judgement judged = judge_by_key(sender.owner(), sender.shared_key(), header, sent, body);
    judged.from = &sender;
    return judged;
}

// The endpoint or the attempt that is refused was told to the sender by a receipt.
bool holds_receipt(const wireup_header& header, const ucs::security::key& shared,
                   const worker& asking, std::uint64_t number) {
    return ucs::security::same_tag(make_receipt(shared, asking.uid(), number), header.receipt);
}

// The number of the endpoint is hidden as in the message that is refused, by the key of this worker
// and of the one that it asked.
judgement judge_refusal(worker& owner, const wireup_header& header) {
    ep* refused = nullptr;
    bool has_any = false;
    const peer* const asked = owner.find_proving_peer(header.uid, [&](peer& each) {
        has_any = true;
        const ucs::security::key* const shared = each.shared_key();
        if (shared == nullptr) return false;
        const std::uint64_t id = header.peer_ep_or_number ^ make_ep_mask(*shared, header.receipt);
        refused = owner.find_ep(id);
        return refused != nullptr && refused->remote().identity() == each.identity() &&
               holds_receipt(header, *shared, owner, id);
    });
    if (asked != nullptr) return {origin::proven, &refused->remote(), refused};
    return {has_any ? origin::forged : origin::unknown};
}

// About lanes in pairs, and without an address: the sender is known by the attempt, or else one of
// those that have this uid and whose key proves the message.
judgement judge_of_attempt(worker& owner, const wireup_header& header, const wireup_header& sent,
                           std::span<const std::byte> body) {
    const bool is_refusal =
        header.type == wireup_type::unpaired &&
        header.peer_ep_or_number == static_cast<std::uint64_t>(wire::unpaired_reason::not_here);
    const auto judge_by_key_of = [&](peer& each) {
        if (!is_refusal) return judge(proves(each, sent, body));
        const ucs::security::key* const shared = each.shared_key();
        return judge(shared != nullptr && holds_receipt(header, *shared, owner, header.ep));
    };
    peer* known = owner.find_peer_if(
        header.uid, [&](const peer& each) { return each.knows_attempt(header.ep); });
    if (known != nullptr) return {judge_by_key_of(*known), known};
    known = owner.find_proving_peer(
        header.uid, [&](peer& each) { return judge_by_key_of(each) == origin::proven; });
    if (known != nullptr) return {origin::proven, known};
    const bool has_any = owner.find_peer_if(header.uid, [](const peer&) { return true; });
    return {has_any ? origin::forged : origin::unknown};
}

// The endpoint that the message names, if it belongs to the sender.
ep* named(worker& owner, const wireup_header& header) {
    ep* const found = owner.find_ep(header.peer_ep_or_number);
    return found != nullptr && expects(*found, header.uid) ? found : nullptr;
}

// The sender has put the address of its worker into the message.
judgement judge_by_address(worker& owner, const wireup_header& header, const wireup_header& sent,
                           std::span<const std::byte> body) {
    const auto packed = address_in(header.type, body);
    if (!packed) return {origin::forged};
    const auto identity = address::identity_in(*packed);
    if (identity && address::uid_of(*identity) == header.uid) {
        peer* const known = owner.find_peer(*identity, *packed);
        if (known != nullptr) return judge_by_key(*known, header, sent, body);
        const auto shared = owner.agree(*identity);
        return judge_by_key(owner, shared ? &*shared : nullptr, header, sent, body);
    }
    // A worker that is known may send the wrong address, which its receiver is told.
    judgement judged;
    const peer* const known = owner.find_proving_peer(header.uid, [&](peer& each) {
        judged = judge_by_key(each, header, sent, body);
        return judged.verdict == origin::proven;
    });
    if (known != nullptr) return judged;
    const auto theirs = address::parse(*packed, &owner.rejected());
    return {theirs ? origin::forged : origin::unknown};  // parse() has logged why
}

// `header` without flags, `sent` as it came.
judgement origin_of(worker& owner, const wireup_header& header, const wireup_header& sent,
                    std::span<const std::byte> body) {
    switch (header.type) {
        case wireup_type::refuse:
            return judge_refusal(owner, header);
        case wireup_type::request:
        case wireup_type::bind:
        case wireup_type::pair:
            return judge_by_address(owner, header, sent, body);
        case wireup_type::paired:
        case wireup_type::unpaired:
        case wireup_type::joined:
            return judge_of_attempt(owner, header, sent, body);
        default:
            break;
    }
    ep* const about = named(owner, header);
    const bool is_of_known = about != nullptr && owner.is_known(about->remote());
    judgement judged;
    if (header.type == wireup_type::reply && !is_of_known) {
        judged = judge_by_address(owner, header, sent, body);
    } else if (about != nullptr) {
        judged = judge_by_key(about->remote(), header, sent, body);
    }
    judged.about = about;
    return judged;
}

// An endpoint that is ready sends over the lanes that there are, so what makes it ready has to have
// come over these: while they become a pair, or when only one side has a pair, because the other
// has left it or will join it, the two do not mean the same. Then it is asked again.
bool is_of_other_lanes(peer* from, const wireup_header& header, bool over_pair) {
    const bool fits = from == nullptr ? !over_pair : from->takes_word(over_pair);
    if (!fits) {
        ucs::log::debug(wireup_log, "what worker {:x} said about an endpoint came over other lanes",
                        header.uid);
    }
    return !fits;
}

// The sender may have reached this worker by an address that is not the worker's, and would wait
// for ever. The receipt tells it, as when the worker is not here any more.
void refuse_unproven(worker& owner, const wireup_header& header, std::span<const std::byte> body) {
    if (header.type != wireup_type::request && header.type != wireup_type::pair) return;
    if (const auto address = address_in(header.type, body))
        owner.refuse(worker::evidence::none, header, *address);
}

// The lanes to the sender are made anew if an address with its key led them to somebody else.
// Returns whether its own address is one; if not, one line has said so.
bool correct_address(peer& sender, const wireup_header& header, std::span<const std::byte> body) {
    ucs::log::throttle& rejected = sender.owner().rejected();
    const auto address = address_in(header.type, body);
    if (!address || address::identity_in(*address) != sender.identity()) return true;
    // One that cannot be read whole must not replace one that can.
    if (!address::parse(*address, &rejected).ok()) return false;
    const auto length = address::packed_length(*address, &rejected);
    if (sender.readdress(address->first(*length))) {
        rejected.warn(wireup_log,
                      "worker {:x} has another address than the program was given: its own address "
                      "is used",
                      header.uid);
    }
    return true;
}

bool is_believed(worker& owner, const wireup_header& header, origin from) {
    if (from == origin::unknown) {
        ucs::log::debug(wireup_log,
                        "a connection message of worker {:x} that concerns nothing here was "
                        "dropped",
                        header.uid);
    } else if (from == origin::forged) {
        owner.rejected().warn(wireup_log,
                              "a connection message in the name of worker {:x} that this worker "
                              "has not proven was dropped",
                              header.uid);
    }
    return from == origin::proven;
}

void on_message(void* arg, uct::peer_bytes message) {
    auto& owner = *static_cast<worker*>(arg);
    // Addresses and connection data are parsed, and copied again later: they must not change.
    const std::vector<std::byte> copy = message.copy();
    wireup_header header;
    if (!read_header(owner, wire::wireup, {copy.data(), copy.size()}, header)) return;
    const wireup_header sent = header;
    arrival_facts facts{.full = take_flag(header.type, wire::no_room)};
    const bool over_pair = take_flag(header.type, wire::over_pair);
    const auto body = std::span(copy).subspan(sizeof header);
    if (header.peer_uid != owner.uid()) {
        on_stray(owner, header, body);
        return;
    }
    const judgement judged = origin_of(owner, header, sent, body);
    if (!is_believed(owner, header, judged.verdict)) {
        if (judged.verdict == origin::forged) refuse_unproven(owner, header, body);
        return;
    }
    // Lanes are known to their interfaces as long as they exist.
    facts.ep = header.ep ^ judged.ep_mask;
    facts.process = sender_process(owner, message);
    facts.connection = owner.connection_of(message);
    if (judged.from != nullptr && starts_connection(header.type) &&
        !correct_address(*judged.from, header, body))
        return;
    if (connects(header.type) && is_of_other_lanes(judged.from, header, over_pair)) return;
    if (header.type == wireup_type::request) {
        on_request(owner, header, body, facts);
        return;
    }
    if (header.type == wireup_type::reply) {
        on_reply(owner, judged.about, header, body, facts);
        return;
    }
    if (header.type == wireup_type::bind) {
        on_bind(owner, header, body, facts);
        return;
    }
    if (header.type >= wireup_type::pair && header.type <= wireup_type::joined) {
        on_pair_message(owner, judged.from, header, body);
        return;
    }
    ep* const to = judged.about;
    if (is_of_another(*to, header)) return;
    switch (header.type) {
        case wireup_type::close:
            to->handle(event::peer_close);
            return;
        case wireup_type::failed:
            on_failed(owner, *to, header.reason());
            return;
        case wireup_type::refuse:
            on_refusal(owner, *to, header.reason());
            return;
        default:
            break;
    }
    owner.rejected().warn(wireup_log, "a connection message of unknown type {} was dropped",
                          static_cast<unsigned>(header.type));
}

}  // namespace

void take_question(worker& owner, const wireup_header& header, std::span<const std::byte> body) {
    const auto question = parse_question(body);
    if (!question || header.uid == owner.uid()) {
        drop_malformed(owner, header);
        return;
    }
    const auto theirs = address::parse(question->address, &owner.rejected());
    if (!theirs) return;
    if (theirs->uid() != header.uid) {
        drop_malformed(owner, header);
        return;
    }
    peer& from = owner.intern_asking(theirs->identity, question->address);
    const peer_use kept(from);
    from.asked_to_pair(header, *question, body);
    from.note_lanes();
}

void tell_unreachable(worker& owner, const peer& refusing) noexcept {
    try {
        owner.unreachable().warn(
            wireup_log,
            "worker {:x} ({}) is unreachable: the process at its address refuses, because the "
            "worker is not there any more or has another address; {}",
            refusing.uid(), refusing.worker_name(), refusing.list_transports());
    } catch (const std::bad_alloc&) {
        owner.unreachable().warn(wireup_log, "worker {:x} is unreachable: it is not there any more",
                                 refusing.uid());
    }
}

void send_request(ep& from) {
    wireup_header header = header_of(from, wireup_type::request, from.number());
    header.set_order(from.owner().requests_in_order().next());
    send(from, header, from.owner().address(false));
}

void send_reply(ep& from) {
    send(from, header_of(from, wireup_type::reply, from.remote_id()), from.owner().address(false));
}

void send_bind(ep& from) {
    wireup_header header = header_of(from, wireup_type::bind, from.remote_id());
    header.set_token(from.by_socket()->token());
    send(from, header, from.owner().address(false));
}

void send_close(ep& from) {
    from.say_last(wireup_type::close);
}

void send_failed(ep& from) {
    from.say_last(wireup_type::failed);
}

ucs_status_t send_last_word(ep& from, wireup_type type) {
    const auto pack = [](void* arg, void* into, std::size_t) {
        std::memcpy(into, arg, sizeof(wireup_header));
        return sizeof(wireup_header);
    };
    wireup_header header = header_of(from, type, from.remote_id());
    header.set_reason(from.reason_for_end());
    from.remote().seal(header, {});
    const ssize_t sent = from.remote().am().am_bcopy(wire::wireup, pack, &header);
    return sent < 0 ? static_cast<ucs_status_t>(sent) : UCS_OK;
}

void send_refusal(peer& to, const wireup_header& unwanted, wire::end_reason reason) {
    // In the name of whoever was asked: the endpoint that waits knows no other.
    wireup_header header{wireup_type::refuse, {}, unwanted.peer_uid, unwanted.uid, 0, unwanted.ep,
                         unwanted.receipt};
    header.set_reason(reason);
    to.send_control(wire::wireup, std::as_bytes(std::span(&header, 1)));
}

void listen(worker& owner, uct::iface& on) {
    handler_of<wire::wireup>::install<on_message>(on, &owner);
}

}  // namespace ucp::wireup
