// An endpoint: the connection of a worker to one peer worker.
#pragma once

#include <memory>
#include <string>

#include "ucp/core/request.hpp"
#include "ucp/core/socket_part.hpp"
#include "ucp/proto/eager_window.hpp"
#include "ucp/proto/selection.hpp"
#include "ucp/rma/tracker.hpp"
#include "ucp/wireup/state.hpp"
#include "ucp/wireup/wire.hpp"
#include "ucs/vfs/directory.hpp"

namespace ucp {

class peer;

namespace wireup {
enum class pairs : std::uint8_t;
}

// Parameters of ucp_ep_create with defaults. The address itself goes to the peer object.
struct ep_params {
    ucp_err_handling_mode_t error_mode = UCP_ERR_HANDLING_MODE_NONE;
    ucp_err_handler_t error_handler{nullptr, nullptr};
    void* user_data = nullptr;
    bool no_loopback = false;
    bool apart = false;  // see ucp/capi/private_flags.hpp
    std::string_view name;
};

// One endpoint. Owned by the worker, which destroys it when neither the program nor the peer needs
// it any more. All endpoints to the same worker share the peer object. Kept small: nothing is set
// up before the first use. Owner context.
class ep : public ucs::vfs::object {
public:
    // Makes an endpoint with the slots of all features (ucp/features).
    [[nodiscard]] static ep& make(worker& owner, peer& to, std::uint64_t number);
    virtual ~ep();
    ep(const ep&) = delete;
    ep& operator=(const ep&) = delete;

    // --- datapath ---
    // Returns whether am_short carries an eager message of this length; false while the endpoint is
    // not ready. This is the only check of the send path.
    [[nodiscard]] bool fits_short(std::size_t length) const noexcept { return length < short_end_; }
    // Returns whether mapped memory of the peer may be loaded from and stored to directly. This is
    // the only check of puts, gets and atomics.
    [[nodiscard]] bool reaches_directly() const noexcept { return direct_; }
    [[nodiscard]] uct::ep& lane() const noexcept { return *lane_; }
    [[nodiscard]] worker& owner() const noexcept { return owner_; }
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    [[nodiscard]] std::uint64_t remote_id() const noexcept { return remote_id_; }
    [[nodiscard]] const protocol_table& protocols() const noexcept { return *protocols_; }
    [[nodiscard]] peer& remote() const noexcept { return *remote_; }
    [[nodiscard]] std::uint64_t next_message() noexcept { return ++messages_; }
    // Accounts for an eager tagged message that was sent.
    void add_sent(std::size_t length) {
        if (window_->add_sent(length)) [[unlikely]]
            on_window_spent();
    }
    // Messages must begin with an RTS until the receiver grants credits again.
    [[nodiscard]] bool must_use_rendezvous() const noexcept { return window_->uses_rendezvous(); }
    // The sender began or stopped to use rendezvous or to defer sends: updates the limit of the
    // short path.
    void credits_changed() noexcept;

    // Starts a send: at once if the endpoint is ready, otherwise when the connection is
    // established. The request is already in `starting` state.
    void submit(request& send);

