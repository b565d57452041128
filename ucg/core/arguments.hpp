// Arguments of an operation as the program gave them, checked, and as schedules take them.
#pragma once

#include <ucg/api/ucg.h>

#include <memory>
#include <vector>

#include "ucg/schedule/algorithm.hpp"
#include "ucg/schedule/call.hpp"
#include "ucg/schedule/reducer.hpp"
#include "ucs/type/result.hpp"

namespace ucg {

// Owns what the call points to, but for buffers and arrays of the program's. Move only.
struct arguments {
    schedule::call what;
    bool deterministic = false;
    // Bytes that predictions are made of, the same on every rank; see schedule::shape.
    double bytes = 0;
    std::unique_ptr<schedule::reducer> how;
    std::vector<std::uint64_t> places, out_places;  // of blocks that follow each other

    // What the program said in `args`, as far as its version has it; the rest is default.
    // UCS_ERR_INVALID_PARAM.
    static ucs::result<ucg_coll_args_t> copy(const ucg_coll_args_t* args);
    // Whether they can be read where they are.
    static bool are_whole(const ucg_coll_args_t* args) noexcept {
        return args != nullptr && args->struct_size == sizeof *args;
    }

    // What those below return is a status of ucg_request_init(), each with a line in the log.
    //
    // What is to be done, from all that ranks must say alike: where that is refused here, nobody
    // knows how the others do it. std::bad_alloc.
    static ucs::result<arguments> read(const ucg_coll_args_t& args, schedule::rank_t rank,
                                       schedule::rank_t size);
    // What concerns this rank alone of arguments that can be read: where its data are, and how long
    // it waits. std::bad_alloc.
    static ucs_status_t check_own(const ucg_coll_args_t& args, schedule::rank_t rank,
                                  schedule::rank_t size);
    // Of that, the buffers: for others with arguments that were checked.
    static ucs_status_t check_buffers(const ucg_coll_args_t& args, schedule::rank_t rank,
                                      schedule::rank_t size);
};

}  // namespace ucg
