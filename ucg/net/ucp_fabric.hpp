// The fabric over ucp: messages of schedules over a network, or between processes of a host without
// the node engine.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "ucg/net/control_messages.hpp"
#include "ucg/net/failures.hpp"
#include "ucg/net/peers.hpp"
#include "ucg/net/straggler_search.hpp"
#include "ucg/schedule/fabric.hpp"
#include "ucs/time/clock.hpp"

namespace ucg::net {

// Sends are tagged sends and receives are tagged receives; the tag contains everything that
// messages match by. The group's owner calls the worker's progress and then progress() of the
// fabric. If addresses are looked up, sends to a rank wait until its address is known. Owned by the
// group; owner context.
class ucp_fabric final : public schedule::fabric {
public:
    static constexpr ucs::time::nanoseconds default_send_timeout = 10 * 1'000'000'000ULL;

    // `group`: its number in the context, the same on every rank. `send_timeout`: how long a failed
    // operation waits for a rank that lives but does not receive what was sent to it; then the rank
    // counts as lost. Throws std::bad_alloc.
    ucp_fabric(ucp_worker_h worker, control_messages& control, std::uint32_t group,
               schedule::rank_t rank, member_addresses addresses,
               ucs::time::nanoseconds send_timeout = default_send_timeout);
    // Precondition: no operation is under way.
    ~ucp_fabric() override;

    schedule::rank_t rank() const noexcept override { return rank_; }
    schedule::rank_t size() const noexcept override { return peers_.size(); }
    [[nodiscard]] const member_addresses& addresses() const noexcept { return peers_.addresses(); }
    void post(schedule::step& step) noexcept override;
    void cancel(schedule::step& step) noexcept override;
    ucs_status_t begin_operation(schedule::operation& op, schedule::sequence_t& number) override;
    void end_operation(schedule::operation& op) noexcept override;
    void report_failure(schedule::operation& op, ucs_status_t why) noexcept override;

    // Advances sends that wait for addresses, disposes of the remains of failed operations, and
    // from time to time queries the ranks that operations wait for. Returns how much it did.
    unsigned progress() noexcept;
    // Tells the other ranks that this rank leaves, and closes the endpoints; see peers::close.
    [[nodiscard]] bool close() noexcept;

    // A rank reports that an operation failed. The operation may have ended on this rank, or not
    // have started yet.
    void receive_failure(schedule::sequence_t number, ucs_status_t why) noexcept;
    // A rank has destroyed the group, so it has done its part in all operations that succeed, and
    // nothing more comes from it. `rank` comes from the message and may be any number.
    void receive_leave(std::uint64_t rank) noexcept;
    // Returns whether nothing can be sent from this rank to that rank any more.
    [[nodiscard]] bool has_lost(schedule::rank_t rank) const noexcept {
        return rank < size() && peers_.failure(rank) != UCS_OK;
    }

    // Notes that an operation with a time limit begins: the ranks that it waits for are queried
    // within a quarter of the limit.
    void limit_time(ucs::time::nanoseconds limit) noexcept;
    // Returns the ranks that have not started the operation, as far as this rank knows; empty if it
    // knows of none.
    [[nodiscard]] std::vector<schedule::rank_t> stragglers(
        const schedule::operation& op) const override;
    // Returns why an operation has failed, as far as this rank knows. UCS_OK: it has not failed, or
    // it failed long ago.
    [[nodiscard]] ucs_status_t failure_of(schedule::sequence_t number) noexcept {
        return failed(number).status_of(number);
    }
    // Returns the report for a rank that queries an operation, with as many stragglers as a message
    // has room for; nothing if this rank has not started the operation. The asker gets a new report
    // when it changes, if it has an endpoint or may get one. Throws std::bad_alloc.
    [[nodiscard]] std::optional<straggler_search::report> reply_to_asker(
        schedule::sequence_t number, schedule::rank_t asker);
    // A rank reports that it has started the operation, and which ranks it waits for. All arguments
    // come from a message and may have any value.
    void receive_report(schedule::sequence_t number, schedule::rank_t responder,
                        std::span<const schedule::rank_t> waiting_for,
                        std::span<const schedule::rank_t> started) noexcept;

private:
    // Interval of the queries to ranks that an operation waits for. It doubles, because those ranks
    // may make no progress for long.
    static constexpr ucs::time::nanoseconds first_query_interval = 100'000'000;
    static constexpr ucs::time::nanoseconds longest_query_interval = 128 * first_query_interval;
    static constexpr ucs::time::nanoseconds never = ~ucs::time::nanoseconds{0};
    // Limit of the queries and repeated replies in one round. Queries of other ranks are always
    // answered.
    static constexpr unsigned max_round_messages = 256;
    // Limit of the ranks that get an endpoint because they queried this rank, while the group
    // lives.
    static constexpr std::size_t max_asker_endpoints = 4;

