#include "ucg/cuda/image.hpp"

#if HAWSER_HAS_KERNELS
// Defined by image.S.
extern "C" {
extern const std::byte hawser_kernel_image[];
extern const std::byte hawser_kernel_image_end[];
}
#endif

namespace ucg::cuda {

std::span<const std::byte> kernel_image() noexcept {
#if HAWSER_HAS_KERNELS
    return {hawser_kernel_image, hawser_kernel_image_end};
#else
    return {};
#endif
}

}  // namespace ucg::cuda
