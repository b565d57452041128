// The image of all kernels: nvcc compiles this file alone (cmake/kernels.cmake).
#include "ucg/cuda/kernels/entries.cuh"

extern "C" __global__ void __launch_bounds__(ucg::cuda::max_threads)
    hawser_copying(const __grid_constant__ ucg::cuda::parameters args) {
    ucg::cuda::kernels::run_copying(args);
}

extern "C" __global__ void __launch_bounds__(ucg::cuda::max_threads)
    hawser_reducing(const __grid_constant__ ucg::cuda::parameters args) {
    ucg::cuda::kernels::run_reducing(args);
}
