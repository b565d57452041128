// A collective call in ucg's arguments, and the staging of the program's buffers.
#pragma once

#include <memory>
#include <vector>

#include "ucg/mpi/staging.hpp"
#include "ucg/mpi/stats.hpp"

namespace ucg::mpi {

// Counts and displacements of the v-forms, in bytes (for reductions in elements); empty: none.
struct block_arrays {
    std::vector<std::uint64_t> src_counts, src_displs, dst_counts, dst_displs;
    bool operator==(const block_arrays&) const = default;
    [[nodiscard]] bool empty() const noexcept { return src_counts.empty() && dst_counts.empty(); }
};

// Owned by the call, or by the operation if that outlives the call.
struct prepared_call {
    ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
    block_arrays blocks;
    std::unique_ptr<staging> in, out;
    // The pieces of `in` that are input. If there is no `in`, the pieces of `out`, which is then
    // input and output.
    std::size_t first_input = 0, inputs = 0;
    bool has_output = false;

    // Stage the input before the start, and the output after the end. Return MPI_SUCCESS or an
    // error of MPI.
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
