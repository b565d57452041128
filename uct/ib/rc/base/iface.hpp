// Receives for one worker over reliable connections.
#pragma once

#include <unordered_map>
#include <vector>

#include "uct/ib/base/iface.hpp"
#include "uct/ib/base/receive_pool.hpp"
#include "uct/ib/rc/base/connection.hpp"

namespace uct::rc {

// All that reliable connections share, whatever posts their work requests: the receive pool, the
// completion queues with their credits, the connections. Owned by the worker, owner context.
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
    ucs_status_t connect(connection& which, const ib::address& peer,
                         const wire::connection_data& theirs) noexcept;
    // Its endpoint goes; what was accepted still goes out. Operations for the user have ended when
    // this returns.
    void leave(std::unique_ptr<connection> left) noexcept;
    // It has something to send that found no room, or a completion to wait for.
    void attend_to(connection& which) noexcept {
        if (!which.attention_hook.is_linked()) attention_.push_back(which);
        note_work();
    }
    // Found no room: its `finish` is called again with the next progress.
    void try_later(tx_op& op) noexcept {
        waiting_.push_back(op);
        note_work();
    }
    // A connection failed outside of progress.
    void look_after(connection& failed) noexcept;
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
    // Gives the device's memory domain what it needs for memory windows, if it wants any.
    void offer_windows() noexcept;
    // Ends everything. By the destructor of the class that has the operations' pools.
    void close() noexcept;

    [[nodiscard]] queue_pair::setup pair_setup() noexcept {
        return {*domain_,        port_setup_,    options_,  sends_.get(),
                receives_.get(), pool_->queue(), rejected()};
    }

private:
    void on_broken_pair(const ib::device_event& event, ucs_status_t status) noexcept final;
    void fail_all(ucs_status_t status, completions then) noexcept final;
    [[nodiscard]] ib::receive_pool& pool() noexcept final { return *pool_; }
    // Says whether messages that have arrived may be handed out; where they may not, a failed
    // request is judged by itself.
    enum class messages : std::uint8_t { deliver, leave };
    unsigned reap_sends(messages arrived) noexcept;
    void reap(const ibv_wc& which) noexcept;
    void reap_after_messages(std::span<const ibv_wc> batch) noexcept;
    unsigned receive();
    void drop_received() noexcept;
    void take_control(std::uint32_t qp_number, std::uint32_t immediate) noexcept;
    void take_flow(connection& from, std::uint8_t bits) noexcept;
    void receive_failed(const ibv_wc& how) noexcept;
    unsigned tell_ended() noexcept;
    void try_waiting() noexcept;
    void tell_ended_of(const connection& which) noexcept;
    void attend() noexcept;
    void bury() noexcept;
    bool say_goodbye(connection& leaving) noexcept;
    void limit_leaving() noexcept;
    void destroy_longest_leaving() noexcept;
    void destroy_overdue() noexcept;
    void forget(connection& gone) noexcept;
    [[nodiscard]] connection* find(std::uint32_t qp_number) const noexcept;
    [[nodiscard]] flow_window::limits flow_limits() const noexcept;

    using attention_list = ucs::datastruct::auto_list<connection, &connection::attention_hook>;

    const settings options_;
    port_setup port_setup_;
    std::unique_ptr<ib::receive_pool> pool_;
    ib::completion_credits credits_;
    op_queue ended_;    // to be told
    op_queue waiting_;  // to be tried again
    std::vector<connection*> slots_;
    std::vector<std::uint32_t> free_slots_;
    std::unordered_map<std::uint32_t, connection*> by_number_;
    attention_list attention_;
    std::vector<std::unique_ptr<connection>> lingering_;  // the one that left first comes first
    std::uint32_t open_goodbyes_ = 0;  // posted, by lingering connections or those of graves_
    // Destroyed with requests under way, whose completions may still be in the queue.
    struct grave {
        std::uint32_t slot;
        std::uint32_t credits;
        bool has_goodbye;
    };
    std::vector<grave> graves_;
    bool abandoned_ = false;  // no completion comes any more
    std::uint64_t messages_ = 0;
    std::uint64_t doorbells_before_ = 0;  // of connections that are gone
    std::uint64_t completions_ = 0;
};

}  // namespace uct::rc
