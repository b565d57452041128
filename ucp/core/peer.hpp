// A remote worker, as all endpoints to it see it.
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
#include "ucp/rma/striped.hpp"
#include "ucp/rndv/lent.hpp"
#include "ucp/tag/announce_limit.hpp"
#include "ucp/wireup/pair_wire.hpp"
#include "ucp/wireup/pairing.hpp"
#include "ucp/wireup/select.hpp"
#include "ucs/datastruct/intrusive.hpp"
#include "ucs/security/key.hpp"
#include "uct/api/component.hpp"
#include "uct/api/iface.hpp"

namespace ucp {

// Interned by the worker's public key: every endpoint to the same worker shares its lanes. Lanes
// are set up at first use. Owned by the worker, kept while endpoints or queued control messages
// refer to it. Owner context.
class peer {
public:
    // Says where the address comes from. A claimed one comes from a client that has proven nothing:
    // it leads the endpoints of such clients alone, until the program or the worker itself gives
    // the same one.
    enum class source : std::uint8_t { given, claimed };

    peer(worker& owner, const ucs::security::public_key& identity, source from,
         std::vector<std::byte> packed_address);
    ~peer();
    peer(const peer&) = delete;
    peer& operator=(const peer&) = delete;

    [[nodiscard]] worker& owner() const noexcept { return owner_; }
    [[nodiscard]] std::uint64_t uid() const noexcept { return uid_; }
    // The public key of the worker, by which it is known. All 0: the worker is not known yet.
    [[nodiscard]] const ucs::security::public_key& identity() const noexcept { return identity_; }
    // Returns whether the remote worker is the one that owns this peer object.
    [[nodiscard]] bool is_self() const noexcept;
    [[nodiscard]] bool is_claimed() const noexcept { return source_ == source::claimed; }
    // The program or the worker itself has given the address that was only claimed until now.
    void confirm() noexcept { source_ = source::given; }
    // Returns whether its address is the one at the beginning of `packed`.
    [[nodiscard]] bool has_address(std::span<const std::byte> packed) const noexcept;
    // Moves the endpoints whose clients have not answered yet to the peer whose address is given.
    void hand_waiting_to(peer& given) noexcept;

    // The key of connection messages between the two workers, see ucp/wireup/proof.hpp. nullptr:
    // the worker is not known yet, or no worker can have its public key. Computed with the first
    // use.
    [[nodiscard]] const ucs::security::key* shared_key() noexcept;
    // Completes the header of a message to the worker: its receipt, if it has one, and its proof.
    void seal(wire::wireup_header& header, std::span<const std::byte> body) noexcept;

    // Chooses lanes and makes their transport endpoints, unless there are some. Errors are logged.
    // Who answers a peer that came without pairs does without them, too.
    ucs_status_t connect(wireup::pairs which = wireup::pairs::allowed) noexcept;

    // The program or the worker itself gives an address of the same worker, maybe another one,
    // which counts until an endpoint is connected: lanes that lead elsewhere are made anew, because
    // the address before may have been a wrong one. Later the one that is known is right, since the
    // worker takes no connection by another. Returns whether the address is a new one.
    bool readdress(std::span<const std::byte> packed_address);
    [[nodiscard]] bool connected() const noexcept { return am_.endpoint != nullptr; }

    // --- lanes that come in pairs, see ucp/wireup/pairing.hpp and ucp/core/peer_pairing.cpp ---
    // Whether messages may go over the lanes; control messages wait until then.
    [[nodiscard]] bool joined() const noexcept {
        return pairing_ == nullptr || pairing_->at == wireup::pairing::step::joined;
    }
    [[nodiscard]] bool in_pairs() const noexcept { return connected() && pairing_ != nullptr; }
    // Returns whether this peer has asked, answered or put off the attempt.
    [[nodiscard]] bool knows_attempt(std::uint64_t attempt) const noexcept;
    // The peer asks us, answers, cannot, has connected its lanes.
    void asked_to_pair(const wire::wireup_header& header, const wireup::pair_question& theirs,
                       std::span<const std::byte> body);
    void paired(std::uint64_t attempt, const wireup::pair_answer& theirs);
    void unpaired(std::uint64_t attempt, wire::unpaired_reason why);
    // Nobody wants it any more. True: it is held until the peer, which has to hear so, is told.
    [[nodiscard]] bool gives_up() noexcept;
    void partner_joined(std::uint64_t attempt);
    // Returns whether fewer messages wait for room on its lanes than a stranger may make wait.
    [[nodiscard]] bool has_room_for_strangers() const noexcept;
    // Drops all that waits for room on its lanes.
    void drop_waiting() noexcept;
    // Says to a peer that asked why its lanes cannot be connected.
    void refuse_to_pair(std::uint64_t attempt);
    // Does the same for a question to a worker that was here before this one.
    void refuse_to_pair(const wire::wireup_header& unwanted);
    // It says something about an endpoint, over lanes in pairs or others. False: these are not the
    // ones that we have, and what it says is to be dropped.
    [[nodiscard]] bool takes_word(bool over_pair) noexcept;
    // A question that waits until the lanes of before are gone, if there is one.
    [[nodiscard]] std::unique_ptr<wireup::pairing::question> take_next() noexcept {
        return pairing_ == nullptr ? nullptr : std::move(pairing_->next);
    }
    // Nobody has answered for long.
    void ask_to_pair_again() noexcept;
    // Asks whether it is still there, see uct::ep::check.
    void check() noexcept;

