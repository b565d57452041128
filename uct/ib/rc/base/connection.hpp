// A reliable connection: one queue pair and its operations in progress.
#pragma once

#include "ucs/time/clock.hpp"
#include "uct/base/connection_number.hpp"
#include "uct/ib/rc/base/flow_window.hpp"
#include "uct/ib/rc/base/tx_op.hpp"
#include "uct/ib/rc/base/work_queue.hpp"

namespace uct::rc {

class ep;

// A connection outlives its endpoint while accepted messages are in progress. It calls no
// completions. Owner context.
//
//   unconnected --connect--> connected --an error--> failing --all requests ended--> failed
class connection {
public:
    enum class state : std::uint8_t { unconnected, connected, failing, failed };

    struct setup {
        work_queue::setup queue;
        op_queue& ended;  // receives the completed operations
        flow_window::limits flow;
    };
    connection(const setup& with, queue_pair pair) noexcept;
    ~connection();
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    [[nodiscard]] const work_queue& queue() const noexcept { return queue_; }
    [[nodiscard]] state current_state() const noexcept { return state_; }
    [[nodiscard]] bool connected() const noexcept { return state_ == state::connected; }
    [[nodiscard]] ucs_status_t error() const noexcept { return error_; }
    // Returns true if its goodbye was posted, which is its last request unless the connection
    // fails.
    [[nodiscard]] bool goodbye_sent() const noexcept { return goodbye_sent_; }
    // Returns true if requests other than its goodbye may be outstanding.
    [[nodiscard]] bool has_messages() const noexcept {
        return queue_.credits().outstanding() > (goodbye_sent_ ? 1U : 0U);
    }

    ucs_status_t connect(const queue_pair::setup& with, const ib::address& peer,
                         const wire::connection_data& peer_data) noexcept;

    // Posts a work request; requires room in the queue. `wanted`: the request must be signaled.
    // Returns false if the device refuses it; then the connection fails.
    bool post(ibv_send_wr& request, bool wanted) noexcept {
        const int error = queue_.post(request, wanted);
        if (error == 0) [[likely]]
            return true;
        refused(error);
        return false;
    }
    // Posts two work requests with one doorbell; requires room for both. The second one is
    // signaled. `op` is completed after both. If the device takes only the first, `op` ends with
    // the connection, which fails. Returns false if the device took neither; then `op` belongs to
    // the caller.
    bool post_pair(ibv_send_wr& first, ibv_send_wr& second, tx_op& op) noexcept;
    // Adds the operation that ends with the request that was posted last.
    void add(tx_op& op) noexcept {
        op.number = queue_.credits().newest();
        op.conn = this;
        ops.add(op);
    }
    // Makes sure that a completion follows the request that was posted last. Returns false if there
    // is no room now.
    [[nodiscard]] bool request_completion() noexcept;
    // Posts a request of 0 bytes, for its completion. Requires room in the queue.
    bool post_empty() noexcept;
    // Returns true if the peer waits for a grant that may be posted.
    [[nodiscard]] bool must_grant() const noexcept { return connected() && flow.must_grant_now(); }
    // Post a grant, or a goodbye, as a message of its own. Require room in the queue.
    bool post_grant() noexcept;
    bool post_goodbye() noexcept;

    // Handles a completion: the work request of that number has ended with that status, and those
    // before it without an error.
    void complete(std::uint32_t request, ucs_status_t status) noexcept;

    // Makes the device end all operations in progress. Idempotent.
    void fail(ucs_status_t status) noexcept;
    // Posts the last request of a failed queue pair. Its completion implies that of all before it,
    // including unsignaled ones. Returns false if there is no room now.
    bool drain() noexcept;
    // Ends a failed connection at once, because the device will report nothing more.
    void abandon() noexcept;
    // Destroys the queue pair, so that the device releases all memory, and ends all operations.
    void destroy() noexcept;

    const std::uint64_t number = next_connection_number();  // see iface::connection_of
    operations ops;
    flow_window flow;
    // nullptr once the endpoint is destroyed.
    ep* endpoint = nullptr;
    // Hook for the interface's list of connections that have something to post as soon as there is
    // room.
    ucs::datastruct::auto_unlink_hook send_queue_hook;
    bool wants_completion = false;
    bool wants_goodbye = false;
    bool wants_drain = false;
    ucs::time::nanoseconds left_at = 0;  // when its endpoint was destroyed

private:
    [[gnu::cold]] void refused(int error) noexcept;
    bool post_control(std::uint32_t immediate, bool wanted) noexcept;

    work_queue queue_;
    std::uint32_t grant_ = 0;  // number of the last grant that was a message of its own
    bool goodbye_sent_ = false;
    state state_ = state::unconnected;
    ucs_status_t error_ = UCS_OK;
};

[[nodiscard]] const char* name(connection::state value) noexcept;

}  // namespace uct::rc
