// A remote worker: its address and the lanes (transport endpoints) that all endpoints to it share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ucp/address/address.hpp"
#include "ucp/core/control.hpp"
#include "ucp/core/ep.hpp"
#include "ucp/core/rma_state.hpp"
#include "ucp/core/shared_limit.hpp"
#include "ucp/core/uninvited.hpp"
#include "ucp/proto/rts_limit.hpp"
#include "ucp/proto/striped.hpp"
#include "ucp/rndv/exposed_buffer.hpp"
#include "ucp/wireup/pair_wire.hpp"
#include "ucp/wireup/pairing.hpp"
#include "ucp/wireup/select.hpp"
#include "ucs/datastruct/intrusive.hpp"
#include "ucs/security/key.hpp"
#include "uct/api/component.hpp"
#include "uct/api/iface.hpp"

namespace ucp {

// One object per remote worker, found by the worker's public key; every endpoint to that worker
// shares its lanes. The lanes are made at first use. The worker owns the peer and keeps it while
// endpoints or queued control messages refer to it. Owner context.
class peer {
public:
    // Source of the address. A claimed address comes from a client that has proven nothing. Only
    // the endpoints of clients that claim it use it, until the program or the worker itself gives
    // the same address.
    enum class source : std::uint8_t { given, claimed };

    // Makes a peer with the slots of all features (ucp/features).
    [[nodiscard]] static std::unique_ptr<peer> make(worker& owner,
                                                    const ucs::security::public_key& identity,
                                                    source from,
                                                    std::vector<std::byte> packed_address);
    virtual ~peer();
    peer(const peer&) = delete;
    peer& operator=(const peer&) = delete;

    [[nodiscard]] worker& owner() const noexcept { return owner_; }
    [[nodiscard]] std::uint64_t uid() const noexcept { return uid_; }
    // The public key that identifies the worker. All 0: the worker is not known yet.
    [[nodiscard]] const ucs::security::public_key& identity() const noexcept { return identity_; }
    // Returns whether the remote worker is this worker itself.
    [[nodiscard]] bool is_self() const noexcept;
    [[nodiscard]] bool is_claimed() const noexcept { return source_ == source::claimed; }
    // Marks the claimed address as given: the program or the worker itself has given the same one.
    void confirm() noexcept { source_ = source::given; }
    // Returns whether `packed` begins with the peer's address.
    [[nodiscard]] bool has_address(std::span<const std::byte> packed) const noexcept;
    // Moves the endpoints whose clients have not answered yet to the peer object whose address was
    // given.
    void hand_over_waiting(peer& given) noexcept;

    // Returns the key that authenticates connection messages between the two workers, see
    // ucp/wireup/proof.hpp. Returns nullptr when the worker is not known yet, or when no worker can
    // have its public key. The key is computed at first use.
    [[nodiscard]] const ucs::security::key* shared_key() noexcept;
    // Completes the header of a message to the worker: adds the receipt, if the message type has
    // one, and the proof.
    void seal(wire::wireup_header& header, std::span<const std::byte> body) noexcept;

    // Chooses lanes and makes their transport endpoints, unless lanes exist. Logs errors. With
    // `pairs::excluded` no paired lanes are chosen: if the peer declined paired lanes, so do we.
    ucs_status_t connect(wireup::pairs pairs = wireup::pairs::allowed) noexcept;

    // Takes an address of the same worker that the program or the worker itself has given. The new
    // address counts only until an endpoint is connected, because the worker takes connections only
    // by its true addresses. If the new address has other interfaces, the old one may have been
    // wrong: existing lanes are then made anew. Returns whether an address with other interfaces
    // replaced the known one.
    bool readdress(std::span<const std::byte> packed_address);
    [[nodiscard]] bool connected() const noexcept { return am_.endpoint != nullptr; }