    // --- operations on the peer's memory, see ucp/rma/order.cpp ---
    // Makes reaches_directly true if possible: the endpoint works, and nothing has to be waited
    // for.
    bool open_directly();
    // Submits an operation on the peer's memory, as submit does. It starts at once unless it is
    // behind a fence.
    void submit_remote(request& operation);
    // A put message left that the peer does not answer.
    void note_posted() noexcept;
    // A put went over the lane by copying, which reports no arrival.
    void note_copied() noexcept { tracker_->copied = true; }
    void note_lane_flushed() noexcept { --tracker_->flushing; }
    // The peer has carried out so many of the unanswered puts. Returns false if it was not asked.
    [[nodiscard]] bool confirm(std::uint64_t count, ucs_status_t status);
    // Returns whether an operation that the peer answers may be sent now. If not, it is held until
    // replies to others arrive, and its protocol's progress is called again.
    [[nodiscard]] bool can_request(request& operation) noexcept;
    void request_sent() noexcept { ++tracker_->unanswered; }
    void release_hold(request& operation) noexcept;
    // The peer has answered an operation, which ends with that.
    void end_answered(request& operation, ucs_status_t status);
    // An operation that could not be sent ends.
    void end_unrequested(request& operation, ucs_status_t status);
    // Counts a reply that the peer has not taken yet. Returns false if the peer requests more than
    // it may.
    [[nodiscard]] bool add_pending_reply() noexcept;
    void reply_sent() noexcept { --pending_replies_; }
    // An operation failed whose request the program has released: the next flush reports the error.
    void note_lost(ucs_status_t why) noexcept;
    // Fence: later operations on the peer's memory wait for those under way. Returns false if there
    // is no memory.
    [[nodiscard]] bool fence();
    // An operation of the peer on our memory was refused. The first error since the peer last asked
    // is kept; returns false if there was one already.
    bool record_refusal(ucs_status_t status) noexcept {
        if (refused_ != UCS_OK) return false;
        refused_ = status;
        return true;
    }
    [[nodiscard]] ucs_status_t take_refused() noexcept { return std::exchange(refused_, UCS_OK); }
    // Returns whether this endpoint can reply to the peer's messages.
    [[nodiscard]] bool is_connected() const noexcept { return lane_ != nullptr; }
    // Returns whether a flush has anything to wait for or to report.
    [[nodiscard]] bool has_unflushed() const noexcept;

    // Register and unregister operations that end with this endpoint when it fails.
    void add_send(request& send) noexcept;
    void add_recv(request& recv) noexcept { recvs_.push_back(recv); }
    void remove_send(request& send) noexcept { sends_.erase(sends_.iterator_to(send)); }
    void check_flushes();
    // Removes a send from the lane's queue, if it waits there.
    void unqueue(request& send);
    [[nodiscard]] const uct::iface_attr& lane_attr() const noexcept;
    void remove_recv(request& recv) noexcept { recvs_.erase(recvs_.iterator_to(recv)); }

    // From now on events::operation_ended is published.
    void watch_ends() noexcept { is_end_watched_ = true; }
    // The receives that add_recv has registered.
    [[nodiscard]] const auto& recvs() const noexcept { return recvs_; }
    [[nodiscard]] bool has_sends() const noexcept { return !sends_.empty(); }
    // Returns whether a flush of the program will close the endpoint.
    [[nodiscard]] bool closes_after_flush() const noexcept { return close_pending_; }

    // --- control ---
    // Hands the endpoint to the program, maybe one that a peer's request made before the program
    // asked for one.
    void adopt(const ep_params& params, std::string name = {}) noexcept;
    // Changes the error handler or user data (ucp_ep_modify_nb).
    void modify(const ucp_err_handler_t* handler, void* const* user_data) noexcept;
    [[nodiscard]] bool owned_by_user() const noexcept { return user_owned_; }

    // Feeds an event into the connection's state machine; see wireup/state.hpp.
    void handle(wireup::event input, ucs_status_t status = UCS_OK);
    [[nodiscard]] wireup::state connection() const noexcept { return state_; }
    void set_remote_id(std::uint64_t id) noexcept { remote_id_ = id; }
    // Takes a new id, because the old one was sent to a process that is not the peer. An
    // established endpoint keeps its id. The endpoint fails if there is no memory for the change.
    void renew_id() noexcept;
    // Sends the final message, which tells the peer that this end is over (see wireup::send_close).
    // `drop_final_message` is called when the lane that the message waits for goes: then there is
    // no peer to notify.
    void send_final(wire::wireup_type type) noexcept;
    [[nodiscard]] static bool is_final_message(const uct::pending_request& queued) noexcept {
        return queued.progress == progress_final_message;
    }
    static void drop_final_message(uct::pending_request& queued) noexcept;
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

