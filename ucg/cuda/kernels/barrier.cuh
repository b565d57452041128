// Barrier: every rank posts a flag at every rank and waits for all of them.
#pragma once

#include "ucg/cuda/kernels/channel.cuh"

namespace ucg::cuda::kernels {

UCG_DEVICE void barrier(const parameters& args) {
    channel channel(args);
    if (channel.meet()) channel.close();
}

}  // namespace ucg::cuda::kernels
