#include "tools/perf/core/sampler.hpp"

#include <catch2/catch.hpp>
#include <memory>

using tools::perf::sampler;

TEST_CASE("percentiles of few samples are exact") {
    const auto samples = std::make_unique<sampler>();
    CHECK(samples->percentile(50) == 0);
    for (std::uint64_t value = 100; value >= 1; --value)
        samples->add(value);
    CHECK(samples->percentile(0) == 1);
    CHECK(samples->percentile(1) == 1);
    CHECK(samples->percentile(50) == 50);
    CHECK(samples->percentile(99) == 99);
    CHECK(samples->percentile(99.5) == 100);
    CHECK(samples->percentile(100) == 100);
}

TEST_CASE("a long stream is sampled evenly over its whole length") {
    const auto samples = std::make_unique<sampler>();
    constexpr std::uint64_t count = 1'000'000;
    for (std::uint64_t value = 0; value < count; ++value)
        samples->add(value);
    CHECK(samples->size() >= sampler::capacity / 2);
    CHECK(samples->size() < sampler::capacity);
    for (const double rank : {1.0, 25.0, 50.0, 75.0, 99.0}) {
        const auto found = static_cast<double>(samples->percentile(rank));
        CHECK(found == Approx(rank / 100 * count).margin(0.001 * count));
    }
}

TEST_CASE("a cleared sampler is like a new one") {
    const auto samples = std::make_unique<sampler>();
    for (std::uint64_t value = 0; value < 3 * sampler::capacity; ++value)
        samples->add(7);
    samples->clear();
    CHECK(samples->size() == 0);
    samples->add(3);
    samples->add(4);
    CHECK(samples->size() == 2);
    CHECK(samples->percentile(100) == 4);
}
