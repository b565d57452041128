// Runs the host build of a kernel: each thread of the launch is a fiber.
//
// Barriers and operations of warps switch between the fibers of a block, and so do the waits for
// flags and some accesses to them (ucg/cuda/kernels/portable.cuh). The seed chooses the next fiber
// at each switch, so a missing barrier or a flag that is posted too early gives wrong results under
// some seed. Blocks are distributed over OS threads.
//
// A launch fails, and does not hang, if
// * not all threads of a block come to a barrier, or not all lanes of a warp to its operation,
// * threads of a block or warp call different operations at the same time,
// * a shuffle reads a lane that does not exist,
// * threads only wait for flags until the limit of the launch has passed.
//
// It is a model: all accesses to memory happen in the order of the code. It does not show a missing
// order of two stores that a device may exchange.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace fibers {

struct launch {
    unsigned blocks = 1;
    unsigned threads = 32;  // of a block
    std::size_t shared_bytes = 0;
    std::uint64_t seed = 1;
    unsigned workers = 2;  // OS threads, at most one for each block
    std::chrono::milliseconds limit{60'000};
};

// Runs `kernel` once for each thread of the launch, and returns when all have ended. Returns
// nullopt, or the reason why the launch failed; it has then been abandoned where its threads were.
// Any thread; several launches may run at the same time. Exceptions of the kernel are failures.
[[nodiscard]] std::optional<std::string> run(const launch& shape,
                                             const std::function<void()>& kernel);

}  // namespace fibers
