// The arguments of an operation: copies of the program's, checked, and in the form that schedules
// take.
#pragma once

#include <ucg/api/ucg.h>

#include <memory>
#include <vector>

#include "ucg/schedule/algorithm.hpp"
#include "ucg/schedule/call.hpp"
#include "ucg/schedule/reducer.hpp"
#include "ucs/type/result.hpp"

namespace ucg {

// Owns everything that `call` points to, except buffers and arrays of the program. Move only.
struct arguments {
    schedule::call call;
    bool deterministic = false;
    // Number of bytes for predictions, the same on every rank; see schedule::shape.
    double bytes = 0;
    std::unique_ptr<schedule::reducer> reducer;
    std::vector<std::uint64_t> offsets, out_offsets;  // of blocks that follow each other

    // Copies the members of `args` that its version has; the rest is default.
    // UCS_ERR_INVALID_PARAM.
    static ucs::result<ucg_coll_args_t> copy(const ucg_coll_args_t* args);
    // Returns whether `args` has all members, so that it can be read in place.
    static bool is_complete(const ucg_coll_args_t* args) noexcept {
        return args != nullptr && args->struct_size == sizeof *args;
    }

    // The functions below return a status of ucg_request_init(), each with a line in the log.
    //
    // read() derives the call from everything that ranks must pass alike. If a rank's arguments are
    // refused here, the rank cannot know which algorithm the others use. Throws std::bad_alloc.
    static ucs::result<arguments> read(const ucg_coll_args_t& args, schedule::rank_t rank,
                                       schedule::rank_t size);
    // Checks the arguments that concern this rank alone: its buffers and its time limit. Requires
    // arguments that can be read. Throws std::bad_alloc.
    static ucs_status_t check_own(const ucg_coll_args_t& args, schedule::rank_t rank,
                                  schedule::rank_t size);
    // Checks only the buffers, for other buffers with arguments that were checked.
    static ucs_status_t check_buffers(const ucg_coll_args_t& args, schedule::rank_t rank,
                                      schedule::rank_t size);
};

}  // namespace ucg