    // The part for endpoints by socket address; nullptr for other endpoints.
    [[nodiscard]] socket_part* socket() const noexcept { return socket_.get(); }
    void join(std::unique_ptr<socket_part> part) noexcept;
    // Binds a client to its server's worker. The peer object may have no lanes yet.
    void bind(peer& to) noexcept;

    // Makes the lanes to the peer if there are none, and watches the peer if its transport needs
    // that. Returns false if there are no lanes: the endpoint has failed then.
    [[nodiscard]] bool ensure_lanes(wireup::pairs allowed_pairs);

    // Moves the endpoint to another peer object for the same worker. Only before there is a lane.
    void move_to(peer& to) noexcept;
    // The peer has no lane any more.
    void forget_lane() noexcept;

    // UCS_OK: everything before is done. UCS_INPROGRESS: `flush` is completed later.
    ucs_status_t start_flush(request& flush);

    // Close for the program. Forced: running operations complete with UCS_ERR_CANCELED. The object
    // lives on until the peer has closed as well.
    void close_forced();
    void close_flushed();
    void detach_user() noexcept;

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] void* user_data() const noexcept { return user_data_; }
    [[nodiscard]] ucs_status_t failure() const noexcept { return failure_; }
    // Returns whether nothing more is received: the endpoint failed, was closed by force, or the
    // peer closed. Also true when both closed and the endpoint lives on for its final message only.
    [[nodiscard]] bool incoming_over() const noexcept {
        return failure_ != UCS_OK || state_ == wireup::state::peer_closed ||
               state_ == wireup::state::closed;
    }
    // Returns whether the peer's operations on our memory are answered: until the peer has closed
    // as well, even after we closed, also by force.
    [[nodiscard]] bool may_answer() const noexcept {
        return is_connected() && !wireup::is_over(state_);
    }
    [[nodiscard]] ucp_err_handling_mode_t error_mode() const noexcept { return error_mode_; }
    [[nodiscard]] std::string info() const;
    [[nodiscard]] std::string line() const;  // one line of the text about the worker
    void describe(ucs::vfs::directory& into) const override;

    ucs::datastruct::tree_hook peer_hook;  // among the peer's endpoints, by number
    ucs::datastruct::auto_unlink_hook
        credit_waiter_hook;  // among the endpoints that wait for credits from us
    ucs::datastruct::auto_unlink_hook
        unanswered_hook;  // among the endpoints whose connection request is unanswered
    // Either in the peer's list of endpoints that the program has not asked for, or in the worker's
    // list of endpoints to destroy.
    ucs::datastruct::auto_unlink_hook unwanted_hook;

    // Marks an endpoint that a request of the peer made; it is counted until the program asks for
    // it or it is gone.
    void mark_uninvited() noexcept;
    [[nodiscard]] bool is_uninvited() const noexcept { return uninvited_; }
    // Ends the endpoint because peers have made too many that the program has not asked for. The
    // peer is notified if its lane has room; nothing of the endpoint waits for that.
    void end_for_limit() noexcept;
    [[nodiscard]] wire::end_reason reason_for_end() const noexcept { return reason_for_end_; }

