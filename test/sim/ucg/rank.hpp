// One rank of a run: its worker, its context, and its position in the program.
#pragma once

#include "test/sim/ucg/exchange.hpp"
#include "test/sim/ucg/world.hpp"
#include "ucp/core/context.hpp"
#include "ucp/core/worker.hpp"

namespace group_sim {

// Owned by the run; one thread.
class rank {
public:
    rank(world& shared, std::uint32_t number, std::unique_ptr<ucp::context> context);
    rank(const rank&) = delete;
    rank& operator=(const rank&) = delete;
    ~rank();

    // One turn: makes progress, handles ended requests, and performs the next action. Returns the
    // number of events. If this rank waits in a call of the library further down the stack, it only
    // makes progress.
    unsigned turn();

    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    [[nodiscard]] std::uint64_t uid() const noexcept { return uid_; }
    // True if the program has ended, all requests are freed and all groups destroyed.
    [[nodiscard]] bool is_done() const noexcept { return done_; }
    // The time when the rank continues after a pause; 0: no pause.
    [[nodiscard]] nanoseconds pauses_until() const noexcept { return pauses_until_; }
    // True if the creation of each group of this rank has succeeded or failed.
    [[nodiscard]] bool has_all_groups() const noexcept;
    // True if no call of this rank is on the stack.
    [[nodiscard]] bool is_idle() const noexcept { return depth_ == 0; }

    // Called when the rank is dead for the others: it ends its operations alone.
    void abandon();

    // Describes remaining resources of the worker; empty: none.
    [[nodiscard]] std::string leftovers();
    // Destroys context and worker.
    void close();
    [[nodiscard]] std::string state_text();

private:
    enum class group_state : std::uint8_t { none, begun, ready, failed, gone };
    struct own_group {
        ucg_group_h handle = nullptr;
        group_state state = group_state::none;
        unsigned requests = 0;
    };
    // A request, from its first start to the end of its last one.
    struct own_request {
        ucg_request_h handle = nullptr;
        std::unique_ptr<part> data;
        unsigned started = 0;
        bool running = false;
        nanoseconds canceled_at = 0;  // 0: not to be canceled
        unsigned callbacks = 0;       // calls of the callback
    };

    unsigned act();
    [[nodiscard]] bool is_possible(const action& next);
    bool check_group(std::size_t group);
    bool has_ended_splits(std::size_t parent);
    bool finish_splits();
    unsigned end_alone();
    void perform(const action& next);
    void make(std::size_t group);
    void split(std::size_t which);
    void start(std::size_t operation, unsigned start);
    bool prepare(std::size_t operation);
    [[nodiscard]] std::unique_ptr<part> part_in(const operation_plan& plan);
    [[nodiscard]] bool waits_for_notify(std::size_t operation) const;
    void destroy(std::size_t group);
    unsigned poll_requests();
    void ended(std::size_t operation, ucs_status_t status);
    void release(own_request& request, std::size_t group);
    void leave_exchanges(std::size_t group);
    [[nodiscard]] bool takes_part(const action& next) const;
    [[nodiscard]] std::uint32_t rank_in(std::size_t group) const;
    [[nodiscard]] std::string text(std::size_t operation) const;
    static void on_end(ucg_request_h request, ucs_status_t status, void* arg);

    world& all_;
    const std::uint32_t number_;
    std::unique_ptr<ucp::context> ucp_;
    std::unique_ptr<ucp::worker> worker_;
    ucg_context_h context_ = nullptr;
    std::uint64_t uid_ = 0;
    std::vector<own_group> groups_;
    std::vector<ucg_group_h> excluded_;  // groups of splits that exclude this rank
    std::vector<std::unique_ptr<exchange>> exchanges_;
    std::vector<own_request> requests_;
    std::vector<std::size_t> running_;  // active operations
    std::size_t next_ = 0;              // next action of the program
    unsigned active_ = 0;
    unsigned depth_ = 0;  // nested turns on the stack
    nanoseconds pauses_until_ = 0;
    bool done_ = false;
    bool is_abandoned_ = false;
};

}  // namespace group_sim
