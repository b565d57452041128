// A connection of a worker to one peer worker.
#pragma once

#include <memory>
#include <string>

#include "ucp/core/request.hpp"
#include "ucp/eager/assembly.hpp"
#include "ucp/proto/selection.hpp"
#include "ucp/rma/tracker.hpp"
#include "ucp/rndv/announcement.hpp"
#include "ucp/tag/budget.hpp"
#include "ucp/wireup/state.hpp"
#include "ucp/wireup/wire.hpp"
#include "ucs/vfs/directory.hpp"

namespace ucp {

class peer;
class stream_channel;

namespace cm {
class ep_part;
}
namespace wireup {
enum class pairs : std::uint8_t;
}

// What ucp_ep_create was asked for, with defaults. The address itself goes to the peer object.
struct ep_params {
    ucp_err_handling_mode_t error_mode = UCP_ERR_HANDLING_MODE_NONE;
    ucp_err_handler_t error_handler{nullptr, nullptr};
    void* user_data = nullptr;
    bool no_loopback = false;
    bool apart = false;  // see ucp/capi/private_flags.hpp
    std::string_view name;
};

// One endpoint. Owned by the worker, which destroys it when both the user and the peer are done
// with it; the peer object behind it is shared by all endpoints to the same worker. Kept small:
// nothing is set up before the first use. Owner context.
class ep final : public ucs::vfs::object {
public:
    ep(worker& owner, peer& to, std::uint64_t number);
    ~ep();
    ep(const ep&) = delete;
    ep& operator=(const ep&) = delete;

    // --- datapath ---
    // Whether am_short carries such an eager message; never when the endpoint is not ready: the one
    // check of the send path.
    [[nodiscard]] bool fits_short(std::size_t length) const noexcept { return length < short_end_; }
    // Whether memory of the peer that is mapped here may be loaded from and stored to at once: the
    // one check of puts, gets and atomics.
    [[nodiscard]] bool reaches_directly() const noexcept { return direct_; }
    [[nodiscard]] uct::ep& lane() const noexcept { return *lane_; }
    [[nodiscard]] worker& owner() const noexcept { return owner_; }
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    [[nodiscard]] std::uint64_t remote_id() const noexcept { return remote_id_; }
    [[nodiscard]] const protocol_table& protocols() const noexcept { return *protocols_; }
    [[nodiscard]] peer& remote() const noexcept { return *remote_; }
    [[nodiscard]] std::uint64_t next_message() noexcept { return ++messages_; }
    // Accounts for an eager tagged message that was sent.
    void spend(std::size_t length) {
        if (budget_->spend(length)) [[unlikely]]
            overdrawn();
    }
    // Messages must be announced until the receiver has room again.
    [[nodiscard]] bool must_announce() const noexcept { return budget_->held(); }
    // The time when messages must be announced began or ended.
    void room_changed() noexcept;

    // Starts a send: at once when ready, else after the connection stands. The request is already
    // in `starting` state.
    void submit(request& send);

    // --- operations on the peer's memory, see ucp/rma/order.cpp ---
    // Makes reaches_directly true where it can be: the endpoint works, and nothing has to be waited
    // for.
    bool open_directly();
    // As submit. Starts at once unless it is behind a fence.
    void submit_remote(request& operation);
    // A message leaves that the peer does not answer.
    void note_posted() noexcept;
    // A put went over the lane that tells nobody when it has arrived.
    void note_copied() noexcept { tracker_->copied = true; }
    void note_lane_flushed() noexcept { --tracker_->flushing; }
    // The peer has carried out so many of those. False: it was not asked.
    [[nodiscard]] bool confirm(std::uint64_t count, ucs_status_t status);
    // Whether an operation that the peer answers may be sent now; else it is held until others are
    // answered, and its protocol's progress is called again.
    [[nodiscard]] bool may_ask(request& operation) noexcept;
    void note_asked() noexcept { ++tracker_->unanswered; }
    void unhold(request& operation) noexcept;
    // The peer has answered one, which ends with that.
    void end_answered(request& operation, ucs_status_t status);
    // One that could not be asked ends.
    void end_unasked(request& operation, ucs_status_t status);
    // Answers that the peer has not taken yet. False: it asked for more than it may.
    [[nodiscard]] bool owe_answer() noexcept;
    void answer_left() noexcept { --owed_answers_; }
    // An operation failed whose request the program has given back: the next flush tells.
    void note_lost(ucs_status_t why) noexcept;
    // What follows waits for what is under way. False: no memory.
    [[nodiscard]] bool fence();
    // An operation of the peer's on our memory was refused; the first such since it last asked is
    // kept. False: there was one.
    bool note_refused(ucs_status_t why) noexcept {
        if (refused_ != UCS_OK) return false;
        refused_ = why;
        return true;
    }
    [[nodiscard]] ucs_status_t take_refused() noexcept { return std::exchange(refused_, UCS_OK); }
    // The peer's messages find us ready to answer.
    [[nodiscard]] bool is_connected() const noexcept { return lane_ != nullptr; }
    // Whether a flush has something to wait for, or to tell.
    [[nodiscard]] bool has_unflushed() const noexcept;