    [[nodiscard]] uct::ep& am() const noexcept { return *am_.endpoint; }
    [[nodiscard]] bool carries_messages(const uct::ep& over) const noexcept {
        return &over == am_.endpoint.get();
    }
    // nullptr: there is none, or the system refused to use it. May be that of messages.
    [[nodiscard]] uct::ep* rma() const noexcept {
        return rma_state_ == rma_state::usable ? memory_lane().endpoint.get() : nullptr;
    }
    [[nodiscard]] uct::ep& rma_lane() const noexcept { return *memory_lane().endpoint; }
    // What its keys call the device that this lane reaches, where it needs one.
    [[nodiscard]] std::uint8_t rma_device() const noexcept { return memory_lane().device; }

    // --- lanes that reach memory by keys, see ucp/rma/striped.hpp ---
    // How many; 0: memory is reached without. The first one is rma_lane().
    [[nodiscard]] std::size_t rail_count() const noexcept {
        return rma() != nullptr && rma_attr().keyed ? 1 + more_rails_.size() : 0;
    }
    [[nodiscard]] const wireup::lane& rail(std::size_t index) const noexcept {
        return index == 0 ? memory_lane() : more_rails_[index - 1];
    }
    [[nodiscard]] const uct::iface_attr& attr_of(const wireup::lane& which) const noexcept;
    // What our own keys call our device of it, and our memory there.
    [[nodiscard]] std::uint8_t own_device(const wireup::lane& which) const noexcept;
    [[nodiscard]] uct::memory_domain* domain_of(const wireup::lane& which) const noexcept;
    [[nodiscard]] uct::memory_domain* message_domain() const noexcept { return domain_of(am_); }
    // nullptr: the lane is gone.
    [[nodiscard]] rail_share* share_of(const uct::ep& rail) noexcept;
    // Runs over the rails, and hears when one goes.
    void add(striped_access& begun) noexcept { striped_.push_back(begun); }

    // Memory of a send that was broken off, which the peer may still read, and its end.
    void keep_lent(std::unique_ptr<lent_memory> still_used) noexcept;
    void end_lent(std::uint64_t send) noexcept;
    [[nodiscard]] const protocol_table& protocols() const noexcept { return *protocols_; }
    // --- what may be sent ahead of receives, see ucp/core/peer_room.cpp ---
    // All endpoints share it: what they send is stored by one worker.
    [[nodiscard]] eager_budget& budget() noexcept { return budget_; }
    // The endpoint's message went beyond half of the window.
    void overdrawn(ep& by);
    // The worker answers the question that came over this endpoint.
    void room_granted(const ep& over) noexcept;
    // It has told that it has no room, before it was asked.
    void begin_held() noexcept;
    // Asks over this endpoint, which is ready, if the question has not been put yet.
    void ask_over(ep& ready);
    // This endpoint ends: a question that went over it is put again over another one.
    void ask_again(const ep& ending);

    // --- what may be announced ahead of receives, see ucp/core/peer_deferred.cpp ---
    // Tag sends wait here, of all endpoints, until what was announced before them is received.
    // Nothing else does: answers, active messages and streams go their way.
    [[nodiscard]] bool defers() const noexcept { return !deferred_.empty(); }
    [[nodiscard]] std::size_t deferred() const noexcept { return deferred_.size(); }
    // Counts one more announcement. False: the send is to be deferred.
    [[nodiscard]] bool announce(request& send) noexcept;
    void defer(request& send) noexcept;
    // It is broken off, if it is one of them.
    void undefer(request& send) noexcept;
    // The receiver answers an announcement for the first time, or will not any more. Sends that
    // are not announced, or were answered, change nothing. True: then others may go on.
    [[nodiscard]] bool announcement_answered(request& send) noexcept;
    void announcement_lost(request& send) noexcept;
    // The receiver waits for a message that it does not know. Rounds that are over are ignored.
    void may_announce_more(std::uint64_t round);
    // What is deferred goes on as far as the limit reaches.
    void send_deferred();
    // That, and transfers over several rails, from the worker's progress.
    void go_on();
    // Of announcements that say so: the peer defers what follows.
    [[nodiscard]] std::uint32_t stop_mark() const noexcept {
        return announced_.reached() ? announced_.round() : 0;
    }
    // The receiver's part. The peer said so, over this endpoint of its own.
    void stopped(std::uint64_t its_ep, std::uint32_t round) noexcept;
    void ask_for_more() noexcept;