    // --- paired lanes, see ucp/wireup/pairing.hpp and ucp/core/peer_pairing.cpp ---
    // Returns whether messages may go over the lanes. Until then control messages are held.
    [[nodiscard]] bool joined() const noexcept {
        return pairing_ == nullptr || pairing_->state == wireup::pairing_state::joined;
    }
    [[nodiscard]] bool in_pairs() const noexcept { return connected() && pairing_ != nullptr; }
    // Returns whether this peer has requested, replied to or postponed the pairing attempt.
    [[nodiscard]] bool knows_attempt(std::uint64_t attempt) const noexcept;
    // Handlers of the peer's pairing messages: a request, a reply, a refusal.
    void on_pair_request(const wire::wireup_header& header, const wireup::pair_request& request,
                         std::span<const std::byte> body);
    void on_pair_reply(std::uint64_t attempt, const wireup::pair_reply& reply);
    void on_unpaired(std::uint64_t attempt, wire::unpaired_reason why);
    // Called when nothing uses the peer object any more. If the peer has to be notified that the
    // paired lanes are over, sends that message. Returns whether the object must stay until the
    // message has left.
    [[nodiscard]] bool notify_before_destruction() noexcept;
    void on_joined(std::uint64_t attempt);
    // Returns whether the messages that wait for room on its lanes are fewer than an unproven
    // sender may cause.
    [[nodiscard]] bool has_room_for_strangers() const noexcept;
    // Drops all messages that wait for room on its lanes.
    void drop_waiting() noexcept;
    // Refuses a pairing attempt of the peer.
    void refuse_pairing(std::uint64_t attempt);
    // Refuses a pair request that was sent to a worker which had this address before.
    void refuse_pairing(const wire::wireup_header& unwanted);
    // Returns whether a connection message that came over paired lanes (or over others) fits the
    // lanes in use. If not, the caller must drop the message; the pairing remembers that.
    [[nodiscard]] bool accepts_connection_message(bool over_pair) noexcept;
    // Returns the pair request that was postponed until the lanes in use are gone, or nullptr.
    [[nodiscard]] std::unique_ptr<wireup::pairing::postponed_request> take_postponed() noexcept {
        return pairing_ == nullptr ? nullptr : std::move(pairing_->postponed);
    }
    // Sends the pair request again, unless it was sent a moment ago.
    void repeat_pair_request() noexcept;
    // Probes whether the peer is still alive, see uct::ep::check.
    void check() noexcept;

    [[nodiscard]] uct::ep& am() const noexcept { return *am_.endpoint; }
    [[nodiscard]] bool carries_messages(const uct::ep& over) const noexcept {
        return &over == am_.endpoint.get();
    }
    // The lane that accesses the peer's memory; may be the message lane. nullptr: there is none, or
    // it is not used (see rma_state).
    [[nodiscard]] uct::ep* rma() const noexcept {
        return rma_state_ == rma_state::usable ? memory_lane().endpoint.get() : nullptr;
    }
    [[nodiscard]] uct::ep& rma_lane() const noexcept { return *memory_lane().endpoint; }
    // Number by which the peer's keys name the device that this lane reaches, if it needs one.
    [[nodiscard]] std::uint8_t rma_device() const noexcept { return memory_lane().device; }

    // --- lanes that reach memory by keys, see ucp/proto/striped.hpp ---
    // Number of rails; 0: no keys are needed. The first rail is rma_lane().
    [[nodiscard]] std::size_t rail_count() const noexcept {
        return rma() != nullptr && rma_attr().keyed ? 1 + more_rails_.size() : 0;
    }
    [[nodiscard]] const wireup::lane& rail(std::size_t index) const noexcept {
        return index == 0 ? memory_lane() : more_rails_[index - 1];
    }
    [[nodiscard]] const uct::iface_attr& attr_of(const wireup::lane& used) const noexcept;
    // Number by which our own keys name our device of this lane, and the memory domain there.
    [[nodiscard]] std::uint8_t own_device(const wireup::lane& used) const noexcept;
    [[nodiscard]] uct::memory_domain* domain_of(const wireup::lane& used) const noexcept;
    [[nodiscard]] uct::memory_domain* message_domain() const noexcept { return domain_of(am_); }
    // Returns nullptr when the lane is gone.
    [[nodiscard]] rail_share* share_of(const uct::ep& rail) noexcept;
    // Registers a transfer over the rails, which is notified when a rail is lost.
    void add(striped_access& begun) noexcept { striped_.push_back(begun); }

