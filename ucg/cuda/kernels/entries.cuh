// The entries of the image, for the device and for the host build of tests.
#pragma once

#include "ucg/cuda/kernels/allgather.cuh"
#include "ucg/cuda/kernels/allreduce.cuh"
#include "ucg/cuda/kernels/alltoall.cuh"
#include "ucg/cuda/kernels/barrier.cuh"
#include "ucg/cuda/kernels/broadcast.cuh"
#include "ucg/cuda/kernels/list.hpp"
#include "ucg/cuda/kernels/reduce_scatter.cuh"

namespace ucg::cuda::kernels {

#define UCG_CUDA_CASE(name) \
    case kernel::name:      \
        return name(args);

UCG_DEVICE void run_copying(const parameters& args) {
    switch (args.run) {
        UCG_CUDA_COPYING(UCG_CUDA_CASE)
        default:
            return;
    }
}

UCG_DEVICE void run_reducing(const parameters& args) {
    switch (args.run) {
        UCG_CUDA_REDUCING(UCG_CUDA_CASE)
        default:
            return;
    }
}

#undef UCG_CUDA_CASE

}  // namespace ucg::cuda::kernels
