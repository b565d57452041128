// Tests that ranks which wait for a rank that never comes name that rank, also through other
// waiting ranks.

#include "test/support/log_capture.hpp"
#include "test/unit/ucg/core/world.hpp"
#include "ucs/time/clock.hpp"

namespace {

constexpr std::uint32_t ranks = 8;
constexpr std::uint32_t absent = 5;

// Time advances with each look at the clock, so a busy machine changes nothing.
class own_time {
public:
    own_time() {
        now_ = ucs::time::now();
        ucs::time::set_clock([]() noexcept { return now_ += 50 * ucs::time::microsecond; });
    }
    ~own_time() { ucs::time::set_clock(nullptr); }
    own_time(const own_time&) = delete;
    [[nodiscard]] static ucs::time::nanoseconds now() { return now_; }
    own_time& operator=(const own_time&) = delete;

private:
    static inline ucs::time::nanoseconds now_ = 0;
};

std::size_t occurrences(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t position = 0; (position = text.find(part, position)) != std::string::npos;
         position += part.size())
        ++found;
    return found;
}

constexpr ucs::time::nanoseconds second = 1'000'000'000;

// A group of which all ranks except one start an operation.
class scene {
public:
    explicit scene(const std::vector<std::string>& nodes) : in(nodes), all_(in) {}

    // Several operations only if they have no data.
    void start(ucg_coll_t coll, const char* algorithm, std::uint64_t count, double timeout) {
        from_.assign(ranks, std::vector<float>(ranks * count));
        into_ = from_;
        counts_.assign(ranks, count);
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            if (rank == absent) continue;
            ucg_coll_args_t args =
                test::call_of(coll, from_[rank].data(), into_[rank].data(), count, UCG_TYPE_FP32);
            args.root = coll == UCG_COLL_BCAST ? absent : 0;
            args.src_counts = args.dst_counts = counts_.data();
            args.algorithm = algorithm;
            args.timeout = timeout;
            all_.add(rank, args);
            REQUIRE(ucg_request_start(all_.all().back()) == UCS_OK);
        }
    }
    [[nodiscard]] std::size_t waiting() const {
        return static_cast<std::size_t>(std::ranges::count(all_.ends(), UCS_INPROGRESS));
    }
    // Returns whether all waiting ranks name the absent rank and no other.
    [[nodiscard]] bool name_it() const {
        return std::ranges::all_of(all_.all(), [](ucg_request_h each) {
            std::uint32_t missing[ranks] = {};
            ucg_request_attr_t attr = UCG_REQUEST_ATTR_INIT;
            attr.missing = missing;
            attr.missing_max = ranks;
            REQUIRE(ucg_request_query(each, &attr) == UCS_OK);
            return attr.status != UCS_INPROGRESS ||
                   (attr.missing_count == 1 && missing[0] == absent);
        });
    }
    // Time as the ranks see it.
    void let_pass(ucs::time::nanoseconds span) {
        const ucs::time::nanoseconds until = own_time::now() + span;
        CHECK(in.run_until([&] { return own_time::now() >= until; }));
    }
    void give_up() {
        for (const ucg_request_h each : all_.all())
            CHECK(ucg_request_cancel(each) == UCS_OK);
        all_.finish();
    }
    // The queries name it before the time limit, and so do all log lines at the time limit.
    void check() {
        const test::log_capture captured;
        CHECK(in.run_until([&] { return name_it() || waiting() == 0; }));
        CHECK(waiting() != 0);
        CHECK(in.run_until([&] { return waiting() == 0; }));
        const std::size_t timed_out = captured.count("timed out after");
        INFO(captured.text());
        CHECK(timed_out != 0);
        CHECK(occurrences(captured.text(), ": it waits for rank 5\n") == timed_out);
    }

private:
    const own_time time_;
    const test::env latency_{"UCG_LATENCY", "1us"};  // turns the measurement off
    const test::env bandwidth_{"UCG_BANDWIDTH", "1g"};