    // Keeps the exposed buffer of an aborted send that the peer may still read; release_exposed()
    // releases it.
    void keep_exposed(std::unique_ptr<exposed_buffer> still_used) noexcept;
    void release_exposed(std::uint64_t send) noexcept;
    [[nodiscard]] const protocol_table& protocols() const noexcept { return *protocols_; }
    // --- eager window (credits of the receiver), see ucp/core/peer_credits.cpp ---
    // All endpoints share one window, because one worker stores what they send.
    [[nodiscard]] eager_window& window() noexcept { return window_; }
    // An eager message of `sender` has used up half of the window.
    void on_window_spent(ep& sender);
    // The peer has granted the credits that were requested over this endpoint.
    void credits_granted(const ep& over) noexcept;
    // The peer has said that it has no credits, before we requested any.
    void begin_without_credits() noexcept;
    // Requests credits over this endpoint, which is ready, unless a request is under way.
    void request_credits(ep& ready);
    // This endpoint ends: a credit request that went over it is repeated over another endpoint.
    void request_credits_again(const ep& ending);

    // --- limit on RTS messages ahead of receives, see ucp/core/peer_deferred.cpp ---
    // Tagged sends of all endpoints wait here until receives have matched earlier RTS messages.
    // Replies, active messages and streams do not wait.
    [[nodiscard]] bool defers() const noexcept { return !deferred_.empty(); }
    [[nodiscard]] std::size_t deferred() const noexcept { return deferred_.size(); }
    // Counts one more RTS. False: the limit is reached, and the caller must defer the send.
    [[nodiscard]] bool count_rts(request& send) noexcept;
    void defer(request& send) noexcept;
    // Removes an aborted send from the deferred ones, if it is one of them.
    void undefer(request& send) noexcept;
    // The receiver answers an RTS for the first time (on_rts_answered), or no answer will come
    // (rts_lost). Sends without an RTS, and those that were answered, change nothing.
    // on_rts_answered returns whether deferred sends may continue.
    [[nodiscard]] bool on_rts_answered(request& send) noexcept;
    void rts_lost(request& send) noexcept;
    // The receiver waits for a message that it does not know, and asks for more RTS messages.
    // Rounds that are over are ignored.
    void on_more_rts_allowed(std::uint64_t round);
    // Starts deferred sends up to the limit.
    void send_deferred();
    // Called from the worker's progress: continues deferred sends and transfers over several rails.
    void resume();
    // The mark in an RTS that tells the peer that later sends are deferred; 0: none are.
    [[nodiscard]] std::uint32_t stop_mark() const noexcept {
        return rts_limit_.is_reached() ? rts_limit_.round() : 0;
    }
    // Receiver side: an RTS of the peer's endpoint `its_ep` says that later sends are deferred.
    void on_sends_deferred(std::uint64_t its_ep, std::uint32_t round) noexcept;
    void request_more_rts() noexcept;

    [[nodiscard]] const uct::iface_attr& am_attr() const noexcept;
    [[nodiscard]] const uct::iface_attr& rma_attr() const noexcept;  // only with rma()

    // Stops using the memory lane: receivers request the data in messages from now on.
    void drop_rma(rma_state why) noexcept;

    // A proven connection message of the worker came from this process of the host, as the kernel
    // reports. Single copies start to be used if they reach that process. A pid of 0 means that the
    // process is not known.
    void learn_process(const ucs::sys::process_identity& shown) noexcept;

    // A proven connection message of the worker came over this connection of an interface.
    void learn_connection(std::uint64_t number) noexcept { connection_ = number; }
    [[nodiscard]] std::uint64_t connection() const noexcept { return connection_; }
    // That connection was ended by this worker: every endpoint fails.
    void on_connection_ended(ucs_status_t status);

    // A lane failed. Until the first endpoint is ready, another lane is tried.
    void lane_failed(const uct::ep& failed, ucs_status_t status) noexcept;

    // Sends a control message, at once or when there is room. If there is no memory for a message
    // that has to wait, the message is lost and false is returned; the connection then fails with
    // the worker's next progress, because the caller is in the middle of other work. `replying_ep`:
    // our endpoint that owes this message as a reply, or 0.
    bool send_control(uct::am_id id, std::span<const std::byte> header,
                      std::span<const std::byte> body = {}, std::uint64_t replying_ep = 0) noexcept;
    // Such a reply has left, or is not needed any more.
    void reply_sent(std::uint64_t replying_ep) noexcept;

    // Ends every endpoint with the status, although the peer and its lanes are alive. The peer is
    // notified, and no new endpoint joins this peer object.
    void fail_alive(ucs_status_t status);
    // Does the same with UCS_ERR_EXCEEDS_LIMIT, and drops the control messages that wait for the
    // peer. No further ones are sent, and the next progress ends the connection by which the peer
    // sends.
    void fail_for_limit();
    [[nodiscard]] bool has_passed_limit() const noexcept { return has_passed_limit_; }
    // Returns whether control messages are still sent to the peer: neither a lost lane nor a limit
    // has ended that.
    [[nodiscard]] bool is_sent_control() const noexcept { return is_sent_control_; }
    // The peer's share of worker::waiting.
    limit_share waiting_share;

