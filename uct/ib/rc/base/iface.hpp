// Base of the interfaces of reliable connections.
#pragma once

#include <unordered_map>
#include <vector>

#include "uct/ib/base/iface.hpp"
#include "uct/ib/base/memory/receive_pool.hpp"
#include "uct/ib/rc/base/connection.hpp"

namespace uct::rc {

// Everything that is independent of how work requests are posted: the receive pool, the completion
// queues with their credits, the connections. Owned by the worker; owner context.
class iface : public ib::iface {
public:
    ~iface() override;

    unsigned progress() final;
    [[nodiscard]] bool has_work() const noexcept final;
    [[nodiscard]] std::uint64_t connection_of(const peer_bytes& message) const noexcept final;
    bool end_connection(std::uint64_t number, ucs_status_t status) noexcept final;
    void append_connections(std::vector<std::uint64_t>& into) const final;
    void describe(ucs::vfs::directory& into) const override;

    // --- for endpoints ---
    ucs::result<std::unique_ptr<connection>> make_connection();
    ucs_status_t connect(connection& conn, const ib::address& peer,
                         const wire::connection_data& peer_data) noexcept;
    // Takes over the connection of an endpoint that is destroyed. Accepted messages are still sent.
    // All operations of the endpoint have ended when this returns.
    void leave(std::unique_ptr<connection> left) noexcept;
    // Queues a connection that has something to post and found no room, or that waits for a
    // completion.
    void queue_for_send(connection& conn) noexcept {
        if (!conn.send_queue_hook.is_linked()) send_queue_.push_back(conn);
        note_work();
    }
    // Queues an operation that found no room. Its `finish` is called again with the next progress.
    void retry_later(tx_op& op) noexcept {
        waiting_.push_back(op);
        note_work();
    }
    // Handles a possible failure of a connection.
    void handle_failure(connection& failed) noexcept;
    [[nodiscard]] const settings& options() const noexcept { return options_; }
    [[nodiscard]] ib::completion_credits& credits() noexcept { return credits_; }

protected:
    struct parts {
        ib::iface::parts port;
        settings options;
        std::unique_ptr<ib::receive_pool> receives;
    };
    static ucs::result<parts> gather(const resource& where, const iface_params& params);
    iface(const resource& where, const iface_params& params, parts made);
    // Provides the device's memory domain with the queues for memory windows, if it wants any.
    void provide_windows() noexcept;
    // Ends everything. Must be called by the destructor of the class that owns the operations'
    // pools.
    void close() noexcept;

    [[nodiscard]] queue_pair::setup pair_setup() noexcept {
        return {*domain_,        port_setup_,    options_,  sends_.get(),
                receives_.get(), pool_->queue(), rejected()};
    }

private:
    void on_broken_pair(const ib::device_event& event, ucs_status_t status) noexcept final;
    void fail_all(ucs_status_t status, completions then) noexcept final;
    [[nodiscard]] ib::receive_pool& pool() noexcept final { return *pool_; }
    // Whether received messages may be delivered. If not, a failed request is handled without
    // reading them first.
    enum class messages : std::uint8_t { deliver, leave };
    unsigned reap_sends(messages arrived) noexcept;
    void reap(const ibv_wc& completion) noexcept;
    void reap_after_messages(std::span<const ibv_wc> batch) noexcept;
    unsigned receive();
    void drop_received() noexcept;
    void take_control(std::uint32_t qp_number, std::uint32_t immediate) noexcept;
    void take_flow(connection& from, std::uint8_t bits) noexcept;
    void receive_failed(const ibv_wc& completion) noexcept;
    unsigned complete_ended() noexcept;
    void try_waiting() noexcept;
    void complete_operations_of(const connection& conn) noexcept;
    void send_queued() noexcept;
    void remove_ended() noexcept;
    bool send_goodbye(connection& leaving) noexcept;
    void limit_lingering() noexcept;
    void destroy_oldest_lingering() noexcept;
    void destroy_overdue() noexcept;
    void forget(connection& gone) noexcept;
    [[nodiscard]] connection* find(std::uint32_t qp_number) const noexcept;
    [[nodiscard]] flow_window::limits flow_limits() const noexcept;

    using send_queue = ucs::datastruct::auto_list<connection, &connection::send_queue_hook>;

    const settings options_;
    port_setup port_setup_;
    std::unique_ptr<ib::receive_pool> pool_;
    ib::completion_credits credits_;
    op_queue ended_;    // to be completed
    op_queue waiting_;  // to be retried
    std::vector<connection*> slots_;
    std::vector<std::uint32_t> free_slots_;
    std::unordered_map<std::uint32_t, connection*> by_number_;
    send_queue send_queue_;
    std::vector<std::unique_ptr<connection>>
        lingering_;                    // in the order in which their endpoints were destroyed
    std::uint32_t open_goodbyes_ = 0;  // goodbyes posted by lingering or destroyed connections
    // A connection that was destroyed with outstanding requests, whose completions may still be in
    // the queue.
    struct destroyed_connection {
        std::uint32_t slot;
        std::uint32_t credits;
        bool has_goodbye;
    };
    std::vector<destroyed_connection> destroyed_;
    bool abandoned_ = false;  // no completions come any more
    std::uint64_t messages_ = 0;
    std::uint64_t doorbells_before_ = 0;  // of removed connections
    std::uint64_t completions_ = 0;
};

}  // namespace uct::rc