    [[nodiscard]] const uct::iface_attr& am_attr() const noexcept;
    [[nodiscard]] const uct::iface_attr& rma_attr() const noexcept;  // only with rma()

    // Single copy does not work: receivers ask for the data instead, from now on.
    void drop_rma(rma_state why) noexcept;

    // A proven connection message of the worker came from this process of the host, as the kernel
    // says. Single copies begin with it if they reach that process. None: nobody knows.
    void learn_process(const ucs::sys::process_identity& shown) noexcept;

    // A proven connection message of the worker came by this connection of an interface.
    void learn_connection(std::uint64_t number) noexcept { connection_ = number; }
    [[nodiscard]] std::uint64_t connection() const noexcept { return connection_; }
    // That connection was ended here: every endpoint fails.
    void cut_off(ucs_status_t status);

    // A lane failed. Before the first endpoint is ready another one is tried.
    void lane_failed(const uct::ep& which, ucs_status_t status) noexcept;

    // Sends a control message, at once or when there is room. Where memory lacks for one that has
    // to wait, it is lost: the connection fails with the worker's next progress, not in here,
    // because the caller is in the middle of something. False: it is lost. With `debtor` it is an
    // answer that this endpoint of ours owes.
    bool send_control(uct::am_id id, std::span<const std::byte> header,
                      std::span<const std::byte> body = {}, std::uint64_t debtor = 0) noexcept;
    // Such an answer has left, or nobody waits for it any more.
    void answer_left(std::uint64_t debtor) noexcept;

    // Ends every endpoint with the status, although the peer and the lanes to it are alive. The
    // peer is told, and no new endpoint joins those.
    void fail_alive(ucs_status_t status);
    // Does the same with UCS_ERR_EXCEEDS_LIMIT, and drops the control messages that wait for the
    // peer. No more are sent to it, and with the next progress the connection by which it sends
    // ends.
    void fail_for_limit();
    [[nodiscard]] bool has_passed_limit() const noexcept { return has_passed_limit_; }
    // Returns whether control messages are sent to the peer: neither its lane nor a limit has
    // failed it.
    [[nodiscard]] bool is_sent_control() const noexcept { return is_sent_control_; }
    // The peer's shares of worker::waiting, am_receiver::arriving and worker::unread.
    limit_share waiting_share;
    limit_share arriving_share;
    limit_share unread_share;

    // Endpoints by socket address find each other by their ids and count in a range of their own.
    static constexpr std::uint64_t first_socket_number = std::uint64_t{1} << 63;
    // So do those that are one end of a connection of their own: they have even numbers, and the
    // other end, which no program has, the odd one above.
    static constexpr std::uint64_t first_apart_number = std::uint64_t{1} << 62;
    [[nodiscard]] static constexpr bool is_apart(std::uint64_t number) noexcept {
        return number >= first_apart_number && number < first_socket_number;
    }