    // Endpoints by socket address find each other by their ids, so they have a number range of
    // their own.
    static constexpr std::uint64_t first_socket_number = std::uint64_t{1} << 63;
    // So do the endpoints of private connections (ucp/capi/private_flags.hpp): the program's end
    // has an even number, and the other end, which no program adopts, has the odd number above.
    static constexpr std::uint64_t first_apart_number = std::uint64_t{1} << 62;
    [[nodiscard]] static constexpr bool is_apart(std::uint64_t number) noexcept {
        return number >= first_apart_number && number < first_socket_number;
    }

    void attach(ep& user) noexcept;
    // Offers the endpoint to a later ucp_ep_create, see first_unowned.
    void offer(ep& made) noexcept { unowned_.push_back(made); }
    void detach(ep& user) noexcept;
    // This peer's part of the limit on endpoints that the program has not asked for.
    struct uninvited_part final : uninvited_peers::part {
        uninvited_part(uninvited_peers& all, peer& of_peer) noexcept : part(all), owner(of_peer) {}
        peer& owner;
    };
    [[nodiscard]] uninvited_peers::part& uninvited() noexcept { return uninvited_; }
    [[nodiscard]] const uninvited_peers::part& uninvited() const noexcept { return uninvited_; }
    // Ends the oldest of these endpoints, or the lanes if there is none. If the peer object exists
    // only because of the peer's requests and has no other endpoint, nothing of it stays.
    void end_one_uninvited() noexcept;
    // See uct::ep::received.
    [[nodiscard]] std::uint64_t received() const noexcept {
        return connected() ? am_.endpoint->received() : 0;
    }
    // To be called when lanes were made, closed or connected, after the peer's message about that
    // has arrived.
    void note_lanes() noexcept;
    [[nodiscard]] std::uint64_t next_number() const noexcept { return next_number_; }
    // Returns our endpoint that a request of the peer belongs to: the one with the same number that
    // is not connected yet, or the one that an earlier copy of the request made. nullptr: a new
    // endpoint is needed.
    [[nodiscard]] ep* find_for_request(std::uint64_t number, std::uint64_t remote_ep) noexcept;
    // Returns an endpoint that a request of the peer made and the program has not asked for yet, or
    // nullptr.
    [[nodiscard]] ep* first_unowned() noexcept;
    ucs::datastruct::auto_unlink_hook trash_hook;      // in the worker's list of unused peers
    ucs::datastruct::auto_unlink_hook failing_hook;    // in its list of peers to fail
    ucs::datastruct::auto_unlink_hook dead_hook;       // in its list of peers outside of its table
    ucs::datastruct::auto_unlink_hook resuming_hook;   // in its list of peers to resume
    ucs::datastruct::auto_unlink_hook deferring_hook;  // among the peers that defer sends to us
    ucs::datastruct::auto_unlink_hook refused_hook;    // among the peers that exist to be refused
    ucs::time::nanoseconds refused_since = 0;          // only of these peers
    ucs::datastruct::auto_unlink_hook watched_hook;    // in the list of the keepalive
    [[nodiscard]] std::string peer_name() const noexcept;

    // Keeps an aborted receive whose buffer the peer still writes to. It ends when the peer says
    // that it has finished (`let_go`), or is gone.
    void keep(request& receive) noexcept;
    void let_go(request& receive) noexcept;

    void hold() noexcept { ++references_; }
    void release() noexcept;
    [[nodiscard]] bool is_held() const noexcept { return references_ > 0; }

    // Names of the transports in use, for ucp_ep_query. Point into the context.
    struct lane_name {
        const char* transport;
        const char* device;
    };
    [[nodiscard]] std::vector<lane_name> lane_names() const;