public:
    test::world in;

private:
    std::vector<std::vector<float>> from_, into_;
    std::vector<std::uint64_t> counts_;
    test::requests all_;
};

const std::vector<std::string> apart{"a", "b", "c", "d", "e", "f", "g", "h"};
const std::vector<std::string> in_pairs{"a", "a", "b", "b", "c", "c", "d", "d"};
const std::vector<std::string> together(8, "a");

}  // namespace

TEST_CASE("missing ranks: between nodes, all waiting ranks name the absent rank") {
    const auto [coll, algorithm, count] = GENERATE(table<ucg_coll_t, const char*, std::uint64_t>({
        {UCG_COLL_BARRIER, "dissemination", 0},
        {UCG_COLL_ALLREDUCE, "recursive_doubling", 4},
        {UCG_COLL_ALLREDUCE, "ring", 4},
        {UCG_COLL_ALLREDUCE, "ring", 100'000},
        {UCG_COLL_ALLREDUCE, "double_tree", 4},
        {UCG_COLL_ALLREDUCE, "rabenseifner", 1000},
        {UCG_COLL_ALLGATHER, "ring", 4},
        {UCG_COLL_ALLTOALL, "pairwise", 4},
        {UCG_COLL_BCAST, "binomial", 4},
        {UCG_COLL_SCAN, nullptr, 4},
    }));
    INFO(ucg_coll_name(coll) << " of " << count);
    scene group(apart);
    group.start(coll, algorithm, count, 0.2);
    group.check();
}

TEST_CASE("missing ranks: a rank that makes no progress is named as well") {
    scene group(apart);
    group.in.freeze(absent);
    group.start(UCG_COLL_BARRIER, nullptr, 0, 0.2);
    group.check();
}

TEST_CASE("missing ranks: all waiting ranks name the absent rank if ranks share nodes") {
    const ucg_coll_t coll = GENERATE(UCG_COLL_ALLREDUCE, UCG_COLL_BARRIER);
    scene group(in_pairs);
    group.start(coll, "hierarchical", 1000, 0.2);
    group.check();
}

TEST_CASE("missing ranks: on one node, all waiting ranks name the absent rank") {
    const ucg_coll_t coll = GENERATE(UCG_COLL_BARRIER, UCG_COLL_ALLREDUCE, UCG_COLL_GATHERV,
                                     UCG_COLL_ALLTOALLV, UCG_COLL_SCAN);
    scene group(together);
    group.start(coll, nullptr, 1000, 0.2);
    group.check();
}

// All slots are full, and ranks that wait for free slots wait for each other as well.
TEST_CASE("missing ranks: on one node, waiting ranks do not count as missing with long vectors") {
    scene group(together);
    group.start(UCG_COLL_ALLREDUCE, nullptr, 1'500'000, 0.2);
    group.check();
}

TEST_CASE("missing ranks: all name the absent rank during the comparison") {
    const test::env check("UCG_CHECK", "y");
    scene group(GENERATE(apart, in_pairs, together));
    group.start(UCG_COLL_BARRIER, nullptr, 0, 0.2);
    group.check();
}

TEST_CASE("missing ranks: each of many operations names the absent rank") {
    const test::every_line all_lines;
    scene group(apart);
    for (int i = 0; i < 8; ++i)
        group.start(UCG_COLL_BARRIER, nullptr, 0, 0.4);
    group.check();
}

// Before a fix, the second operation had to wait for the query interval of the first one, up to
// 12.8 seconds.
TEST_CASE("missing ranks: a new operation finds them soon, also while an old one waits") {
    scene group(apart);
    group.start(UCG_COLL_BARRIER, nullptr, 0, 0);
    group.let_pass(20 * second);
    CHECK(group.name_it());
    group.start(UCG_COLL_BARRIER, nullptr, 0, 0);
    CHECK(!group.name_it());
    group.let_pass(second);
    CHECK(group.name_it());
    group.give_up();
}
