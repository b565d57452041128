// A kernel in a library of its own, which STANDIN_KERNELS names.
#include "test/cuda/driver/kernels.hpp"

namespace {

const standin::registered_kernel kernel_of_library("kernel_of_library", {},
                                                   [](const standin::launch&) {});

}  // namespace
