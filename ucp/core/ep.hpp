// An endpoint: the connection of a worker to one peer worker.
#pragma once

#include <memory>
#include <string>

#include "ucp/core/operations.hpp"
#include "ucp/core/program_side.hpp"
#include "ucp/core/socket_part.hpp"
#include "ucp/proto/eager_window.hpp"
#include "ucp/proto/selection.hpp"
#include "ucp/wireup/state.hpp"
#include "ucp/wireup/wire.hpp"
#include "ucs/vfs/directory.hpp"

namespace ucp {

class peer;

namespace wireup {
enum class pairs : std::uint8_t;
}

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

    // Returns whether this endpoint can reply to the peer's messages.
    [[nodiscard]] bool is_connected() const noexcept { return lane_ != nullptr; }
    [[nodiscard]] const uct::iface_attr& lane_attr() const noexcept;

    [[nodiscard]] running_operations& operations() noexcept { return operations_; }
    [[nodiscard]] const running_operations& operations() const noexcept { return operations_; }
    [[nodiscard]] program_side& program() noexcept { return program_; }
    [[nodiscard]] const program_side& program() const noexcept { return program_; }

    // --- control ---
    // Hands the endpoint to the program, maybe one that a peer's request made before the program
    // asked for one.
    void adopt(const ep_params& params, std::string name = {}) noexcept;
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

    // Close for the program. Forced: running operations complete with UCS_ERR_CANCELED. The object
    // lives on until the peer has closed as well.
    void close_forced();
    void close_flushed();
    void detach_user() noexcept;

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
        return state_ == wireup::state::ready && failure_ == UCS_OK &&
               !operations_.closes_after_flush();
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
    friend running_operations;

    void end_uninvited() noexcept;
    void close_unowned() noexcept;
    void connect();
    void ask_for_connection();
    void become_ready();
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
    void on_window_spent();
    void allow_short() noexcept;

    uct::pending_request final_message_{.progress = progress_final_message, .pending_hook = {}};
    std::unique_ptr<socket_part> socket_;
    std::uint64_t number_;
    [[no_unique_address]] program_side program_;
    ucs_status_t failure_ = UCS_OK;
    wireup::state state_ = wireup::state::idle;
    bool uninvited_ = false;
    wire::wireup_type final_message_type_{};
    wire::end_reason reason_for_end_{};
    [[no_unique_address]] running_operations operations_;
    std::uint64_t messages_ = 0;
    // Used for each message.
    worker& owner_;
    std::uint64_t id_ = 0;
    std::uint64_t remote_id_ = 0;
    const protocol_table* protocols_ = nullptr;
    peer* remote_;  // a client by socket address begins with a placeholder
    uct::ep* lane_ = nullptr;
    std::size_t short_end_ = 0;  // am_short carries lengths below it; 0: not ready
    eager_window* window_;       // shared by all endpoints to the peer
};

inline ep& running_operations::endpoint() noexcept {
    return *boost::intrusive::get_parent_from_member(this, &ep::operations_);
}
inline const ep& running_operations::endpoint() const noexcept {
    return *boost::intrusive::get_parent_from_member(this, &ep::operations_);
}

inline void running_operations::add_send(request& send) noexcept {
    send.via = &endpoint();
    send.sequence = sequence_++;
    sends_.push_back(send);
}

// Returns whether the sender's endpoint is over; then no message of it is begun, because partial
// messages are dropped. `from`: result of find_ep.
[[nodiscard]] inline bool is_over(const ep* from) noexcept {
    return from == nullptr || from->incoming_over();
}

}  // namespace ucp
