// The reducing kernels give the bits of ucg/reduce, for every type and operation.
#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "test/cuda/kernel_tests/local_node.hpp"
#include "ucg/reduce/kernel.hpp"
#include "ucg/reduce/types.hpp"

using namespace kernel_tests;
using ucg::cuda::kernel;
using ucg::reduce::element;
using ucg::reduce::family;
using ucg::reduce::operation;
using ucg::reduce::size_of;
using ucg::reduce::visit;
using bytes = std::vector<std::byte>;

namespace {

// Fills in numbers whose sums are rounded. Integers have random bits; numbers with a location are
// often equal.
void fill(bytes& into, element type, std::mt19937_64& dice) {
    const auto number = [&] {
        return static_cast<double>(static_cast<std::int64_t>(dice() % 4001) - 2000) / 96;
    };
    visit(type, [&]<class As>(As) {
        using stored = typename As::stored;
        for (std::size_t offset = 0; offset < into.size(); offset += sizeof(stored)) {
            stored made;
            std::memset(&made, 0, sizeof made);
            if constexpr (As::kind == family::integer) {
                made = static_cast<stored>(dice() % 4 == 0 ? 0 : dice());
            } else if constexpr (As::kind == family::real) {
                made = As::give(static_cast<typename As::worked>(number()));
            } else if constexpr (As::kind == family::complex) {
                using part = decltype(made.real);
                made.real = static_cast<part>(number());
                made.imaginary = static_cast<part>(number());
            } else {
                made.value = static_cast<decltype(made.value)>(dice() % 3);
                made.location = static_cast<std::int32_t>(dice() % 4);
            }
            std::memcpy(into.data() + offset, &made, sizeof made);
        }
    });
}

// Clears the padding between and behind value and location, which no kernel has to copy.
bytes without_padding(bytes elements, element type) {
    visit(type, [&]<class As>(As) {
        if constexpr (As::kind == family::with_location) {
            using stored = typename As::stored;
            constexpr std::size_t value_end = sizeof(stored::value);
            constexpr std::size_t location = offsetof(stored, location);
            for (std::size_t offset = 0; offset < elements.size(); offset += sizeof(stored)) {
                std::byte* const begin = elements.data() + offset;
                std::fill(begin + value_end, begin + location, std::byte{});
                std::fill(begin + location + 4, begin + sizeof(stored), std::byte{});
            }
        }
    });
    return elements;
}

// Returns the elements from `first` on, reduced in the order of ranks.
bytes expected(element type, operation op, const std::vector<bytes>& inputs, std::size_t first,
               std::size_t count) {
    const std::size_t size = size_of(type);
    std::vector<const void*> sources;
    for (const bytes& each : inputs)
        sources.push_back(each.data() + first * size);
    bytes result(count * size);
    const std::uint64_t divisor = op == operation::average ? inputs.size() : 0;
    ucg::reduce::find_kernel(type,
                             op)({result.data(), sources.data(), sources.size(), count, divisor});
    return without_padding(std::move(result), type);
}

void check(local_node& node, kernel run, element type, operation op, std::size_t count) {
    const std::uint32_t ranks = node.ranks();
    const std::size_t size = size_of(type);
    const bool scatters = run == kernel::reduce_scatter;
    std::mt19937_64 dice(count + ranks);
    std::vector<bytes> inputs(ranks, bytes((scatters ? ranks : 1) * count * size));
    std::vector<bytes> outputs(ranks, bytes(count * size));
    std::vector<parameters> launches;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        fill(inputs[rank], type, dice);
        parameters args = node.base(rank);
        args.run = run;
        args.from = inputs[rank].data();
        args.into = outputs[rank].data();
        args.count = count;
        args.element_bytes = static_cast<std::uint32_t>(size);
        args.type = type;
        args.op = op;
        launches.push_back(args);
    }
    CAPTURE(ucg::reduce::name(type), ucg::reduce::name(op), static_cast<int>(run), ranks, count);
    REQUIRE(node.run(launches, {.seed = count}) == std::nullopt);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const std::size_t first = scatters ? rank * count : 0;
        if (without_padding(outputs[rank], type) != expected(type, op, inputs, first, count))
            FAIL("rank " << rank << " has other bits");
    }
}

void check_all(kernel run) {
    std::vector<local_node> nodes;
    for (const std::uint32_t ranks : {1U, 2U, 3U, 4U, 8U})
        nodes.emplace_back(ranks);
    std::size_t turn = 0;
    for (std::size_t i = 0; i < ucg::reduce::element_count; ++i) {
        for (std::size_t k = 0; k < ucg::reduce::operation_count; ++k) {
            const auto type = static_cast<element>(i);
            const auto op = static_cast<operation>(k);
            if (!ucg::reduce::is_defined(type, op)) continue;
            // All numbers of ranks for each type, each number with many operations.
            for (const std::size_t count : {7U, 1000U})
                check(nodes[turn++ % nodes.size()], run, type, op, count);
        }
    }
}

}  // namespace

TEST_CASE("a one-shot allreduce gives the bits of ucg/reduce") {
    check_all(kernel::allreduce_one_shot);
}

TEST_CASE("a two-shot allreduce gives the bits of ucg/reduce") {
    check_all(kernel::allreduce_two_shot);
}

TEST_CASE("a reduce-scatter gives the bits of ucg/reduce") {
    check_all(kernel::reduce_scatter);
}
