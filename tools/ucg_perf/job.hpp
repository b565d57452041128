// The ranks that measure together: context and group of this process, and a barrier before each
// measured call. Local ranks are forked by this program.
#pragma once

#include <ucg/api/ucg.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tools/common/start_barrier.hpp"

namespace tools::ucg_perf {

struct free_request {
    void operator()(ucg_request_h request) const noexcept { ucg_request_free(request); }
};
using request = std::unique_ptr<ucg_request, free_request>;

// Returns the ranks that the operation waits for, or waited for when it timed out, as the end of a
// sentence: "; rank 3 is missing". Returns an empty text if the library names none.
[[nodiscard]] std::string missing_ranks(ucg_request_h operation);

// Returns how many ranks below this one run on the same machine. All ranks must call this together.
[[nodiscard]] std::uint32_t index_on_machine(const ucg_oob_t& oob);

// Context and group of this rank. Lives as long as the program measures.
class job {
public:
    // Takes ownership of `oob`. Returns when all ranks have joined. `limit`: seconds to wait for
    // other ranks in each call; 0: a default.
    job(ucg_oob_t* oob, double limit);

    [[nodiscard]] std::uint32_t rank() const noexcept { return about_.rank; }
    [[nodiscard]] std::uint32_t size() const noexcept { return about_.size; }
    [[nodiscard]] const ucg_group_attr_t& about() const noexcept { return about_; }
    [[nodiscard]] ucg_group_h group() const noexcept { return group_.get(); }

    [[nodiscard]] request prepare(const ucg_coll_args_t& args) const;
    void barrier() const;
    // A barrier. If all ranks are on one machine, they leave it at the same moment.
    void line_up() const;
    // Replaces each value by the maximum over all ranks.
    void largest(std::span<double> values) const;
    [[nodiscard]] double largest(double value) const {
        largest(std::span(&value, 1));
        return value;
    }

private:
    struct leave {
        void operator()(ucg_oob_t* oob) const noexcept { ucg_oob_destroy(oob); }
        void operator()(ucg_context_h context) const noexcept { ucg_context_destroy(context); }
        void operator()(ucg_group_h group) const noexcept { ucg_group_destroy(group); }
    };
    std::unique_ptr<ucg_oob_t, leave> oob_;
    std::unique_ptr<ucg_context, leave> context_;
    std::unique_ptr<ucg_group, leave> group_;
    ucg_group_attr_t about_ = UCG_GROUP_ATTR_INIT;
    void make_start_barrier();
    [[nodiscard]] ucg_coll_args_t arguments(ucg_coll_t collective) const;
    void run(const request& operation, std::string_view purpose) const;

    const double limit_;
    request barrier_;
    mutable tools::start_barrier start_;
};

// Forks `count` processes. Each runs `body` with its rank and out-of-band allgather, and exits with
// the value that `body` returns. Waits for all processes. Returns the exit status of the first
// process that failed, or 0. If a process has failed, the others get `limit` seconds (at least 1
// and at most 30; 0 means 30) to notice that and exit, before they are killed. Throws failure.
[[nodiscard]] int run_local_ranks(std::uint32_t count, double limit,
                                  const std::function<int(std::uint32_t, ucg_oob_t*)>& body);

}  // namespace tools::ucg_perf
