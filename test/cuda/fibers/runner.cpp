#include "test/cuda/fibers/runner.hpp"

#include <algorithm>
#include <list>
#include <thread>
#include <vector>

#include "test/cuda/fibers/worker.hpp"

namespace fibers {

std::optional<std::string> run(const launch& shape, const std::function<void()>& kernel) {
    shared_launch shared(shape, kernel);
    const unsigned workers = std::clamp(shape.workers, 1U, std::max(shape.blocks, 1U));
    const auto work = [&](unsigned index) { worker(shared, index, workers).run(); };
    std::vector<std::thread> threads;
    for (unsigned index = 1; index < workers; ++index)
        threads.emplace_back(work, index);
    work(0);
    for (std::thread& thread : threads)
        thread.join();
    return shared.reason();
}

}  // namespace fibers
