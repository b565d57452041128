// A reliable connection: one queue pair and its operations in progress.
#pragma once

#include "ucs/time/clock.hpp"
#include "uct/base/connection_number.hpp"
#include "uct/ib/base/credits.hpp"
#include "uct/ib/rc/base/flow_window.hpp"
#include "uct/ib/rc/base/queue_pair.hpp"
#include "uct/ib/rc/base/tx_op.hpp"

namespace uct::rc {

class ep;

// A connection outlives its endpoint while accepted messages are in progress. The id of a work
// request consists of the connection's slot in its interface and the request's number, so that a
// completion can be assigned. The connection calls no completions: ended operations are put into a
// queue of the interface. Owner context.
//
//   unconnected --connect--> connected --an error--> failing --all requests ended--> failed
class connection {
public:
    enum class state : std::uint8_t { unconnected, connected, failing, failed };

    struct setup {
        ib::completion_credits& shared;  // credits of the completion queue
        op_queue& ended;                 // receives the completed operations
        std::uint32_t slot;
        flow_window::limits flow;
        std::uint32_t moderation;
    };
    connection(const setup& with, queue_pair pair) noexcept;
    ~connection();
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    [[nodiscard]] const queue_pair& pair() const noexcept { return pair_; }
    [[nodiscard]] state current_state() const noexcept { return state_; }
    [[nodiscard]] bool connected() const noexcept { return state_ == state::connected; }
    [[nodiscard]] ucs_status_t error() const noexcept { return error_; }
    [[nodiscard]] std::uint32_t slot() const noexcept { return slot_; }
    // See iface::connection_of.
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    [[nodiscard]] flow_window& flow() noexcept { return flow_; }
    [[nodiscard]] const flow_window& flow() const noexcept { return flow_; }
    [[nodiscard]] const ib::send_credits& credits() const noexcept { return credits_; }
    [[nodiscard]] bool idle() const noexcept { return credits_.outstanding() == 0; }
    // Returns true if its goodbye was posted, which is its last request unless the connection
    // fails.
    [[nodiscard]] bool goodbye_sent() const noexcept { return goodbye_sent_; }
    // Returns true if requests other than its goodbye may be outstanding.
    [[nodiscard]] bool has_messages() const noexcept {
        return credits_.outstanding() > (goodbye_sent_ ? 1U : 0U);
    }

    ucs_status_t connect(const queue_pair::setup& with, const ib::address& peer,
                         const wire::connection_data& peer_data) noexcept;

    // Returns true if so many work requests may be posted now.
    [[nodiscard]] bool has_room(std::uint32_t count = 1) const noexcept {
        return credits_.any(count) && shared_.may_take(credits_.awaited(), count);
    }
    // Returns true if so many work requests can ever be posted at once.
    [[nodiscard]] bool can_hold(std::uint32_t count) const noexcept {
        return count < credits_.size() && count <= shared_.size();
    }
    // Posts a work request; requires has_room. `wanted`: the request must be signaled. Returns
    // false if the device refuses it; then the connection fails.
    bool post(ibv_send_wr& request, bool wanted) noexcept {
        const bool signaled = wanted || credits_.must_signal() || shared_.scarce();
        if (signaled) request.send_flags |= IBV_SEND_SIGNALED;
        request.wr_id = std::uint64_t{slot_} << 32U | credits_.next();
        ibv_send_wr* bad = nullptr;
        if (const int error = ibv_post_send(&pair_.get(), &request, &bad); error != 0)
            [[unlikely]] {
            refused(error);
            return false;
        }
        credits_.post(signaled);
        shared_.take();
        ++doorbells_;
        return true;
    }
    // Posts two work requests with one doorbell; requires has_room(2). The second one is signaled.
    // `op` is completed after both. If the device takes only the first, `op` ends with the
    // connection, which fails. Returns false if the device took neither; then `op` belongs to the
    // caller.
    bool post_pair(ibv_send_wr& first, ibv_send_wr& second, tx_op& op) noexcept;
    // Adds the operation that ends with the request that was posted last.
    void add(tx_op& op) noexcept {
        op.number = credits_.newest();
        op.conn = this;
        ops_.push_back(op);
    }
    // Adds an operation that has begun. Flushes wait for it until it leaves the list.
    void add_stepped(stepped_op& op) noexcept {
        op.order = ++stepped_count_;
        stepped_.push_back(op);
    }
    // Return the number of such operations that have begun, and whether one of the first `first` of
    // them has not ended.
    [[nodiscard]] std::uint32_t stepped_count() const noexcept { return stepped_count_; }
    [[nodiscard]] bool is_stepping(std::uint32_t first) const noexcept {
        return !stepped_.empty() && static_cast<std::int32_t>(stepped_.front().order - first) <= 0;
    }
    // Makes sure that a completion follows the request that was posted last. Returns false if there
    // is no room now.
    [[nodiscard]] bool request_completion() noexcept;
    // Posts a request of 0 bytes, for its completion. Requires has_room.
    bool post_empty() noexcept;
    // Returns true if the peer waits for a grant that may be posted.
    [[nodiscard]] bool must_grant() const noexcept { return connected() && flow_.must_grant_now(); }
    // Post a grant, or a goodbye, as a message of its own. Require has_room.
    bool post_grant() noexcept;
    bool post_goodbye() noexcept;

