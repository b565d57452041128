// The host build of the collective kernels.
#pragma once

#include "ucg/cuda/kernels/parameters.hpp"

namespace host_kernels {

// Run the kernel args.run, for one thread of a launch. Called by fibers (test/cuda/fibers).
void run_copying(const ucg::cuda::parameters& args);
void run_reducing(const ucg::cuda::parameters& args);

}  // namespace host_kernels