    void attach(ep& user) noexcept;
    // Somebody may take it, see first_unowned.
    void offer(ep& made) noexcept { unowned_.push_back(made); }
    void detach(ep& user) noexcept;
    // Its endpoints here that the program has not asked for.
    struct uninvited_part final : uninvited_peers::part {
        uninvited_part(uninvited_peers& all, peer& whose) noexcept : part(all), owner(whose) {}
        peer& owner;
    };
    [[nodiscard]] uninvited_peers::part& uninvited() noexcept { return uninvited_; }
    [[nodiscard]] const uninvited_peers::part& uninvited() const noexcept { return uninvited_; }
    // Ends one of these endpoints, the oldest one, or the lanes if there is none. Nothing of a
    // stranger stays that has no other endpoint.
    void end_one_uninvited() noexcept;
    // See uct::ep::received.
    [[nodiscard]] std::uint64_t received() const noexcept {
        return connected() ? am_.endpoint->received() : 0;
    }
    // Lanes were made, closed, or connected, and the peer's message about that has arrived.
    void note_lanes() noexcept;
    [[nodiscard]] std::uint64_t next_number() const noexcept { return next_number_; }
    // Our endpoint that a request of the peer belongs to: the one with the same number that is not
    // connected yet, or the one that a repeated request made. nullptr: a new one is needed.
    [[nodiscard]] ep* find_for_request(std::uint64_t number, std::uint64_t remote_ep) noexcept;
    // An endpoint that the peer's request made and that no user has asked for yet.
    [[nodiscard]] ep* first_unowned() noexcept;
    ucs::datastruct::auto_unlink_hook trash_hook;    // in the worker's list of peers to look after
    ucs::datastruct::auto_unlink_hook failing_hook;  // in its list of those to fail
    ucs::datastruct::auto_unlink_hook dead_hook;     // in its list of those out of its table
    ucs::datastruct::auto_unlink_hook going_hook;    // in its list of those to let go on
    ucs::datastruct::auto_unlink_hook stopped_hook;  // among those that defer what they have for us
    ucs::datastruct::auto_unlink_hook refused_hook;  // among those that are only refused
    ucs::time::nanoseconds refused_since = 0;        // of those
    ucs::datastruct::auto_unlink_hook watched_hook;  // in its list of those to ask now and then
    [[nodiscard]] std::string peer_name() const noexcept;

    // A receive that was broken off while the peer writes into its buffer: ends when the peer says
    // that it is done (then `let_go`), or is gone.
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

    // The name that the worker at the other end has given itself, which drives no terminal.
    [[nodiscard]] std::string worker_name() const;
    // Lanes as they are now, for people. Valid until the next progress.
    struct lane_in_use {
        std::size_t index;
        const uct::resource* where;
        std::size_t resource;
        const char* role;
        const uct::ep* endpoint;
    };
    [[nodiscard]] std::vector<lane_in_use> lanes_in_use() const;
    // In words: the lanes with their traffic; for each transport why it was chosen or not; the
    // protocol of each size. `explain` is all of it.
    [[nodiscard]] std::string explain_lanes() const;
    [[nodiscard]] std::string explain_transports() const;
    // The same of the transports in one line of the log.
    [[nodiscard]] std::string list_transports() const;
    [[nodiscard]] std::string explain_protocols() const;
    [[nodiscard]] std::string explain() const;
    [[nodiscard]] bool dead() const noexcept { return dead_; }

private:
    using lane = wireup::lane;
    using held_list = wireup::pairing::held_list;
    [[nodiscard]] const lane& memory_lane() const noexcept { return shared_lane_ ? am_ : rma_; }
    ucs_status_t connect_over_what_is_left(wireup::pairs which) noexcept;
    ucs_status_t try_to_make_lanes(wireup::pairs which) noexcept;
    ucs_status_t make_lanes(wireup::pairs which);
    [[nodiscard]] bool open(const wireup::lane_choice& choice, lane& into);
    [[nodiscard]] ucs_status_t make(std::size_t resource, std::span<const std::byte> to,
                                    lane& into);
    void close(lane& which) noexcept;
    static void drop(uct::pending_request& queued, void*);
    static void drop_all(held_list& all);
    static void release_all(held_list& all, uct::ep& over) noexcept;
    static void take_queue(wireup::pairing& from, held_list& into) noexcept;
    void choose_protocols();
    void choose_protocols_again() noexcept;
    [[nodiscard]] bool reaches_unknown_process() noexcept;
    [[nodiscard]] bool wanted() const noexcept;
    [[nodiscard]] bool in_use() const noexcept;
    void reconnect(wireup::pairs which) noexcept;
    void serve(wireup::pairs which) noexcept;
    void say_requests_again() noexcept;
    void serve_handed() noexcept;
    void change_lanes(std::size_t without, ucs_status_t failure, wireup::pairs which) noexcept;
    bool send_over(uct::ep& over, const control_message::content& what) noexcept;
    bool lose_control(const control_message::content& what) noexcept;
    [[nodiscard]] bool begin_pairing(const wireup::lane_choice& bootstrap,
                                     const wireup::lane_selection& chosen);
    [[nodiscard]] bool pair_with_itself();
    // What a question or an answer says of a lane of ours.
    struct asked_lane {
        std::string_view transport;
        std::span<const std::byte> to;
        std::vector<std::byte> from;
        std::vector<std::byte> connection;
        std::uint8_t device = mem::no_device;
    };
    [[nodiscard]] asked_lane describe(const lane& ours, std::span<const std::byte> to) const;
    [[nodiscard]] std::vector<std::byte> answer_for(std::span<const wireup::pair_lane> rails);
    [[nodiscard]] uct::ep* lane_to_refuse_by();
    void say(wire::wireup_type what, std::uint64_t attempt, std::uint64_t last, uct::ep& over,
             std::span<const std::byte> body = {}) noexcept;
    void say_again() noexcept;
    void put_off(const wire::wireup_header& header, std::span<const std::byte> body);
    [[nodiscard]] ucs_status_t accept_pairs(std::uint64_t attempt,
                                            const wireup::pair_question& theirs,
                                            wireup::lane& bootstrap) noexcept;
    ucs_status_t make_halves(std::uint64_t attempt, const wireup::pair_question& theirs,
                             wireup::lane& bootstrap);
    [[nodiscard]] ucs_status_t accept_pair(const wireup::pair_lane& asked, lane& into);
    void connect_rails(const wireup::pair_answer& theirs);
    void close_rails() noexcept;
    void abort_lanes() noexcept;
    [[nodiscard]] bool may_accept_rail(const wireup::pair_lane& asked) const;
    void drop_rail(std::size_t index, ucs_status_t why) noexcept;
    [[nodiscard]] wireup::lane_selection select_lanes_to(const address::worker_address& remote,
                                                         wireup::pairs which) const;
    [[nodiscard]] ucs_status_t open_bootstrap();
    void tell_without_pairs(uct::ep& over);
    void told_without_pairs(std::uint64_t since);
    void join() noexcept;
    void stop_keeping() noexcept;
    void give_up_pairs() noexcept;
    void partner_left() noexcept;
    void partner_failed() noexcept;
    [[nodiscard]] bool owes_a_word() const noexcept;
    void tell_partner(wire::wireup_type what) noexcept;
    void tell_of(std::uint64_t attempt) noexcept;
    [[nodiscard]] bool is_ours(std::uint64_t given_up) noexcept;
    void lane_lost(std::size_t resource, ucs_status_t status) noexcept;
    [[nodiscard]] std::vector<wireup::local_interface> local_interfaces() const;
    // One line per transport of this process, those that are not open, too.
    [[nodiscard]] std::vector<std::string> why_each(const wireup::lane_selection& chosen) const;
    // Returns whether this is the address that is known, or has further interfaces.
    [[nodiscard]] bool is_part_of(std::span<const std::byte> packed_address) const;
    void disconnect() noexcept;
    void room_changed() noexcept;
    static ucs_status_t progress_ask(uct::pending_request& queued) noexcept;
    void fail_all(ucs_status_t status);
    void empty_queue();
    void drop_control();
    void end_kept();
    [[nodiscard]] bool may_change_lane() const noexcept;
    bool exclude(std::size_t resource, ucs_status_t failure) noexcept;

