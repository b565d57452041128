// Tests of the measurement, on simulated machines with known costs.
#include "ucg/select/measure.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <deque>
#include <limits>

#include "ucg/schedule/operation.hpp"
#include "ucg/sim/network.hpp"
#include "ucs/time/clock.hpp"

using namespace ucg;

namespace {

// While it lives, the clock of every rank is that of its simulated processor.
class clock_of {
public:
    explicit clock_of(const sim::network& net) {
        network_ = &net;
        ucs::time::set_clock(+[]() noexcept { return network_->now(); });
    }
    ~clock_of() { ucs::time::set_clock(nullptr); }
    clock_of(const clock_of&) = delete;
    clock_of& operator=(const clock_of&) = delete;

private:
    inline static const sim::network* network_ = nullptr;
};

// Returns the samples that each rank gets.
std::vector<std::vector<select::price_sample>> measure_on(const sim::machine& like) {
    sim::network net(like);
    const clock_of clock(net);
    std::vector<std::vector<select::price_sample>> found(like.ranks);
    std::deque<schedule::operation> all;
    for (schedule::rank_t rank = 0; rank < like.ranks; ++rank) {
        schedule::operation& mine = all.emplace_back(net.fabric(rank), net.frames());
        REQUIRE(mine.init(select::measurement(net.placement()),
                          select::measuring(net.placement(), found[rank])) == UCS_OK);
    }
    for (schedule::operation& each : all)
        each.start();
    net.run();
    for (const schedule::operation& each : all)
        REQUIRE(each.status() == UCS_OK);
    return found;
}

void check_near(double measured, double real, double tolerance = 0.02) {
    INFO("measured " << measured << ", real " << real);
    CHECK(std::abs(measured - real) <= tolerance * real);
}

sim::machine unlike_the_defaults() {
    sim::machine on;
    on.between = {30000, 1e9, 700, 500};
    on.inside = {900, 4e9, 150, 250};
    on.reduce_rate = 3e9;
    on.copy_rate = 7e9;
    on.flag = 1500;
    return on;
}

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr select::message_sample no_messages{nothing, nothing, nothing};

select::price_sample sample_of(double latency) {
    return {{latency, nothing, nothing}, no_messages, {nothing, nothing}, {nothing, nothing}, 0};
}

}  // namespace

TEST_CASE("measure: the figures are the costs of messages and nodes") {
    sim::machine on = unlike_the_defaults();
    for (const schedule::rank_t per_node : {1U, 2U, 3U, 8U}) {
        for (const schedule::rank_t nodes : {2U, 3U}) {
            INFO(nodes << " nodes of " << per_node);
            on.ranks = nodes * per_node;
            on.ranks_per_node = per_node;
            const schedule::link_cost real = costs_of(on);
            for (const auto& heard : measure_on(on)) {
                schedule::link_cost found;
                select::adopt(heard, found);
                check_near(found.latency, real.latency);
                check_near(found.per_byte, real.per_byte);
                check_near(found.copy_byte, real.copy_byte);
                check_near(found.reduce_byte, real.reduce_byte);
                // One side is busy with each message, while the other has its own to process.
                CHECK(found.per_message >= 500e-9);
                CHECK(found.per_message <= 1200e-9);
                const schedule::link_cost usual;
                if (per_node == 1) {
                    CHECK(found.inside.latency == usual.inside.latency);
                    CHECK(found.node.flag == usual.node.flag);
                    continue;
                }
                check_near(found.inside.latency, real.inside.latency);
                check_near(found.inside.per_byte, real.inside.per_byte);
                check_near(found.node.flag, real.node.flag);
                check_near(found.node.copy_byte, real.node.copy_byte);
                check_near(found.node.reduce_byte, real.node.reduce_byte);
            }
        }
    }
}

TEST_CASE("measure: all ranks get the same figures in any order on nodes") {
    sim::machine on = unlike_the_defaults();
    on.nodes = {7, 8, 7, 9, 8, 7};
    on.ranks = 6;
    on.max_delay = 3000;
    const auto found = measure_on(on);
    schedule::link_cost first;
    select::adopt(found.front(), first);
    for (const auto& each : found) {
        schedule::link_cost other;
        select::adopt(each, other);
        CHECK(select::text_of(other) == select::text_of(first));
        CHECK(other.node.flag == first.node.flag);
        CHECK(other.latency == first.latency);
    }
}

TEST_CASE("measure: the median of the valid samples is taken") {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::vector<select::price_sample> samples;
    for (const double latency : {infinity, 3e-6, nothing, -1.0, 0.0, 1e-6, 2e-6})
        samples.push_back(sample_of(latency));
    schedule::link_cost found;
    const schedule::link_cost usual;
    select::adopt(samples, found);
    CHECK(found.latency == 2e-6);
    CHECK(found.per_byte == usual.per_byte);
    CHECK(found.node.flag == usual.node.flag);
    CHECK(found.inside.latency == usual.inside.latency);
    CHECK(found.copy_byte == usual.copy_byte);
}
