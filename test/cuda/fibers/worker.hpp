// One OS thread that runs the fibers of some blocks of a launch.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "test/cuda/fibers/block.hpp"
#include "test/cuda/fibers/runner.hpp"

namespace fibers {

// The launch that its workers share. Thread-safe.
class shared_launch {
public:
    shared_launch(const launch& shape, const std::function<void()>& kernel)
        : shape_(shape),
          kernel_(kernel),
          deadline_(std::chrono::steady_clock::now() + shape.limit) {}

    [[nodiscard]] const launch& shape() const noexcept { return shape_; }
    [[nodiscard]] const std::function<void()>& kernel() const noexcept { return kernel_; }
    [[nodiscard]] bool is_late() const { return std::chrono::steady_clock::now() > deadline_; }

    // Keeps the first reason, and makes all workers end.
    void fail(const std::string& reason);
    [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }
    // Called when the workers have ended.
    [[nodiscard]] const std::optional<std::string>& reason() const noexcept { return reason_; }

private:
    const launch& shape_;
    const std::function<void()>& kernel_;
    std::chrono::steady_clock::time_point deadline_;
    std::atomic<bool> has_failed_ = false;
    std::mutex lock_;
    std::optional<std::string> reason_;
};

class worker {
public:
    // Runs the blocks `index`, `index` + `workers` and so on of the launch.
    worker(shared_launch& owner, unsigned index, unsigned workers);
    void run();

    // The following functions are called by the fibers.

    // Returns the worker and the thread that are running.
    static worker& current() noexcept;
    [[nodiscard]] gpu_thread& running() noexcept { return *running_; }
    [[nodiscard]] unsigned block_count() const noexcept { return owner_.shape().blocks; }

    // Waits for the other threads of the block or warp, and returns the result.
    std::uint64_t meet(meeting kind, std::uint64_t value = 0, unsigned lane = 0);
    // Lets other fibers run. `is_idle`: this fiber waits for a flag.
    void pass(bool is_idle);
    // Lets other fibers run or not, as the seed has it.
    void may_pass(bool is_idle);

private:
    struct abandoned {};

    void take_turn(gpu_thread& thread);
    void run_kernel();
    void leave();
    void rest();
    void report_deadlock();
    void abandon();

    shared_launch& owner_;
    std::list<block> blocks_;
    std::vector<gpu_thread*> ready_;
    std::mt19937_64 dice_;
    gpu_thread* running_ = nullptr;
    std::size_t idle_turns_ = 0;  // since a fiber did more than to look at a flag
    bool is_abandoned_ = false;
};

}  // namespace fibers