    // Handles a completion: the work request of that number has ended with that status, and those
    // before it without an error.
    void complete(std::uint32_t number, ucs_status_t status) noexcept;

    // Makes the device end all operations in progress. Idempotent.
    void fail(ucs_status_t status) noexcept;
    // Posts the last request of a failed queue pair. Its completion implies that of all before it,
    // including unsignaled ones. Returns false if there is no room now.
    bool drain() noexcept;
    // Ends a failed connection at once, because the device will report nothing more.
    void abandon() noexcept;
    // Ends the operations that only wait, because their endpoint is destroyed.
    void cancel_flushes() noexcept { cancel(false); }
    // Ends all operations. The device must be done with their memory.
    void cancel_operations() noexcept { cancel(true); }
    [[nodiscard]] bool holds_memory() const noexcept;
    // Destroys the queue pair, so that the device releases all memory.
    void destroy_pair() noexcept { pair_.destroy(); }

    // nullptr once the endpoint is destroyed.
    ep* endpoint = nullptr;
    // Hook for the interface's list of connections that have something to post as soon as there is
    // room.
    ucs::datastruct::auto_unlink_hook send_queue_hook;
    bool wants_completion = false;
    bool wants_goodbye = false;
    bool wants_drain = false;
    ucs::time::nanoseconds left_at = 0;  // when its endpoint was destroyed

    [[nodiscard]] std::uint64_t doorbells() const noexcept { return doorbells_; }
    [[nodiscard]] std::uint64_t completions() const noexcept { return completions_; }

private:
    [[gnu::cold]] void refused(int error) noexcept;
    bool post_control(std::uint32_t immediate, bool wanted) noexcept;
    void end_ops(std::uint32_t number, ucs_status_t last) noexcept;
    void cancel(bool all) noexcept;

    ib::completion_credits& shared_;
    op_queue& ended_;
    const std::uint32_t slot_;
    const std::uint64_t number_ = next_connection_number();
    queue_pair pair_;
    ib::send_credits credits_;
    flow_window flow_;
    std::uint32_t grant_ = 0;  // number of the last grant that was a message of its own
    op_queue ops_;
    stepped_list stepped_;  // in the order in which they began
    std::uint32_t stepped_count_ = 0;
    bool goodbye_sent_ = false;
    state state_ = state::unconnected;
    ucs_status_t error_ = UCS_OK;
    std::uint64_t doorbells_ = 0;
    std::uint64_t completions_ = 0;
};

// Number and slot of the id of a work request.
[[nodiscard]] constexpr std::uint32_t slot_of(std::uint64_t request_id) noexcept {
    return static_cast<std::uint32_t>(request_id >> 32U);
}
[[nodiscard]] constexpr std::uint32_t number_of(std::uint64_t request_id) noexcept {
    return static_cast<std::uint32_t>(request_id);
}

[[nodiscard]] const char* name(connection::state value) noexcept;

}  // namespace uct::rc
