// Connection set-up of paired lanes: exchange of connection data over a bootstrap lane.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ucp/core/lanes.hpp"
#include "ucp/core/slots.hpp"
#include "ucp/wireup/pair_wire.hpp"
#include "ucp/wireup/pairing_state.hpp"
#include "ucp/wireup/select.hpp"
#include "ucp/wireup/wire.hpp"
#include "ucs/time/clock.hpp"

namespace ucp {
class peer;
}

namespace ucp::wireup {

// A pair request that arrived while the lanes are in use. It is served if they turn out to be gone.
struct postponed_request {
    wire::wireup_header header;
    std::vector<std::byte> body;
};

// Some transports (attr().connection_length > 0) carry nothing before two endpoints know each
// other's connection data, as the queue pairs of RDMA devices. The requester makes its endpoint and
// sends a pair request over a bootstrap lane. The responder makes the other endpoint and replies.
// If both sides send a request, the request of the worker with the smaller uid counts. The
// requester confirms with `joined` over the new lane, and only then the responder sends over it: a
// message sent before could arrive too early and wait for a retransmission. Then both close the
// bootstrap lane.
//
//   requester   requested -----------------> joined
//   responder           \-pair-> replied          \-joined-> joined
//                                \-paired-/
//
// Slot of a peer. pairing_state.cpp holds the table of its transitions. Owner context.
class pairing {
public:
    explicit pairing(peer& of_peer) noexcept : peer_(of_peer) {}

    [[nodiscard]] pairing_state state() const noexcept { return state_; }
    // Returns whether messages may go over the lanes. Until then control messages are held.
    [[nodiscard]] bool is_open() const noexcept {
        return state_ == pairing_state::none || is_joined(state_);
    }
    // Returns whether this peer has requested, replied to or postponed the attempt.
    [[nodiscard]] bool knows_attempt(std::uint64_t attempt) const noexcept;

    // Takes the transition for an event and its action. Events that need more than themselves have
    // functions of their own below.
    pairing_action handle(pairing_event input) { return handle(input, {}); }
    // Sends a pair request for the chosen lanes, of which the message lane exists. Returns false if
    // a resource was excluded, or the lane has failed.
    [[nodiscard]] bool begin(const lane_choice& bootstrap, const lane_selection& chosen);
    // Handlers of the peer's pairing messages.
    void on_request(const wire::wireup_header& header, const pair_request& request,
                    std::span<const std::byte> body);
    void on_reply(std::uint64_t attempt, const pair_reply& reply);
    void on_joined(std::uint64_t attempt);
    void on_unpaired(std::uint64_t attempt, wire::unpaired_reason why);
    // Returns whether a connection message that came over paired lanes (or over others) fits the
    // lanes in use. If not, the caller must drop the message; if it came over others, the pairing
    // remembers that.
    [[nodiscard]] bool accepts_connection_message(bool over_pair);

    // Sends the pair request again, unless it was sent a moment ago.
    void repeat_request();
    // Refuses an attempt of the peer.
    void refuse(std::uint64_t attempt);
    // Refuses a pair request that was sent to a worker which had this address before.
    void refuse(const wire::wireup_header& unwanted);
    // Returns the pair request that was postponed until the lanes in use are gone, or nullptr.
    [[nodiscard]] std::unique_ptr<postponed_request> take_postponed() noexcept {
        return std::move(current_.postponed);
    }

    // Closes the bootstrap lane and forgets the attempt. Returns the attempt if the peer has to be
    // notified of its end (notify_over), or 0.
    std::uint64_t close() noexcept;
    void notify_over(std::uint64_t attempt) noexcept;
    // Tells the peer that our end of the lanes is over. As long as the peer sends nothing it may
    // not notice that its end leads nowhere.
    void notify_end() noexcept;
    // Tells the peer, if it knows an attempt of ours, that we use lanes without pairs.
    void notify_without_pairs();
    // Called when nothing uses the peer object any more. If the peer has to be notified that the
    // paired lanes are over, sends that message. Returns whether the object must stay until the
    // message has left.
    [[nodiscard]] bool notify_before_destruction() noexcept;
    // An endpoint uses the peer, or none ever will.
    void release_reference() noexcept;

private:
    // The message that caused an action, and values from it.
    struct arrival {
        std::uint64_t attempt = 0;
        const wire::wireup_header* header = nullptr;
        const pair_request* request = nullptr;
        std::span<const std::byte> body{};
        const pair_reply* reply = nullptr;
        ucs_status_t failure = UCS_OK;
    };
    // Description of one lane of ours in a pair request.
    struct described_lane {
        std::string_view transport;
        std::span<const std::byte> to;
        std::vector<std::byte> from;
        std::vector<std::byte> connection;
        std::uint8_t device = mem::no_device;
    };

    pairing_action handle(pairing_event input, const arrival& from);
    void perform(pairing_action todo, const arrival& from);
    [[nodiscard]] bool is_ours(std::uint64_t attempt) const noexcept {
        return state_ != pairing_state::none && current_.attempt == attempt;
    }
    [[nodiscard]] pairing_event end_of(std::uint64_t attempt, pairing_event if_ours) noexcept;
    [[nodiscard]] bool must_notify() const noexcept;

    void accept(const arrival& from, bool revokes);
    [[nodiscard]] ucs_status_t make_accepted(const pair_request& request);
    void postpone(const arrival& from);
    void connect_lanes(const arrival& from);
    void connect_rails(const pair_reply& reply);
    void join() noexcept;
    void try_other_lane(const arrival& from);
    void lose_lanes();
    void leave() noexcept;
    void give_up() noexcept;
    void check_bootstrap() noexcept;

    [[nodiscard]] described_lane describe(const lane& ours, std::span<const std::byte> to) const;
    [[nodiscard]] std::vector<std::byte> make_reply(std::span<const pair_lane> rails);
    [[nodiscard]] bool may_accept_rail(const pair_lane& requested) const;
    [[nodiscard]] ucs_status_t accept_lane(const pair_lane& requested, lane& into);
    [[nodiscard]] ucs_status_t open_bootstrap();
    [[nodiscard]] uct::ep* lane_for_refusal();
    void send(wire::wireup_type type, std::uint64_t attempt, uct::ep& over,
              std::span<const std::byte> body = {}, std::uint64_t last = 0);
    void send_unpaired(std::uint64_t attempt, uct::ep& over);
    void send_without_pairs(uct::ep& over);
    void send_request_or_reply();
    void send_end(bool without_pairs) noexcept;

    peer& peer_;
    pairing_state state_ = pairing_state::none;
    // The last attempt that we requested or replied to and have not revoked.
    std::uint64_t last_attempt_ = 0;
    struct attempt_data {
        std::uint64_t attempt = 0;         // chosen at random by the requester
        std::vector<std::byte> message{};  // pair request or reply, kept to be repeated
        ucs::time::nanoseconds sent_at = 0;
        std::unique_ptr<postponed_request> postponed{};
        unsigned checks = 0;  // probes of the keepalive while the responder waits
        // The pairing holds a reference to the peer: no endpoint may use the peer yet, and none may
        // ever do so if the requester is gone.
        bool holds_peer = false;
        // The peer has neither joined the lanes nor left them, so it may not notice by itself that
        // they end.
        bool owes_notice = false;
        // A connection message that the peer sent over other lanes was dropped.
        bool has_dropped_message = false;
    } current_;
};

}  // namespace ucp::wireup