    // The name of the remote worker, made safe for terminals.
    [[nodiscard]] std::string worker_name() const;
    // The lanes in use, for display. Valid until the next progress.
    struct lane_in_use {
        std::size_t index;
        const uct::resource* where;
        std::size_t resource;
        const char* role;
        const uct::ep* endpoint;
    };
    [[nodiscard]] std::vector<lane_in_use> lanes_in_use() const;
    // Text for display: the lanes with their traffic; for each transport why it was chosen or not;
    // the protocol of each size. `explain` returns all of it.
    [[nodiscard]] std::string explain_lanes() const;
    [[nodiscard]] std::string explain_transports() const;
    // Returns the text about the transports as one line for the log.
    [[nodiscard]] std::string list_transports() const;
    [[nodiscard]] std::string explain_protocols() const;
    [[nodiscard]] std::string explain() const;
    [[nodiscard]] bool dead() const noexcept { return dead_; }

protected:
    peer(worker& owner, const ucs::security::public_key& identity, source from,
         std::vector<std::byte> packed_address);
    // Ends the peer before its slots are destroyed.
    void end() noexcept;

private:
    using lane = wireup::lane;
    using held_list = wireup::pairing::held_list;
    [[nodiscard]] const lane& memory_lane() const noexcept { return shared_lane_ ? am_ : rma_; }
    ucs_status_t connect_over_what_is_left(wireup::pairs pairs) noexcept;
    ucs_status_t try_to_make_lanes(wireup::pairs pairs) noexcept;
    ucs_status_t make_lanes(wireup::pairs pairs);
    [[nodiscard]] bool open(const wireup::lane_choice& choice, lane& into);
    [[nodiscard]] ucs_status_t make(std::size_t resource, std::span<const std::byte> to,
                                    lane& into);
    void close(lane& used) noexcept;
    static void drop(uct::pending_request& queued, void*);
    static void drop_all(held_list& all);
    static void release_all(held_list& all, uct::ep& over) noexcept;
    static void take_queue(wireup::pairing& from, held_list& into) noexcept;
    void choose_protocols();
    void choose_protocols_again() noexcept;
    [[nodiscard]] bool reaches_unknown_process() noexcept;
    [[nodiscard]] bool is_wanted() const noexcept;
    [[nodiscard]] bool has_established_endpoint() const noexcept;
    void reconnect(wireup::pairs pairs) noexcept;
    void connect_endpoints(wireup::pairs pairs) noexcept;
    void repeat_requests() noexcept;
    void connect_handed_over() noexcept;
    void change_lanes(std::size_t without, ucs_status_t failure, wireup::pairs pairs) noexcept;
    bool send_over(uct::ep& over, const control_message::content& message) noexcept;
    bool lose_control(const control_message::content& message) noexcept;
    [[nodiscard]] bool begin_pairing(const wireup::lane_choice& bootstrap,
                                     const wireup::lane_selection& chosen);
    [[nodiscard]] bool pair_with_itself();
    // Description of one lane of ours in a pair request.
    struct described_lane {
        std::string_view transport;
        std::span<const std::byte> to;
        std::vector<std::byte> from;
        std::vector<std::byte> connection;
        std::uint8_t device = mem::no_device;
    };
    [[nodiscard]] described_lane describe(const lane& ours, std::span<const std::byte> to) const;
    [[nodiscard]] std::vector<std::byte> make_reply(std::span<const wireup::pair_lane> rails);
    [[nodiscard]] uct::ep* lane_for_refusal();
    void send_pair_message(wire::wireup_type type, std::uint64_t attempt, std::uint64_t last,
                           uct::ep& over, std::span<const std::byte> body = {}) noexcept;
    void send_request_or_reply() noexcept;
    void postpone(const wire::wireup_header& header, std::span<const std::byte> body);
    [[nodiscard]] ucs_status_t accept_pairing(std::uint64_t attempt,
                                              const wireup::pair_request& request,
                                              wireup::lane& bootstrap) noexcept;
    ucs_status_t make_paired_lanes(std::uint64_t attempt, const wireup::pair_request& request,
                                   wireup::lane& bootstrap);
    [[nodiscard]] ucs_status_t accept_paired_lane(const wireup::pair_lane& requested, lane& into);
    void connect_rails(const wireup::pair_reply& reply);
    void close_rails() noexcept;
    void abort_lanes() noexcept;
    [[nodiscard]] bool may_accept_rail(const wireup::pair_lane& requested) const;
    void drop_rail(std::size_t index, ucs_status_t why) noexcept;
    [[nodiscard]] wireup::lane_selection select_lanes_to(const address::worker_address& remote,
                                                         wireup::pairs pairs) const;
    [[nodiscard]] ucs_status_t open_bootstrap();
    void send_pair_without_lanes(uct::ep& over);
    void on_pair_without_lanes(std::uint64_t since);
    void join() noexcept;
    void release_pairing_reference() noexcept;
    void give_up_pairing() noexcept;
    void on_peer_left() noexcept;
    void on_paired_lanes_lost() noexcept;
    [[nodiscard]] bool must_notify_peer() const noexcept;
    void notify_peer(wire::wireup_type type) noexcept;
    void notify_attempt_over(std::uint64_t attempt) noexcept;
    [[nodiscard]] bool on_attempt_given_up(std::uint64_t given_up) noexcept;
    void lane_lost(std::size_t resource, ucs_status_t status) noexcept;
    [[nodiscard]] std::vector<wireup::local_interface> local_interfaces() const;
    // Returns one line per transport of this process, including those that could not be opened.
    [[nodiscard]] std::vector<std::string> why_each(const wireup::lane_selection& chosen) const;
    // Returns whether the given address equals the known one or has further interfaces.
    [[nodiscard]] bool is_part_of(std::span<const std::byte> packed_address) const;
    void disconnect() noexcept;
    void credits_changed() noexcept;
    static ucs_status_t progress_more_rts_request(uct::pending_request& queued) noexcept;
    void fail_all(ucs_status_t status);
    void empty_queue();
    void drop_control();
    void end_kept();
    [[nodiscard]] bool may_change_lane() const noexcept;
    bool exclude(std::size_t resource, ucs_status_t failure) noexcept;