    // An operation that has failed and still has steps under way.
    struct failed_operation {
        const schedule::operation* op;
        ucs::time::nanoseconds since;
    };
    // Sends to a rank whose address is not known yet.
    struct address_queue {
        schedule::rank_t to;
        schedule::step_queue sends;
    };
    // A failure report for a rank whose address is not known yet.
    struct deferred_notice {
        schedule::rank_t to;
        control_messages::failure notice;
    };
    static void on_lost(void* arg, schedule::rank_t lost, ucs_status_t why);
    static void on_endpoint_made(void* arg, schedule::rank_t rank, ucp_ep_h endpoint);
    static void on_sent(void* request, ucs_status_t status, void* arg);
    static void on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                            void* arg);
    void send(schedule::step& step) noexcept;
    [[nodiscard]] ucs_status_ptr_t transmit(schedule::step& step, ucp_ep_h to) noexcept;
    void await_address(schedule::step& step) noexcept;
    [[nodiscard]] bool remove_queued(schedule::step& step) noexcept;
    [[nodiscard]] unsigned progress_lookups() noexcept;
    [[nodiscard]] unsigned end_sends() noexcept;
    void send_deferred() noexcept;
    void give_up(schedule::rank_t rank, ucs_status_t why) noexcept;
    void receive(schedule::step& step) noexcept;
    [[nodiscard]] schedule::operation* find(schedule::sequence_t number) const noexcept;
    [[nodiscard]] failures& failed(schedule::sequence_t number) noexcept {
        return failed_[static_cast<std::size_t>(schedule::sequence_numbers::series_of(number))];
    }
    void spread_failure(schedule::sequence_t number, ucs_status_t why) noexcept;
    void defer_notice(schedule::rank_t to_rank, const control_messages::failure& notice) noexcept;
    [[nodiscard]] unsigned drop_failed() noexcept;
    void query_missing();
    void query_pending();
    void update_askers();
    [[nodiscard]] bool may_update(schedule::rank_t asker);
    [[nodiscard]] std::vector<schedule::rank_t> reported_stragglers(
        const schedule::operation& op, const straggler_search& search) const;
    [[nodiscard]] std::vector<schedule::rank_t> awaited_ranks(const schedule::operation& op) const;
    void give_up_sends(ucs::time::nanoseconds now);

    const ucp_worker_h worker_;
    control_messages& control_;
    const std::uint32_t group_;
    const schedule::rank_t rank_;
    peers peers_;
    schedule::sequence_numbers numbers_;
    std::vector<schedule::operation*> running_;
    std::array<failures, 2> failed_;  // by series
    std::vector<failed_operation> failed_operations_;
    std::vector<address_queue> address_queues_;
    std::vector<deferred_notice> deferred_notices_;
    // Sends that ended at once when their address came; linked by `next_in_fabric`.
    schedule::step* ended_sends_ = nullptr;
    const ucs::time::nanoseconds send_timeout_;
    bool has_left_ = false;
    unsigned polls_ = 0;
    std::map<schedule::sequence_t, straggler_search> searches_;  // of operations that wait for long
    bool has_pending_queries_ = false;  // some ranks could not be queried yet
    bool has_updates_ = false;          // there may be new reports for askers
    unsigned round_messages_left_ = 0;
    std::vector<schedule::rank_t> asker_endpoints_;  // ranks that got an endpoint as askers
    ucs::time::nanoseconds next_query_ = never;
    ucs::time::nanoseconds next_service_ = 0;
    ucs::time::nanoseconds query_interval_ = first_query_interval;
    ucs::time::nanoseconds last_query_interval_ = first_query_interval;
};

}  // namespace ucg::net
