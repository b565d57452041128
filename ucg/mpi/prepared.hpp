// A collective as ucg is asked to do it, and how the program's buffers become what ucg needs.
#pragma once

#include <memory>
#include <vector>

#include "ucg/mpi/staging.hpp"
#include "ucg/mpi/stats.hpp"

namespace ucg::mpi {

// Counts and displacements of the v-forms, in bytes (of reductions: in elements); empty: none.
struct block_arrays {
    std::vector<std::uint64_t> src_counts, src_displs, dst_counts, dst_displs;
    bool operator==(const block_arrays&) const = default;
    [[nodiscard]] bool empty() const noexcept { return src_counts.empty() && dst_counts.empty(); }
};

// Owned by the call, or by the operation if it outlives the call.
struct prepared {
    ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
    block_arrays blocks;
    std::unique_ptr<staging> in, out;
    // Which pieces of `in` (or where there is none, of `out`, which then is in and out) are input.
    std::size_t first_input = 0, inputs = 0;
    bool has_output = false;

    // Before the start and after the end; MPI_SUCCESS, or what MPI says.
    int before() const {
        return in                   ? in->gather(first_input, inputs)
               : out && inputs != 0 ? out->gather(first_input, inputs)
                                    : MPI_SUCCESS;
    }
    int after() const { return out && has_output ? out->scatter() : MPI_SUCCESS; }
    int keep_types() const {
        const int status = in ? in->keep_type() : MPI_SUCCESS;
        return status == MPI_SUCCESS && out ? out->keep_type() : status;
    }
};

}  // namespace ucg::mpi