    // The worker is being destroyed: everything ends, and the peer is not notified.
    void abort_for_destruction() { abort_all(UCS_ERR_CANCELED); }
    // Returns whether a ucp_ep_create may adopt this endpoint, which a peer's request made.
    [[nodiscard]] bool adoptable() const noexcept {
        return state_ == wireup::state::ready && failure_ == UCS_OK && !close_pending_;
    }
    // The lane was replaced before the connection was established: sends the connection request
    // again.
    void connect_again();
    // The connection request has had no reply for long: repeats it.
    void repeat_request();
    // Protocols of the peer's lanes changed: takes the new table.
    void refresh_protocols() noexcept;

protected:
    ep(worker& owner, peer& to, std::uint64_t number);
    // Ends the endpoint before its slots are destroyed.
    void end() noexcept;

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
    void fail(ucs_status_t status, bool notify_peer);
    void destroy_if_over() noexcept;
    static ucs_status_t progress_final_message(uct::pending_request& queued) noexcept;
    void abort_all(ucs_status_t status);
    // abort_messages ends messages that have arrived in part or whose RTS was received;
    // abort_incoming ends receives of the stream as well.
    void abort_messages(ucs_status_t status);
    void abort_incoming(ucs_status_t status);
    void notify_user(ucs_status_t status);
    void end_flush(request& flush, ucs_status_t status);
    [[nodiscard]] bool awaits_connection(bool closes) const noexcept;
    void run_waiting();
    void on_window_spent();
    void allow_short() noexcept;
    void run(request& waiting);
    [[nodiscard]] bool is_fenced() const noexcept;
    [[nodiscard]] bool is_behind_fence(const request& operation) const noexcept;
    [[nodiscard]] bool has_remote_before(std::uint64_t sequence) const noexcept;
    [[nodiscard]] bool all_confirmed() const noexcept;
    [[nodiscard]] bool is_reached(flush_state& flush);
    [[nodiscard]] bool is_confirmed(flush_state& flush);
    [[nodiscard]] ucs_status_t outcome_for(const flush_state& flush) noexcept;
    void request_confirmation();
    [[nodiscard]] bool await_copied() noexcept;
    void pass_fences();
    void forget_remote() noexcept;

    using operations = ucs::datastruct::list<request, &request::active_hook>;

    worker& owner_;
    std::size_t short_end_ = 0;  // am_short carries lengths below it; 0: not ready
    eager_window* window_;       // shared by all endpoints to the peer
    uct::ep* lane_ = nullptr;
    const protocol_table* protocols_ = nullptr;
    std::uint64_t id_ = 0;
    std::uint64_t remote_id_ = 0;
    std::uint64_t messages_ = 0;
    std::uint64_t sequence_ = 0;
    peer* remote_;        // a client by socket address begins with a placeholder
    operations sends_;    // running, in order of their sequence
    operations recvs_;    // matched receives that wait for this peer
    operations flushes_;  // in order of their `until`
    std::uint64_t number_;
    wireup::state state_ = wireup::state::idle;
    bool user_owned_ = false;
    bool uninvited_ = false;
    bool no_loopback_ = false;
    bool draining_ = false;  // waiting sends are being started; new ones queue behind them
    bool checking_ = false;  // inside check_flushes
    bool looks_again_ = false;
    bool direct_ = false;  // see reaches_directly
    bool fenced_ = false;  // there are fences
    ucs_status_t refused_ = UCS_OK;
    wire::wireup_type final_message_type_{};
    wire::end_reason reason_for_end_{};
    unsigned pending_replies_ = 0;
    bool close_pending_ = false;   // a flush will close the endpoint
    bool is_end_watched_ = false;  // see watch_ends
    ucs_status_t failure_ = UCS_OK;
    ucp_err_handling_mode_t error_mode_ = UCP_ERR_HANDLING_MODE_NONE;
    ucp_err_handler_t error_handler_{nullptr, nullptr};
    void* user_data_ = nullptr;
    std::unique_ptr<socket_part> socket_;
    std::string name_;
    std::unique_ptr<remote_tracker> tracker_;  // nullptr: no operation on the peer's memory yet
    uct::pending_request final_message_{.progress = progress_final_message, .pending_hook = {}};
};

// Returns whether the sender's endpoint is over; then no message of it is begun, because partial
// messages are dropped. `from`: result of find_ep.
[[nodiscard]] inline bool is_over(const ep* from) noexcept {
    return from == nullptr || from->incoming_over();
}

}  // namespace ucp
