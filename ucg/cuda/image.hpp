// The compiled kernels of ucg/cuda/kernels, as part of this library.
#pragma once

#include <cstddef>
#include <span>

namespace ucg::cuda {

// Returns the fatbin for cuLibraryLoadData, with code for several generations of devices and PTX
// for later ones. Empty if the library was built without nvcc. Any thread.
[[nodiscard]] std::span<const std::byte> kernel_image() noexcept;

}  // namespace ucg::cuda