    worker& owner_;
    eager_budget budget_;
    announce_limit announced_;
    // In order.
    ucs::datastruct::counted_list<uct::pending_request, &uct::pending_request::pending_hook>
        deferred_;
    const ep* asked_over_ = nullptr;
    const ucs::security::public_key identity_;
    const std::uint64_t uid_;
    source source_;
    bool was_handed_ = false;        // endpoints by hand_waiting_to, for which it is to connect
    std::vector<std::byte> packed_;  // the address, for connecting and explaining
    std::unique_ptr<ucs::security::key> shared_key_;
    lane am_;
    lane rma_;
    std::vector<lane> more_rails_;  // beside am_, if that reaches memory by keys
    ucs::datastruct::auto_list<striped_access, &striped_access::peer_hook> striped_;
    bool shared_lane_ = false;                  // am_ reaches memory, too
    std::unique_ptr<wireup::pairing> pairing_;  // nullptr: the lanes do not come in pairs
    std::uint64_t last_attempt_ = 0;  // that we asked for, or answered, and have not taken back
    rma_state rma_state_ = rma_state::usable;
    ucs::sys::process_identity process_;  // that the worker runs in; none: not known
    std::uint64_t connection_ = 0;        // by which it has connected; 0: not known
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
    ucs::datastruct::list<lent_memory, &lent_memory::hook> lent_;
    uninvited_part uninvited_;
    std::uint64_t next_number_ = 0;
    std::uint64_t stopped_ep_ = 0;
    std::uint32_t stopped_round_ = 0;
    uct::pending_request asking_{.progress = progress_ask, .pending_hook = {}};
    unsigned references_ = 0;
    bool dead_ = false;
    bool is_sent_control_ = true;
    bool has_passed_limit_ = false;
    bool lost_control_ = false;
};

// Keeps a peer while it lives. One that nobody else wants goes then.
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
