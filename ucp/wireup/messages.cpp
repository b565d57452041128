#include "ucp/wireup/messages.hpp"

#include <cstring>
#include <optional>
#include <vector>

#include "ucp/core/events.hpp"
#include "ucp/core/handler.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/proto/credits.hpp"
#include "ucp/wireup/accept.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucp/wireup/explain.hpp"
#include "ucp/wireup/lane_setup.hpp"
#include "ucp/wireup/pair_wire.hpp"
#include "ucp/wireup/pairing.hpp"
#include "ucp/wireup/proof.hpp"
#include "ucp/wireup/refusals.hpp"
#include "ucp/wireup/requests.hpp"
#include "ucp/wireup/wire.hpp"
#include "ucs/type/allocated.hpp"

namespace ucp::wireup {

namespace {

using wire::wireup_header;
using wire::wireup_type;

// Returns the sender's packed worker address in a message that holds one, or nothing if the message
// is malformed.
std::optional<std::span<const std::byte>> address_in(wireup_type type,
                                                     std::span<const std::byte> body) {
    if (type != wireup_type::pair) return body;
    const auto request = parse_pair_request(body);
    return request ? std::optional(request->address) : std::nullopt;
}

// Returns whether the sender starts a connection with this message. The lanes to it may then lead
// to another process, while a reply shows that they have reached the sender.
bool starts_connection(wireup_type type) {
    return type == wireup_type::request || type == wireup_type::bind || type == wireup_type::pair;
}

wireup_type with_flag(wireup_type type, std::uint8_t flag, bool set) {
    return set ? static_cast<wireup_type>(static_cast<std::uint8_t>(type) | flag) : type;
}

bool take_flag(wireup_type& type, std::uint8_t flag) {
    const auto bits = static_cast<std::uint8_t>(type);
    type = static_cast<wireup_type>(bits & ~flag);
    return (bits & flag) != 0;
}

// Facts about a proven message that its header does not show.
struct arrival_facts {
    std::uint64_t ep = 0;  // the sender's endpoint id
    bool full = false;     // the sender grants no credits
    ucs::sys::process_identity
        process{};  // the sending process, as the kernel reports; pid 0: not known
    std::uint64_t connection =
        0;  // the connection that it came over, see uct::iface::connection_of; 0: not known
};

void note(const ep& to, const arrival_facts& facts) {
    // The message counts only before the endpoint is connected: later it may be a recorded copy.
    // Then the peer's lack of credits shows when the endpoint requests them.
    const state current = state_of(to);
    if (current != state::idle && current != state::requested) return;
    if (facts.full) slot_of<eager_credits>(to.remote()).begin_without();
    slot_of<lane_setup>(to.remote()).learn_process(facts.process);
    if (facts.connection != 0) to.remote().connection = facts.connection;
}

ucs::sys::process_identity sender_process(const worker& owner, const uct::peer_bytes& message) {
    for (std::size_t i = 0; i < owner.interfaces().size(); ++i) {
        const uct::iface* const each = owner.interfaces().at(i);
        if (each == nullptr) continue;
        const auto shown = each->sender_process(message);
        if (shown.pid != 0) return shown;
    }
    return {};
}

wireup_header header_of(const ep& from, wireup_type type, std::uint64_t last) {
    type = with_flag(type, wire::over_pair,
                     connects(type) && in_pairs(slot_of<pairing>(from.remote()).state()));
    // The peer starts to send as soon as it has this message.
    type = with_flag(type, wire::no_credits, !grants_credits(from.owner()));
    return {type, {}, from.owner().uid(), from.remote().uid(), from.id(), last};
}

void send(ep& from, wireup_header header, std::span<const std::byte> body) {
    seal(from.remote().identity(), header, body);
    from.remote().control().send(wire::wireup, std::as_bytes(std::span(&header, 1)), body);
}

// The message was sent to a worker that had this address before. Nothing in it can be proven here.
void on_stray(worker& owner, const wireup_header& header, std::span<const std::byte> body) {
    if (!can_be_refused(header.type)) return;
    owner.log().rejected().warn(
        wireup_log, "worker {:x} asked for worker {:x}, which is not here any more: refused",
        header.uid, header.peer_uid);
    if (const auto address = address_in(header.type, body))
        slot_of<refusals>(owner).refuse(evidence::none, header, *address);
}

// A message that connects makes its endpoint ready, and a ready endpoint needs lanes. Its peer
// object may have none yet: a bind tells a client its peer only now, and an endpoint may have been
// moved to another peer object, because the worker has given another address than its client
// (lane_setup::hand_over_waiting). A message that finds no lanes came without paired lanes, so none
// are made here.
bool ensure_lanes(ep& about) {
    return ensure_lanes(about, pairs::excluded);
}

void on_request(worker& owner, const wireup_header& header, std::span<const std::byte> address,
                const arrival_facts& facts) {
    ep* accepted = accept(owner, header, facts.ep, address);
    if (accepted == nullptr || !ensure_lanes(*accepted)) return;
    accepted->set_remote_id(facts.ep);
    note(*accepted, facts);
    wireup::handle(*accepted, event::request);
}

// Returns whether the endpoint expects messages of this worker. A client by socket address has no
// peer before its bind, so it expects no message, from any uid.
bool expects(const ep& asked, std::uint64_t uid) {
    const socket_part* part = socket_of(asked);
    return asked.remote().uid() == uid && (part == nullptr || !part->waits_for_bind());
}

// Returns whether the message ends an endpoint that is not, or no longer, the other end of this
// one.
bool is_of_another(const ep& to, const wireup_header& header) {
    const bool ends = header.type == wireup_type::close || header.type == wireup_type::failed;
    return ends && is_established(state_of(to)) && to.remote_id() != header.ep;
}

void on_bind(worker& owner, const wireup_header& header, std::span<const std::byte> address,
             const arrival_facts& facts) {
    ep* client = owner.endpoints().find(header.peer_ep_or_number);
    const socket_part* part = client == nullptr ? nullptr : socket_of(*client);
    const bool waits = part != nullptr && part->is_client() && part->token() == header.token() &&
                       client->failure() == UCS_OK;
    // The bind is a repeated one over another lane, or the first.
    const bool again = part != nullptr && part->is_client() && expects(*client, header.uid) &&
                       client->remote_id() == facts.ep;
    // A client that closes notifies the server. The final message of a client that failed may not
    // have arrived.
    if (!waits && again && !is_over(state_of(*client))) return;
    if (!waits || (!part->waits_for_bind() && !again)) {
        slot_of<refusals>(owner).refuse(evidence::proof, header, address);
        return;
    }
    if (!again) {
        if (!bind(owner, *client, header, address)) return;
        client->set_remote_id(facts.ep);
    }
    if (!ensure_lanes(*client)) return;
    note(*client, facts);
    wireup::handle(*client, event::request);
}

// A client at a listener has claimed its worker's address, and now the worker states it itself.
// Returns false if the address is another one: the claim was modified, and the connection ends.
bool is_at_claimed_address(worker& owner, ep& served, const wireup_header& header,
                           std::span<const std::byte> address) {
    const peer& claimed = served.remote();
    if (!claimed.identity().is_claimed() || !is_waiting(state_of(served))) return true;
    if (claimed.identity().has_address(address)) {
        owner.peers().intern(claimed.identity().key(), peer_identity::source::given, address);
        return true;
    }
    owner.log().rejected().warn(
        wireup_log,
        "a client claimed an address of worker {:x} that is not the worker's: "
        "the connection ends",
        header.uid);
    wireup::handle(served, event::failure, UCS_ERR_REJECTED);
    slot_of<refusals>(owner).refuse(evidence::proof, header, address);
    return false;
}

void on_reply(worker& owner, ep* answered, const wireup_header& header,
              std::span<const std::byte> address, const arrival_facts& facts) {
    const bool gone = answered == nullptr || is_over(state_of(*answered));
    const bool known = !gone && is_established(state_of(*answered));
    if (gone || (known && answered->remote_id() != facts.ep)) {
        // Either our request outlived its connection, or a repeated request arrived after the peer
        // had closed its end: the endpoint that the request made has no other end.
        slot_of<refusals>(owner).refuse(evidence::proof, header, address);
        return;
    }
    if (state_of(*answered) == state::requested || state_of(*answered) == state::abandoned) {
        answered->set_remote_id(facts.ep);
    }
    if (!is_at_claimed_address(owner, *answered, header, address) || !ensure_lanes(*answered))
        return;
    note(*answered, facts);
    wireup::handle(*answered, event::reply);
}

// Logs that the peer's worker has ended or refused an endpoint because it has too many.
void log_too_many(worker& owner, const ep& ended) {
    if (ended.failure() != UCS_OK) return;
    owner.log().unreachable().warn(
        wireup_log,
        "worker {:x} ends the connection: peers have made as many endpoints there as its limit "
        "allows, and its program has not asked for them",
        ended.remote().uid());
}

void on_failed(worker& owner, ep& ended, wire::end_reason reason) {
    const bool is_one_of_many = reason == wire::end_reason::too_many;
    if (is_one_of_many) log_too_many(owner, ended);
    wireup::handle(ended, event::peer_failure,
                   is_one_of_many ? UCS_ERR_EXCEEDS_LIMIT : UCS_ERR_CONNECTION_RESET);
}

void on_refusal(worker& owner, ep& refused, wire::end_reason reason) {
    if (socket_of(refused) != nullptr) {
        // The client connected to the listener a moment ago, so it has gone since.
        wireup::handle(refused, event::failure, UCS_ERR_CONNECTION_RESET);
        return;
    }
    if (reason == wire::end_reason::too_many) {
        log_too_many(owner, refused);
        wireup::handle(refused, event::failure, UCS_ERR_EXCEEDS_LIMIT);
        return;
    }
    if (refused.failure() == UCS_OK) log_unreachable(owner, refused.remote());
    wireup::handle(refused, event::failure, UCS_ERR_UNREACHABLE);
}

void drop_malformed(worker& owner, const wireup_header& header) {
    owner.log().rejected().warn(
        wireup_log,
        "a message of worker {:x} about lanes that come in pairs is malformed: "
        "dropped",
        header.uid);
}

// Handles messages about lanes, which all endpoints to a worker share.
void on_pair_message(worker& owner, peer* from, const wireup_header& header,
                     std::span<const std::byte> body) {
    if (header.type == wireup_type::pair) {
        take_pair_request(owner, header, body);
        return;
    }
    if (from == nullptr) return;  // the peer object is not needed any more
    if (header.type == wireup_type::joined) {
        slot_of<pairing>(*from).on_joined(header.ep);
        return;
    }
    if (header.type == wireup_type::unpaired) {
        slot_of<pairing>(*from).on_unpaired(
            header.ep, static_cast<wire::unpaired_reason>(header.peer_ep_or_number));
        return;
    }
    if (const auto reply = parse_pair_reply(body)) {
        slot_of<pairing>(*from).on_reply(header.ep, *reply);
    } else {
        drop_malformed(owner, header);
    }
}

// The result of verifying the author of a message. Verification changes nothing.
enum class origin : std::uint8_t { proven, forged, unknown };

struct verification {
    origin verdict = origin::unknown;
    peer* from = nullptr;       // the sender's peer object in use
    ep* about = nullptr;        // our endpoint that the message names, if it belongs to the sender
    std::uint64_t ep_mask = 0;  // hides the id of the sender's endpoint
};

// The sender may know either of the worker's two addresses.
bool is_proven_to(const worker& owner, const ucs::security::key& shared, const wireup_header& sent,
                  std::span<const std::byte> body) {
    return is_proven(shared, owner.identity().address(false), sent, body) ||
           is_proven(shared, owner.identity().address(true), sent, body);
}

bool proves(peer& sender, const wireup_header& sent, std::span<const std::byte> body) {
    const ucs::security::key* const shared = sender.identity().shared_key();
    return shared != nullptr && is_proven_to(sender.owner(), *shared, sent, body);
}

origin origin_if(bool proven) noexcept {
    return proven ? origin::proven : origin::forged;
}

// Verifies a message under this key. Without a key it counts as forged.
verification verify_by_key(const worker& owner, const ucs::security::key* shared,
                           const wireup_header& header, const wireup_header& sent,
                           std::span<const std::byte> body) {
    if (shared == nullptr || !is_proven_to(owner, *shared, sent, body)) return {origin::forged};
    verification proven{origin::proven};
    if (connects(header.type)) proven.ep_mask = make_ep_mask(*shared, header.receipt);
    return proven;
}

verification verify_by_key(peer& sender, const wireup_header& header, const wireup_header& sent,
                           std::span<const std::byte> body) {
    verification verified =
        verify_by_key(sender.owner(), sender.identity().shared_key(), header, sent, body);
    verified.from = &sender;
    return verified;
}

// Returns whether the header holds our receipt for the endpoint or attempt that is refused: only
// the receiver of our message has it.
bool holds_receipt(const wireup_header& header, const ucs::security::key& shared,
                   const worker& asking, std::uint64_t number) {
    return ucs::security::same_tag(make_receipt(shared, asking.uid(), number), header.receipt);
}

// Verifies a refusal. The endpoint id is hidden as in the refused message, by the key of this
// worker and the addressed one.
verification verify_refusal(worker& owner, const wireup_header& header) {
    ep* refused = nullptr;
    bool has_any = false;
    const peer* const asked = owner.peers().find_proving(header.uid, [&](peer& each) {
        has_any = true;
        const ucs::security::key* const shared = each.identity().shared_key();
        if (shared == nullptr) return false;
        const std::uint64_t id = header.peer_ep_or_number ^ make_ep_mask(*shared, header.receipt);
        refused = owner.endpoints().find(id);
        return refused != nullptr && refused->remote().identity().key() == each.identity().key() &&
               holds_receipt(header, *shared, owner, id);
    });
    if (asked != nullptr) return {origin::proven, &refused->remote(), refused};
    return {has_any ? origin::forged : origin::unknown};
}

// Verifies a message about paired lanes, which has no address: its sender is the peer that knows
// the attempt, or else a peer with this uid whose key proves the message.
verification verify_attempt(worker& owner, const wireup_header& header, const wireup_header& sent,
                            std::span<const std::byte> body) {
    const bool is_refusal =
        header.type == wireup_type::unpaired &&
        header.peer_ep_or_number == static_cast<std::uint64_t>(wire::unpaired_reason::not_here);
    const auto verify_by_key_of = [&](peer& each) {
        if (!is_refusal) return origin_if(proves(each, sent, body));
        const ucs::security::key* const shared = each.identity().shared_key();
        return origin_if(shared != nullptr && holds_receipt(header, *shared, owner, header.ep));
    };
    peer* known = owner.peers().find_if(
        header.uid, [&](peer& each) { return slot_of<pairing>(each).knows_attempt(header.ep); });
    if (known != nullptr) return {verify_by_key_of(*known), known};
    known = owner.peers().find_proving(
        header.uid, [&](peer& each) { return verify_by_key_of(each) == origin::proven; });
    if (known != nullptr) return {origin::proven, known};
    const bool has_any = owner.peers().find_if(header.uid, [](const peer&) { return true; });
    return {has_any ? origin::forged : origin::unknown};
}

// Returns the endpoint that the message names, if it belongs to the sender.
ep* named(worker& owner, const wireup_header& header) {
    ep* const found = owner.endpoints().find(header.peer_ep_or_number);
    return found != nullptr && expects(*found, header.uid) ? found : nullptr;
}

// Verifies a message that holds the packed address of the sender's worker.
verification verify_by_address(worker& owner, const wireup_header& header,
                               const wireup_header& sent, std::span<const std::byte> body) {
    const auto packed = address_in(header.type, body);
    if (!packed) return {origin::forged};
    const auto identity = address::identity_in(*packed);
    if (identity && address::uid_of(*identity) == header.uid) {
        peer* const known = owner.peers().find(*identity, *packed);
        if (known != nullptr) return verify_by_key(*known, header, sent, body);
        const auto shared = owner.identity().agree(*identity);
        return verify_by_key(owner, shared ? &*shared : nullptr, header, sent, body);
    }
    // A known worker may send a wrong address. Its message is proven all the same, and the handler
    // of the message logs the address.
    verification verified;
    const peer* const known = owner.peers().find_proving(header.uid, [&](peer& each) {
        verified = verify_by_key(each, header, sent, body);
        return verified.verdict == origin::proven;
    });
    if (known != nullptr) return verified;
    const auto parsed = address::parse(*packed, &owner.log().rejected());
    return {parsed ? origin::forged : origin::unknown};  // parse() has logged why
}

// Verifies any message. `header` has no flags, `sent` is the header as it came.
verification verify(worker& owner, const wireup_header& header, const wireup_header& sent,
                    std::span<const std::byte> body) {
    switch (header.type) {
        case wireup_type::refuse:
            return verify_refusal(owner, header);
        case wireup_type::request:
        case wireup_type::bind:
        case wireup_type::pair:
            return verify_by_address(owner, header, sent, body);
        case wireup_type::paired:
        case wireup_type::unpaired:
        case wireup_type::joined:
            return verify_attempt(owner, header, sent, body);
        default:
            break;
    }
    ep* const about = named(owner, header);
    const bool is_of_known = about != nullptr && owner.peers().is_known(about->remote());
    verification verified;
    if (header.type == wireup_type::reply && !is_of_known) {
        verified = verify_by_address(owner, header, sent, body);
    } else if (about != nullptr) {
        verified = verify_by_key(about->remote(), header, sent, body);
    }
    verified.about = about;
    return verified;
}

// Returns whether a message came over other lanes than those in use, which drops it. A ready
// endpoint sends over the existing lanes, so the message that makes it ready must have come over
// these. While lanes become paired, or if only one side has paired lanes because the other has left
// them or will join them, the two sides use different lanes. The message is then repeated later.
bool is_of_other_lanes(peer* from, const wireup_header& header, bool over_pair) {
    const bool fits = from == nullptr
                          ? !over_pair
                          : slot_of<pairing>(*from).accepts_connection_message(over_pair);
    if (!fits) {
        ucs::log::debug(wireup_log,
                        "a message of worker {:x} about an endpoint came over other lanes",
                        header.uid);
    }
    return !fits;
}

// Refuses a message that is not proven. The sender may have reached this worker by an address that
// is not the worker's, and would wait for ever. The receipt proves the refusal to it, as when the
// worker is not here any more.
void refuse_unproven(worker& owner, const wireup_header& header, std::span<const std::byte> body) {
    if (header.type != wireup_type::request && header.type != wireup_type::pair) return;
    if (const auto address = address_in(header.type, body))
        slot_of<refusals>(owner).refuse(evidence::none, header, *address);
}

// Makes the lanes to the sender anew if an address with its key led them to another process.
// Returns whether the sender's own address is valid; if not, that was logged.
bool correct_address(peer& sender, const wireup_header& header, std::span<const std::byte> body) {
    ucs::log::throttle& rejected = sender.owner().log().rejected();
    const auto address = address_in(header.type, body);
    if (!address || address::identity_in(*address) != sender.identity().key()) return true;
    // An address that cannot be read as a whole must not replace one that can.
    if (!address::parse(*address, &rejected).ok()) return false;
    const auto length = address::packed_length(*address, &rejected);
    if (slot_of<lane_setup>(sender).readdress(address->first(*length))) {
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
        owner.log().rejected().warn(
            wireup_log,
            "a connection message in the name of worker {:x} that this worker "
            "has not proven was dropped",
            header.uid);
    }
    return from == origin::proven;
}

void on_message(void* arg, uct::peer_bytes message) {
    auto& owner = *static_cast<worker*>(arg);
    // The message is copied first: addresses and connection data are parsed, and copied again
    // later, so they must not change in between.
    const std::vector<std::byte> copy = message.copy();
    wireup_header header;
    if (!read_header(owner, wire::wireup, {copy.data(), copy.size()}, header)) return;
    const wireup_header sent = header;
    arrival_facts facts{.full = take_flag(header.type, wire::no_credits)};
    const bool over_pair = take_flag(header.type, wire::over_pair);
    const auto body = std::span(copy).subspan(sizeof header);
    if (header.peer_uid != owner.uid()) {
        on_stray(owner, header, body);
        return;
    }
    const verification verified = verify(owner, header, sent, body);
    if (!is_believed(owner, header, verified.verdict)) {
        if (verified.verdict == origin::forged) refuse_unproven(owner, header, body);
        return;
    }
    // Interfaces know connections only while these exist, so their facts are taken now.
    facts.ep = header.ep ^ verified.ep_mask;
    facts.process = sender_process(owner, message);
    facts.connection = owner.interfaces().connection_of(message);
    if (verified.from != nullptr && starts_connection(header.type) &&
        !correct_address(*verified.from, header, body))
        return;
    if (connects(header.type) && is_of_other_lanes(verified.from, header, over_pair)) return;
    if (header.type == wireup_type::request) {
        on_request(owner, header, body, facts);
        return;
    }
    if (header.type == wireup_type::reply) {
        on_reply(owner, verified.about, header, body, facts);
        return;
    }
    if (header.type == wireup_type::bind) {
        on_bind(owner, header, body, facts);
        return;
    }
    if (header.type >= wireup_type::pair && header.type <= wireup_type::joined) {
        on_pair_message(owner, verified.from, header, body);
        return;
    }
    ep* const to = verified.about;
    if (is_of_another(*to, header)) return;
    switch (header.type) {
        case wireup_type::close:
            wireup::handle(*to, event::peer_close);
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
    owner.log().rejected().warn(wireup_log, "a connection message of unknown type {} was dropped",
                                static_cast<unsigned>(header.type));
}

// Returns the longest description of lanes in a pair request.
std::size_t longest_pair_request(const worker& owner) {
    constexpr std::size_t lengths = 6;
    std::size_t longest = 0;
    std::size_t lanes = 0;
    for (std::size_t i = 0; i < owner.interfaces().size(); ++i) {
        if (owner.interfaces().at(i) == nullptr ||
            owner.interfaces().at(i)->attr().connection_length == 0)
            continue;
        const uct::iface_attr& attr = owner.interfaces().at(i)->attr();
        ++lanes;
        longest = std::max(longest, lengths + owner.owner().resources()[i].where.transport.size() +
                                        2 * attr.address_length + attr.connection_length);
    }
    return longest * std::min(lanes, owner.owner().options().rails());
}

}  // namespace

void take_pair_request(worker& owner, const wireup_header& header,
                       std::span<const std::byte> body) {
    const auto request = parse_pair_request(body);
    if (!request || header.uid == owner.uid()) {
        drop_malformed(owner, header);
        return;
    }
    const auto parsed = address::parse(request->address, &owner.log().rejected());
    if (!parsed) return;
    if (parsed->uid() != header.uid) {
        drop_malformed(owner, header);
        return;
    }
    peer& from = intern_asking(owner, parsed->identity, request->address);
    const peer_use kept(from);
    slot_of<pairing>(from).on_request(header, *request, body);
    slot_of<lane_setup>(from).note_lanes();
}

void answer_postponed(worker& owner, const postponed_request& postponed) noexcept {
    if (!ucs::allocated([&] { take_pair_request(owner, postponed.header, postponed.body); })) {
        ucs::log::error(wireup_log, "out of memory: no new connection to worker {:x} is made",
                        postponed.header.uid);
    }
}

bool grants_credits(const worker& owner) noexcept {
    bool granted = true;
    publish(events::credits_sought{owner, granted});
    return granted;
}

ucs_status_t check_message_sizes(const worker& owner) {
    const std::size_t needed = sizeof(wireup_header) + owner.identity().address(false).size() +
                               longest_pair_request(owner);
    for (std::size_t i = 0; i < owner.interfaces().size(); ++i) {
        if (owner.interfaces().at(i) == nullptr ||
            !owner.interfaces().at(i)->attr().ops.has(uct::op::am_bcopy))
            continue;
        const std::size_t longest = owner.interfaces().at(i)->attr().max_bcopy;
        if (longest >= needed) continue;
        const uct::resource& where = owner.owner().resources()[i].where;
        ucs::log::error(
            core_log,
            "messages of {}/{} are too short to connect: {} bytes, {} are needed; use a "
            "larger segment size",
            where.transport, where.device, longest, needed);
        return UCS_ERR_INVALID_PARAM;
    }
    return UCS_OK;
}

void log_unreachable(worker& owner, peer& refusing) noexcept {
    const bool has_logged = ucs::allocated([&] {
        owner.log().unreachable().warn(
            wireup_log,
            "worker {:x} ({}) is unreachable: the process at its address refuses, because the "
            "worker is not there any more or has another address; {}",
            refusing.uid(), refusing.identity().worker_name(), list_transports(refusing));
    });
    if (!has_logged) {
        owner.log().unreachable().warn(
            wireup_log, "worker {:x} is unreachable: it is not there any more", refusing.uid());
    }
}

void send_request(ep& from) {
    wireup_header header = header_of(from, wireup_type::request, from.number());
    header.set_order(slot_of<requests>(from.owner()).order.next());
    send(from, header, from.owner().identity().address(false));
}

void send_reply(ep& from) {
    send(from, header_of(from, wireup_type::reply, from.remote_id()),
         from.owner().identity().address(false));
}

void send_bind(ep& from) {
    wireup_header header = header_of(from, wireup_type::bind, from.remote_id());
    header.set_token(socket_of(from)->token());
    send(from, header, from.owner().identity().address(false));
}

void send_close(ep& from) {
    send_final(from, wireup_type::close);
}

void send_failed(ep& from) {
    send_final(from, wireup_type::failed);
}

ucs_status_t send_final_message(ep& from, wireup_type type) {
    const auto pack = [](void* arg, void* into, std::size_t) {
        std::memcpy(into, arg, sizeof(wireup_header));
        return sizeof(wireup_header);
    };
    wireup_header header = header_of(from, type, from.remote_id());
    header.set_reason(slot_of<ep_connection>(from).end_reason);
    seal(from.remote().identity(), header, {});
    const ssize_t sent = from.remote().lanes().am().am_bcopy(wire::wireup, pack, &header);
    return sent < 0 ? static_cast<ucs_status_t>(sent) : UCS_OK;
}

void send_refusal(peer& to, const wireup_header& unwanted, wire::end_reason reason) {
    // The header names the addressed worker as its sender: the waiting endpoint knows no other.
    wireup_header header{wireup_type::refuse, {}, unwanted.peer_uid, unwanted.uid, 0, unwanted.ep,
                         unwanted.receipt};
    header.set_reason(reason);
    to.control().send(wire::wireup, std::as_bytes(std::span(&header, 1)));
}

void listen(worker& owner, uct::iface& iface) {
    handler_of<wire::wireup>::install<on_message>(iface, &owner);
}

}  // namespace ucp::wireup
