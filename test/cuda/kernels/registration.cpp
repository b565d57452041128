// Registers the host build of the kernels with the stand-in for the CUDA driver.
#include <cstdio>

#include "test/cuda/driver/kernels.hpp"
#include "test/cuda/fibers/runner.hpp"
#include "test/cuda/kernels/host_build.hpp"

namespace host_kernels {
namespace {

using ucg::cuda::parameters;

// Runs a launch of an entry, whose kernels use one dimension.
void run_launch(const standin::launch& launched, void (*entry)(const parameters&)) {
    const auto args = launched.parameter<parameters>(0);
    const fibers::launch shape{.blocks = launched.grid.x,
                               .threads = launched.block.x,
                               .shared_bytes = launched.shared_bytes,
                               .seed = launched.seed};
    const auto failure = fibers::run(shape, [&] { entry(args); });
    if (!failure) return;
    std::fprintf(stderr, "standin: kernel %d: %s\n", static_cast<int>(args.run), failure->c_str());
    throw standin::kernel_failure{};
}

standin::registered_kernel entry(const char* name, void (*run)(const parameters&)) {
    return {name, {sizeof(parameters)}, [run](const standin::launch& launched) {
                run_launch(launched, run);
            }};
}

const standin::registered_kernel copying = entry(ucg::cuda::copying_entry, run_copying);
const standin::registered_kernel reducing = entry(ucg::cuda::reducing_entry, run_reducing);

}  // namespace
}  // namespace host_kernels
