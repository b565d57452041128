// One queue pair and what is under way on it.
#pragma once

#include "ucs/time/clock.hpp"
#include "uct/base/connection_number.hpp"
#include "uct/ib/base/credits.hpp"
#include "uct/ib/rc/base/flow_window.hpp"
#include "uct/ib/rc/base/queue_pair.hpp"
#include "uct/ib/rc/base/tx_op.hpp"

namespace uct::rc {

class ep;

// Outlives its endpoint while accepted messages are under way. The id of a work request is the
// connection's slot in its interface and the request's number, so that a completion finds its way
// back. Tells nobody anything: what ended is left in a queue for the interface. Owner context.
//
//   unconnected --connect--> connected --an error--> failing --all requests ended--> failed
class connection {
public:
    enum class state : std::uint8_t { unconnected, connected, failing, failed };

    struct setup {
        ib::completion_credits& shared;  // of the completion queue
        op_queue& ended;                 // where operations go that have completed
        std::uint32_t slot;
        flow_window::limits flow;
        std::uint32_t moderation;
    };
    connection(const setup& with, queue_pair pair) noexcept;
    ~connection();
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    [[nodiscard]] const queue_pair& pair() const noexcept { return pair_; }
    [[nodiscard]] state at() const noexcept { return at_; }
    [[nodiscard]] bool connected() const noexcept { return at_ == state::connected; }
    [[nodiscard]] ucs_status_t error() const noexcept { return error_; }
    [[nodiscard]] std::uint32_t slot() const noexcept { return slot_; }
    // See iface::connection_of.
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    [[nodiscard]] flow_window& flow() noexcept { return flow_; }
    [[nodiscard]] const flow_window& flow() const noexcept { return flow_; }
    [[nodiscard]] const ib::send_credits& credits() const noexcept { return credits_; }
    [[nodiscard]] bool idle() const noexcept { return credits_.outstanding() == 0; }
    // Returns whether its goodbye was posted, its last request unless the connection fails.
    [[nodiscard]] bool said_goodbye() const noexcept { return said_goodbye_; }
    // Returns whether more than its goodbye may be under way.
    [[nodiscard]] bool owes_messages() const noexcept {
        return credits_.outstanding() > (said_goodbye_ ? 1U : 0U);
    }

    ucs_status_t connect(const queue_pair::setup& with, const ib::address& peer,
                         const wire::connection_data& theirs) noexcept;

    // Room for so many more work requests.
    [[nodiscard]] bool has_room(std::uint32_t count = 1) const noexcept {
        return credits_.any(count) && shared_.may_take(credits_.awaited(), count);
    }
    // Whether there ever is.
    [[nodiscard]] bool can_hold(std::uint32_t count) const noexcept {
        return count < credits_.size() && count <= shared_.size();
    }
    // Hands one to the device, for which there is room. `wanted`: its completion is. False: the
    // device did not take it, and the connection fails.
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
    // Two by one doorbell, for which there is room; a completion is wanted of the second. `op` is
    // what they leave to do, also if the device takes only the first: then it ends with the
    // connection, which fails. False: the device took neither, and `op` is the caller's.
    bool post_pair(ibv_send_wr& first, ibv_send_wr& second, tx_op& op) noexcept;
    // What the request that was posted last leaves to do.
    void add(tx_op& op) noexcept {
        op.number = credits_.newest();
        op.on = this;
        ops_.push_back(op);
    }
    // It begins: flushes wait for it until it leaves the list.
    void add_stepped(stepped_op& op) noexcept {
        op.order = ++stepped_count_;
        stepped_.push_back(op);
    }
    // How many have begun, and whether one of the first so many is not over.
    [[nodiscard]] std::uint32_t stepped_count() const noexcept { return stepped_count_; }
    [[nodiscard]] bool is_stepping(std::uint32_t first) const noexcept {
        return !stepped_.empty() && static_cast<std::int32_t>(stepped_.front().order - first) <= 0;
    }
    // Makes sure that the completion of what was posted last shows. False: no room now.
    [[nodiscard]] bool want_completion() noexcept;
    // A request that moves nothing, for its completion. There is room.
    bool post_nothing() noexcept;
    // Returns whether the peer waits for a grant that may be posted.
    [[nodiscard]] bool owes_grant() const noexcept { return connected() && flow_.owes_now(); }
    // A grant, by itself, and that nothing follows. There is room.
    bool post_grant() noexcept;
    bool post_goodbye() noexcept;

    // The work request of that number completed, and those before it did without an error.
    void complete(std::uint32_t number, ucs_status_t status) noexcept;

    // The device ends everything that is under way. Idempotent.
    void fail(ucs_status_t status) noexcept;
    // The last request of a failed queue pair: its completion is that of all before it, also of
    // those that asked for none. False: no room now.
    bool drain() noexcept;
    // After a failure: the device answers nothing any more, and nobody waits for it.
    void abandon() noexcept;
    // Operations that only wait end now: their endpoint goes.
    void give_up_flushes() noexcept { give_up(false); }
    // All of them: the device is done with their memory.
    void give_up_ops() noexcept { give_up(true); }
    [[nodiscard]] bool holds_memory() const noexcept;
    // Takes the queue pair from the device, which lets go of all memory with it.
    void destroy_pair() noexcept { pair_.destroy(); }

    // nullptr when it lingers without.
    ep* user = nullptr;
    // In the interface's list of those that have something to send as soon as there is room.
    ucs::datastruct::auto_unlink_hook attention_hook;
    bool wants_completion = false;
    bool wants_goodbye = false;
    bool wants_drain = false;
    ucs::time::nanoseconds left_at = 0;  // when it began to linger

    [[nodiscard]] std::uint64_t doorbells() const noexcept { return doorbells_; }
    [[nodiscard]] std::uint64_t completions() const noexcept { return completions_; }

private:
    [[gnu::cold]] void refused(int error) noexcept;
    bool post_control(std::uint32_t immediate, bool wanted) noexcept;
    void end_ops(std::uint32_t number, ucs_status_t last) noexcept;
    void give_up(bool all) noexcept;

    ib::completion_credits& shared_;
    op_queue& ended_;
    const std::uint32_t slot_;
    const std::uint64_t number_ = next_connection_number();
    queue_pair pair_;
    ib::send_credits credits_;
    flow_window flow_;
    std::uint32_t grant_ = 0;  // the number of the last one that went by itself
    op_queue ops_;
    stepped_list stepped_;  // in the order in which they began
    std::uint32_t stepped_count_ = 0;
    bool said_goodbye_ = false;
    state at_ = state::unconnected;
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

[[nodiscard]] const char* name(connection::state which) noexcept;

}  // namespace uct::rc