    worker& owner_;
    eager_window window_;
    rts_limit rts_limit_;
    // In the order of the sends.
    ucs::datastruct::counted_list<uct::pending_request, &uct::pending_request::pending_hook>
        deferred_;
    const ep* credits_requested_over_ = nullptr;
    const ucs::security::public_key identity_;
    const std::uint64_t uid_;
    source source_;
    bool has_handed_over_ = false;   // endpoints were handed over; lanes for them are to be made
    std::vector<std::byte> packed_;  // packed address of the remote worker
    std::unique_ptr<ucs::security::key> shared_key_;
    lane am_;
    lane rma_;
    std::vector<lane> more_rails_;  // in addition to am_, if that reaches memory by keys
    ucs::datastruct::auto_list<striped_access, &striped_access::peer_hook> striped_;
    bool shared_lane_ = false;                  // am_ accesses memory as well
    std::unique_ptr<wireup::pairing> pairing_;  // nullptr: the lanes are not paired
    std::uint64_t last_attempt_ =
        0;  // the last one that we requested or replied to and have not revoked
    rma_state rma_state_ = rma_state::usable;
    ucs::sys::process_identity process_;  // the process of the worker; pid 0: not known
    std::uint64_t connection_ = 0;  // the connection over which the worker connected; 0: not known
    const protocol_table* protocols_ = nullptr;
    struct excluded {
        std::size_t resource;
        ucs_status_t failure;
    };
    std::vector<excluded> excluded_;  // resources whose lane to this peer failed
    struct number_of {
        using type = std::uint64_t;
        type operator()(const ep& each) const noexcept { return each.number(); }
    };
    ucs::datastruct::tree_multiset<ep, &ep::peer_hook, number_of> endpoints_;
    ucs::datastruct::auto_list<ep, &ep::unwanted_hook> unowned_;
    ucs::datastruct::list<request, &request::active_hook> kept_;
    ucs::datastruct::list<exposed_buffer, &exposed_buffer::hook> exposed_;
    uninvited_part uninvited_;
    std::uint64_t next_number_ = 0;
    std::uint64_t deferring_ep_ = 0;
    std::uint32_t deferring_round_ = 0;
    uct::pending_request more_rts_request_{.progress = progress_more_rts_request,
                                           .pending_hook = {}};
    unsigned references_ = 0;
    bool dead_ = false;
    bool is_sent_control_ = true;
    bool has_passed_limit_ = false;
    bool lost_control_ = false;
};

// Holds a reference to a peer for a scope. An unused peer may be destroyed after the scope.
class peer_use {
public:
    explicit peer_use(peer& used) noexcept : used_(used) { used.hold(); }
    ~peer_use() { used_.release(); }
    peer_use(const peer_use&) = delete;
    peer_use& operator=(const peer_use&) = delete;

private:
    peer& used_;
};

}  // namespace ucp
