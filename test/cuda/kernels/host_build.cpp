#include "test/cuda/kernels/host_build.hpp"

#include "ucg/cuda/kernels/entries.cuh"

namespace host_kernels {

void run_copying(const ucg::cuda::parameters& args) {
    ucg::cuda::kernels::run_copying(args);
}

void run_reducing(const ucg::cuda::parameters& args) {
    ucg::cuda::kernels::run_reducing(args);
}

}  // namespace host_kernels
