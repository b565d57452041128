// Whether all ranks call an operation with arguments that fit each other: a help for debugging.
#pragma once

#include <optional>
#include <vector>

#include "ucg/core/comparison.hpp"
#include "ucg/core/request.hpp"
#include "ucg/schedule/operation.hpp"

namespace ucg {

class group;

// Before an operation runs, all ranks compare what they call it with (comparison.hpp). Operations
// run one after the other then, so that all ranks compare the same ones. Owned by a group. Owner
// context.
class agreement {
public:
    explicit agreement(group& of) noexcept : group_(of) {}

    // Runs it when those before have ended and all agree, or ends it with an error everywhere.
    void compare(request& what) noexcept;
    // It ended: go_on() makes it the next one's turn.
    void leave(request& ended) noexcept;
    void go_on() noexcept;
    // Ends one that has not run, on every rank: when its turn comes, because all have the same
    // order.
    void stop(request& what, ucs_status_t why) noexcept;
    // std::bad_alloc.
    [[nodiscard]] std::vector<schedule::rank_t> missing() const;

private:
    static void on_end(schedule::operation& ended, void* self) noexcept;
    void begin() noexcept;
    void take_number() noexcept;

    // Takes a number and nothing else.
    class no_steps final : public schedule::program {
        [[nodiscard]] schedule::task run(schedule::member& me) noexcept override {
            return none(me);
        }
        static schedule::task none(schedule::member&) { co_return; }
    };

    group& group_;
    ucs::datastruct::list<request, &request::compared_hook> queue_;
    bool begun_ = false;     // the first one is compared, or runs
    bool going_on_ = false;  // on the stack
    comparison what_;
    std::optional<schedule::operation> round_;
    no_steps no_steps_;
    // Has the number of an operation that takes none itself.
    std::optional<schedule::operation> in_its_place_;
};

}  // namespace ucg
