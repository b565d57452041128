#include "test/cuda/kernel_tests/local_node.hpp"

#include <cstring>
#include <new>
#include <thread>

#include "test/cuda/fibers/runner.hpp"
#include "test/cuda/kernels/host_build.hpp"

namespace kernel_tests {
namespace {

using ucg::cuda::channel_words;
using ucg::cuda::entry_of;

constexpr std::align_val_t alignment{alignof(channel_words)};

void run_entry(const parameters& args) {
    if (entry_of(args.run) == ucg::cuda::copying_entry)
        host_kernels::run_copying(args);
    else
        host_kernels::run_reducing(args);
}

}  // namespace

void local_node::release::operator()(std::byte* memory) const noexcept {
    ::operator delete[](memory, alignment);
}

local_node::local_node(std::uint32_t ranks, ucg::cuda::layout area) : area_(area), words_(ranks) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        auto* const memory = static_cast<std::byte*>(::operator new[](area.bytes(), alignment));
        std::memset(memory, 0xff, area.bytes());
        std::memset(memory, 0, area.slice(0, 0));
        areas_.emplace_back(memory);
    }
}

channel_words& local_node::channel(std::uint32_t rank, std::uint32_t index) noexcept {
    return *reinterpret_cast<channel_words*>(areas_[rank].get() + area_.channel(index));
}

parameters local_node::base(std::uint32_t rank) {
    parameters args{};
    for (std::uint32_t peer = 0; peer < ranks(); ++peer)
        args.areas[peer] = areas_[peer].get();
    args.area = area_;
    args.rank = rank;
    args.ranks = ranks();
    args.abort = &words_[rank].abort;
    args.report = &words_[rank].report;
    args.timeout_ns = 30'000'000'000;
    return args;
}

std::optional<std::string> local_node::run(const std::vector<parameters>& each,
                                           const shape& launched) const {
    std::vector<std::optional<std::string>> failures(each.size());
    std::vector<std::thread> threads;
    const auto launch = [&](std::size_t i) {
        failures[i] = fibers::run({.blocks = launched.blocks,
                                   .threads = launched.threads,
                                   .seed = launched.seed * 100 + i,
                                   .workers = static_cast<unsigned>(1 + launched.seed % 2)},
                                  [&] { run_entry(each[i]); });
    };
    for (std::size_t i = 1; i < each.size(); ++i)
        threads.emplace_back(launch, i);
    launch(0);
    for (std::thread& thread : threads)
        thread.join();
    for (const auto& failure : failures) {
        if (failure) return failure;
    }
    return std::nullopt;
}

}  // namespace kernel_tests