    // Registers and unregisters operations that end with this endpoint when it fails.
    void add_send(request& send) noexcept;
    void add_recv(request& recv) noexcept { recvs_.push_back(recv); }
    void remove_send(request& send) noexcept { sends_.erase(sends_.iterator_to(send)); }
    void check_flushes();
    // Takes a send out of the lane's queue, if it waits there.
    void unqueue(request& send);
    [[nodiscard]] const uct::iface_attr& lane_attr() const noexcept;
    void remove_recv(request& recv) noexcept { recvs_.erase(recvs_.iterator_to(recv)); }

    // The byte stream to and from the peer; made at first use.
    [[nodiscard]] stream_channel& stream();
    [[nodiscard]] stream_channel* opened_stream() const noexcept { return stream_.get(); }
    // The program of the peer reads no stream any more: sends that wait for its room fail.
    void note_reader_gone();
    [[nodiscard]] bool reader_gone() const noexcept { return reader_gone_; }
    // No receive of the stream waits any more: when this side closes, the peer is told so.
    void receives_ended();

    // --- control ---
    // Adopts an endpoint that a peer's request made before the user asked for one.
    void adopt(const ep_params& params, std::string name = {}) noexcept;
    // New error handling or user data (ucp_ep_modify_nb).
    void modify(const ucp_err_handler_t* handler, void* const* user_data) noexcept;
    [[nodiscard]] bool owned_by_user() const noexcept { return user_owned_; }

    // Drives the connection; see wireup/state.hpp.
    void handle(wireup::event what, ucs_status_t status = UCS_OK);
    [[nodiscard]] wireup::state connection() const noexcept { return state_; }
    void set_remote_id(std::uint64_t id) noexcept { remote_id_ = id; }
    // Takes another id, because this one was told to somebody who is not the peer. An endpoint
    // that is established keeps its id. It fails if there is no memory for that.
    void renew_id() noexcept;
    // Tells the peer that this end is over, see wireup::send_close. `drop_last_word` when the lane
    // that one waits for goes: there is nobody to be told any more.
    void say_last(wire::wireup_type what) noexcept;
    [[nodiscard]] static bool is_last_word(const uct::pending_request& queued) noexcept {
        return queued.progress == progress_last_word;
    }
    static void drop_last_word(uct::pending_request& queued) noexcept;
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

    // Of endpoints by socket address (ucp/cm), nullptr for others.
    [[nodiscard]] cm::ep_part* by_socket() const noexcept { return by_socket_.get(); }
    void join(std::unique_ptr<cm::ep_part> part) noexcept;
    // The client learns who its peer is. The peer object may have no lanes yet.
    void bind(peer& to) noexcept;

    // Makes the lanes to the peer if it has none, and watches the peer where its transport needs
    // that. Returns false if there are no lanes: the endpoint has failed then.
    [[nodiscard]] bool ensure_lanes(wireup::pairs which);

    // Another peer object stands for the same worker from now on. Only before there is a lane.
    void move_to(peer& to) noexcept;
    // The peer has none any more.
    void forget_lane() noexcept;

    // UCS_OK: everything before is done. UCS_INPROGRESS: `flush` is told later.
    ucs_status_t start_flush(request& flush);

    // Detaches the user. Forced: what runs completes with UCS_ERR_CANCELED. The object lives on
    // until the peer closed as well.
    void close_forced();
    void close_flushed();
    void detach_user() noexcept;

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] void* user_data() const noexcept { return user_data_; }
    [[nodiscard]] ucs_status_t failure() const noexcept { return failure_; }
    // Nothing more is received: it failed, we closed it by force, or the peer closed. Also where
    // both closed, and it lives on for its last word only.
    [[nodiscard]] bool incoming_over() const noexcept {
        return failure_ != UCS_OK || state_ == wireup::state::peer_closed ||
               state_ == wireup::state::closed;
    }
    // What the peer asks about memory is answered until it has closed as well, also after we did,
    // by force even.
    [[nodiscard]] bool may_answer() const noexcept {
        return is_connected() && !wireup::is_over(state_);
    }
    [[nodiscard]] ucp_err_handling_mode_t error_mode() const noexcept { return error_mode_; }
    [[nodiscard]] std::string info() const;
    [[nodiscard]] std::string line() const;  // one line of the worker's page
    void describe(ucs::vfs::directory& into) const override;

    // Messages of the peer that cannot end without it: forgotten when it is gone.
    ucs::datastruct::auto_list<kept_announcement, &kept_announcement::sender_hook> announced;
    ucs::datastruct::auto_list<assembly, &assembly::sender_hook> half;

    ucs::datastruct::tree_hook peer_hook;               // among the peer's endpoints, by number
    ucs::datastruct::auto_unlink_hook owed_hook;        // among those that wait to hear of room
    ucs::datastruct::auto_unlink_hook unanswered_hook;  // among those that asked for a connection
    // Either in the peer's list of endpoints that no user has asked for, or in the worker's of
    // those that are to be destroyed.
    ucs::datastruct::auto_unlink_hook unwanted_hook;

