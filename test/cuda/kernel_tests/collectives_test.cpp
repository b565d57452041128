// All collective kernels against ucg/reference, under many orders of threads and ranks.
#include <catch2/catch.hpp>

#include "test/cuda/kernel_tests/checked_calls.hpp"

using namespace kernel_tests;
using ucg::cuda::kernel;

namespace {

constexpr kernel kernels[] = {
    kernel::barrier,
    kernel::broadcast,
    kernel::broadcast_in_parts,
    kernel::allgather,
    kernel::alltoall,
    kernel::allreduce_one_shot,
    kernel::allreduce_two_shot,
    kernel::reduce_scatter,
};

bool reduces(kernel run) {
    return ucg::cuda::entry_of(run) == ucg::cuda::reducing_entry;
}

// Returns a call whose elements have 4 bytes.
call sample(kernel run, std::uint64_t count) {
    call made{.run = run, .count = count, .element_bytes = 4};
    if (reduces(run)) made.type = UCG_TYPE_FP32;
    return made;
}

void check(local_node& node, const call& wanted, const shape& launched, std::uint64_t round = 1) {
    checked_call prepared(node, wanted);
    CAPTURE(static_cast<int>(wanted.run), node.ranks(), wanted.count, wanted.root, wanted.in_place,
            wanted.misalignment, launched.blocks, launched.threads, launched.seed);
    const auto error = prepared.run(round, launched);
    if (error) FAIL(*error);
}

}  // namespace

TEST_CASE("kernels give the results of the reference for every number of ranks and size") {
    for (const std::uint32_t ranks : {1U, 2U, 3U, 4U, 8U}) {
        local_node node(ranks);
        for (const kernel run : kernels) {
            for (const std::uint64_t count : {0U, 1U, 7U, 1000U})
                check(node, sample(run, count), {.seed = ranks + count});
        }
    }
}

TEST_CASE("kernels serve 16 ranks") {
    local_node node(16);
    for (const kernel run : kernels)
        check(node, sample(run, 501), {.blocks = 1});
}

TEST_CASE("kernels give right results under every seed") {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        // Short slices make many rounds.
        local_node node(3, {.channels = 2, .slice_bytes = 256});
        for (const kernel run : kernels)
            check(node, sample(run, 300), {.seed = seed}, seed);
    }
}

TEST_CASE("buffers need no alignment") {
    local_node node(3);
    for (const kernel run : kernels) {
        for (const std::size_t misalignment : {1U, 2U, 4U, 8U, 15U}) {
            call wanted = sample(run, 333);
            wanted.misalignment = misalignment;
            check(node, wanted, {.seed = misalignment});
        }
    }
}

TEST_CASE("elements of any length are moved") {
    local_node node(2);
    for (const kernel run :
         {kernel::broadcast, kernel::broadcast_in_parts, kernel::allgather, kernel::alltoall}) {
        for (const std::uint32_t bytes : {1U, 3U, 16U, 100U})
            check(node, {.run = run, .count = 97, .element_bytes = bytes}, {});
    }
}

TEST_CASE("operations in place") {
    for (const std::uint32_t ranks : {1U, 2U, 4U}) {
        local_node node(ranks);
        for (const kernel run : kernels) {
            call wanted = sample(run, 700);
            wanted.in_place = true;
            check(node, wanted, {.blocks = 3});
        }
    }
}

TEST_CASE("every rank can be the root") {
    local_node node(4);
    for (std::uint32_t root = 0; root < 4; ++root) {
        for (const kernel run : {kernel::broadcast, kernel::broadcast_in_parts}) {
            call wanted = sample(run, 900);
            wanted.root = root;
            check(node, wanted, {});
        }
    }
}

TEST_CASE("large vectors pass through the slices in many rounds") {
    local_node node(2, {.channels = 2, .slice_bytes = 16 * 1024});
    for (const kernel run : kernels)
        check(node, sample(run, 100'003), {.threads = 64});
}

TEST_CASE("calls of other kernels, sizes and numbers of blocks follow each other") {
    local_node node(4);
    std::uint64_t round = 0;
    for (const std::uint64_t count : {1000U, 3U, 2500U}) {
        for (const kernel run : kernels) {
            round += 1;
            check(node, sample(run, count),
                  {.blocks = static_cast<unsigned>(1 + round % 4),
                   .threads = round % 3 == 0 ? 64U : 32U,
                   .seed = round},
                  round);
        }
    }
    for (std::uint32_t rank = 1; rank < 4; ++rank) {
        CHECK(node.channel(rank, 0).sequence == node.channel(0, 0).sequence);
        CHECK(node.channel(rank, 3).rounds == node.channel(0, 3).rounds);
    }
}

TEST_CASE("the same parameters can be launched again, as a graph does") {
    local_node node(3);
    for (const kernel run : kernels) {
        checked_call prepared(node, sample(run, 1500));
        for (std::uint64_t round = 1; round <= 5; ++round) {
            const auto error = prepared.run(round, {.seed = round});
            if (error) FAIL("kernel " << static_cast<int>(run) << ": " << *error);
        }
    }
}

TEST_CASE("numbers of flags go on beyond 32 bits") {
    local_node node(2);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        for (std::uint32_t channel = 0; channel < 4; ++channel) {
            node.channel(rank, channel).sequence = 0xfffffffeU;
            for (std::uint64_t& flag : node.channel(rank, channel).flags)
                flag = 0xfffffffeU;
        }
    }
    for (const kernel run : kernels)
        check(node, sample(run, 2000), {});
}
