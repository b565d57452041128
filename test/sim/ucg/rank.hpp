// One rank of a run: its worker, its context, and how far it has come with the program.
#pragma once

#include <ucg/api/ucg.h>

#include <memory>
#include <string>
#include <vector>

#include "test/sim/ucg/exchange.hpp"
#include "test/sim/ucg/part.hpp"
#include "test/sim/ucg/world.hpp"
#include "ucp/core/context.hpp"
#include "ucp/core/worker.hpp"

namespace group_sim {

// Owned by the run; one thread.
class rank {
public:
    rank(world& in, std::uint32_t number, std::unique_ptr<ucp::context> context);
    rank(const rank&) = delete;
    rank& operator=(const rank&) = delete;
    ~rank();

    // One turn: progress, what ended, what comes next. Returns how much happened. Where this rank
    // waits in a call of the library, further down on the stack, only progress.
    unsigned turn();

    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    [[nodiscard]] std::uint64_t uid() const noexcept { return uid_; }
    // Whether the program is over, and all its requests are freed and groups destroyed.
    [[nodiscard]] bool is_done() const noexcept { return done_; }
    // When it goes on, where it pauses; else 0.
    [[nodiscard]] nanoseconds pauses_until() const noexcept { return pauses_until_; }
    // Made every group that it is a member of, or failed to.
    [[nodiscard]] bool has_all_groups() const noexcept;
    // Whether it waits for nothing on the stack.
    [[nodiscard]] bool is_idle() const noexcept { return depth_ == 0; }

    // It is dead to the others. What is left of it ends all it has begun, alone.
    void give_up();

    // What the worker still has that it should not; empty: nothing.
    [[nodiscard]] std::string leftovers();
    // Without context and worker from now on.
    void close();
    [[nodiscard]] std::string state_text();

private:
    enum class life : std::uint8_t { none, begun, ready, failed, gone };
    struct own_group {
        ucg_group_h handle = nullptr;
        life state = life::none;
        unsigned requests = 0;
    };
    // A request of an operation, from its first start to the end of its last one.
    struct own_request {
        ucg_request_h handle = nullptr;
        std::unique_ptr<part> mine;
        unsigned started = 0;
        bool running = false;
        nanoseconds canceled_at = 0;  // 0: not to be canceled, any more
        unsigned told = 0;            // calls of its callback
    };

    unsigned act();
    [[nodiscard]] bool can_do(const action& next);
    bool look_at(std::size_t group);
    bool has_ended_splits(std::size_t parent);
    bool leave_rest();
    unsigned end_alone();
    void perform(const action& next);
    void make(std::size_t group);
    void split(std::size_t which);
    void start(std::size_t operation, unsigned start);
    bool prepare(std::size_t operation);
    [[nodiscard]] std::unique_ptr<part> part_in(const operation_plan& of);
    [[nodiscard]] bool waits_for_choices(std::size_t operation) const;
    void destroy(std::size_t group);
    unsigned look_after();
    void ended(std::size_t operation, ucs_status_t status);
    void release(own_request& which, std::size_t group);
    void leave_exchanges(std::size_t group);
    [[nodiscard]] bool takes_part(const action& in) const;
    [[nodiscard]] std::uint32_t place_in(std::size_t group) const;
    [[nodiscard]] std::string text(std::size_t operation) const;
    static void on_end(ucg_request_h request, ucs_status_t status, void* arg);

    world& all_;
    const std::uint32_t number_;
    std::unique_ptr<ucp::context> ucp_;
    std::unique_ptr<ucp::worker> worker_;
    ucg_context_h context_ = nullptr;
    std::uint64_t uid_ = 0;
    std::vector<own_group> groups_;
    std::vector<ucg_group_h> stays_out_;  // of splits
    std::vector<std::unique_ptr<exchange>> exchanges_;
    std::vector<own_request> requests_;
    std::vector<std::size_t> running_;  // operations
    std::size_t next_ = 0;              // action of the program
    unsigned under_way_ = 0;
    unsigned depth_ = 0;  // of turns on the stack
    nanoseconds pauses_until_ = 0;
    bool done_ = false;
    bool gives_up_ = false;
};

}  // namespace group_sim