    // A request of the peer made it; counted until the program asks for it or it is gone.
    void come_uninvited() noexcept;
    [[nodiscard]] bool is_uninvited() const noexcept { return uninvited_; }
    // It ends because peers have made too many that the program has not asked for. The peer is told
    // if its lane has room; nothing of the endpoint waits for that.
    void end_as_one_of_many() noexcept;
    [[nodiscard]] wire::end_reason reason_for_end() const noexcept { return reason_for_end_; }

    // The worker goes: everything ends without callbacks to the peer.
    void abort_for_destruction() { abort_all(UCS_ERR_CANCELED); }
    // Whether a user's ucp_ep_create may take this endpoint, which a peer's request made.
    [[nodiscard]] bool adoptable() const noexcept {
        return state_ == wireup::state::ready && failure_ == UCS_OK && !close_pending_;
    }
    // The lane was replaced before the connection stood.
    void connect_again();
    // Nobody has answered for long.
    void ask_again();
    // The peer's lanes changed what they can do.
    void refresh_protocols() noexcept;

private:
    void end_uninvited() noexcept;
    void close_unowned() noexcept;
    void connect();
    void ask_for_connection();
    void become_ready();
    void resume_held();
    void watch_peer() noexcept;
    void enter(wireup::state next) noexcept;
    void peer_closed();
    void stop_reading();
    void fail(ucs_status_t status, bool tell_peer);
    void destroy_if_over() noexcept;
    static ucs_status_t progress_last_word(uct::pending_request& queued) noexcept;
    void abort_all(ucs_status_t status);
    // Ends messages that have come in part or were announced; then those of streams as well.
    void abort_messages(ucs_status_t status);
    void abort_incoming(ucs_status_t status);
    void tell_user(ucs_status_t status);
    void end_flush(request& flush, ucs_status_t status);
    [[nodiscard]] bool awaits_connection(bool closes) const noexcept;
    void run_waiting();
    void overdrawn();
    void allow_short() noexcept;
    void run(request& waiting);
    [[nodiscard]] bool is_fenced() const noexcept;
    [[nodiscard]] bool is_behind_fence(const request& operation) const noexcept;
    [[nodiscard]] bool has_remote_before(std::uint64_t sequence) const noexcept;
    [[nodiscard]] bool all_confirmed() const noexcept;
    [[nodiscard]] bool is_reached(flush_state& flush);
    [[nodiscard]] bool is_confirmed(flush_state& flush);
    [[nodiscard]] ucs_status_t outcome_for(const flush_state& flush) noexcept;
    void ask_for_confirmation();
    [[nodiscard]] bool await_copied() noexcept;
    void pass_fences();
    void forget_remote() noexcept;

    using operations = ucs::datastruct::list<request, &request::active_hook>;

    worker& owner_;
    std::size_t short_end_ = 0;  // am_short carries lengths below it; 0: not ready
    eager_budget* budget_;       // the peer's
    uct::ep* lane_ = nullptr;
    const protocol_table* protocols_ = nullptr;
    std::uint64_t id_ = 0;
    std::uint64_t remote_id_ = 0;
    std::uint64_t messages_ = 0;
    std::uint64_t sequence_ = 0;
    peer* remote_;        // a client by socket address does not know its own at first
    operations sends_;    // running, in order of their sequence
    operations recvs_;    // matched receives that wait for this peer
    operations flushes_;  // in order of their `until`
    std::uint64_t number_;
    wireup::state state_ = wireup::state::idle;
    bool user_owned_ = false;
    bool uninvited_ = false;
    bool no_loopback_ = false;
    bool draining_ = false;  // what waited is started; others wait behind it
    bool checking_ = false;  // flushes and fences that wait
    bool looks_again_ = false;
    bool direct_ = false;  // see reaches_directly
    bool fenced_ = false;  // there are fences
    ucs_status_t refused_ = UCS_OK;
    unsigned owed_answers_ = 0;
    bool close_pending_ = false;  // a flush will close the endpoint
    bool reader_gone_ = false;    // of the stream that we write
    ucs_status_t failure_ = UCS_OK;
    ucp_err_handling_mode_t error_mode_ = UCP_ERR_HANDLING_MODE_NONE;
    ucp_err_handler_t error_handler_{nullptr, nullptr};
    void* user_data_ = nullptr;
    std::unique_ptr<cm::ep_part> by_socket_;
    std::string name_;
    std::unique_ptr<stream_channel> stream_;
    std::unique_ptr<remote_tracker> tracker_;  // nullptr: the peer's memory was never asked for
    uct::pending_request last_word_{.progress = progress_last_word, .pending_hook = {}};
    wire::wireup_type last_word_is_{};
    wire::end_reason reason_for_end_{};
};

// Thousands of endpoints are normal.
static_assert(sizeof(ep) <= 384);

// Messages of its sender that are half here, or announced, are forgotten when it is over, so none
// is begun then. `from`: who find_ep found.
[[nodiscard]] inline bool is_over(const ep* from) noexcept {
    return from == nullptr || from->incoming_over();
}

}  // namespace ucp
