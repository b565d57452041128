// Check that all ranks call an operation with arguments that fit each other, for debugging.
#pragma once

#include <optional>
#include <vector>

#include "ucg/core/comparison.hpp"
#include "ucg/core/request.hpp"
#include "ucg/schedule/operation.hpp"

namespace ucg {

class group;

// Before an operation runs, all ranks compare their calls (comparison.hpp). Then operations run one
// after the other, so that all ranks compare the same ones. Enabled by UCG_CHECK. Owned by a group.
// Owner context.
class agreement {
public:
    agreement(group& group, bool enabled) noexcept : group_(group), is_enabled_(enabled) {}

    [[nodiscard]] bool is_enabled() const noexcept { return is_enabled_; }

    // Runs the operation when those before it have ended and all ranks agree, or ends it with an
    // error on every rank.
    void compare(request& request) noexcept;
    // Removes an operation that has ended; start_next() then starts the next one.
    void leave(request& ended) noexcept;
    void start_next() noexcept;
    // Ends an operation that has not run, on every rank, when its turn comes: all ranks have the
    // same order.
    void stop(request& request, ucs_status_t why) noexcept;
    // Throws std::bad_alloc.
    [[nodiscard]] std::vector<schedule::rank_t> missing() const;

private:
    static void on_end(schedule::runnable& ended, void* self) noexcept;
    void begin() noexcept;
    void take_number() noexcept;

    // Takes a sequence number and does nothing else.
    class no_steps final : public schedule::program {
        [[nodiscard]] schedule::task run(schedule::member&) noexcept override { co_return; }
    };

    group& group_;
    const bool is_enabled_;
    ucs::datastruct::list<request, &request::compared_hook> queue_;
    bool begun_ = false;     // the first one is being compared, or runs
    bool starting_ = false;  // start_next() is on the stack
    comparison comparison_;
    std::optional<schedule::operation> round_;
    no_steps no_steps_;
    // Takes the sequence number for an operation that takes none itself.
    std::optional<schedule::operation> placeholder_;
};

}  // namespace ucg
