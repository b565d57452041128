// Tests of early messages: comparisons per search, and bounds of their memory.
#include "ucg/node/rings/early_messages.hpp"

#include <malloc.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <optional>

#include "test/support/log_capture.hpp"
#include "test/support/sanitizer.hpp"
#include "test/unit/ucg/algo/simulated_collective.hpp"
#include "test/unit/ucg/node/group.hpp"
#include "ucg/algo/table.hpp"
#include "ucg/node/rings/fabric.hpp"

using namespace ucg;
using node::message_key;

namespace {

struct counting_order {
    std::size_t* comparisons;
    bool operator()(const message_key& a, const message_key& b) const noexcept {
        ++*comparisons;
        return a < b;
    }
};

}  // namespace

TEST_CASE("a search compares few of the early messages for all kinds of keys") {
    constexpr std::uint64_t many = 100'000;
    std::size_t comparisons = 0;
    node::basic_early_messages<counting_order> all(counting_order{&comparisons});
    const bool are_equal = GENERATE(false, true);
    for (std::uint64_t i = 0; i < many; ++i)
        (void)all.add({are_equal ? 0 : i, 0}, 0);
    comparisons = 0;
    CHECK(all.find({many, 0}) == all.end());
    CHECK(all.find({0, 0}) != all.end());
    (void)all.remove(all.find({are_equal ? 0 : many / 2, 0}));
    (void)all.remove_operation(many + 1);
    CHECK(comparisons < 4 * 40);
}

TEST_CASE("the oldest of the early messages with the same key is found first") {
    node::early_messages all;
    for (std::uint64_t bytes = 0; bytes < 5; ++bytes)
        for (const std::uint32_t channel : {1U, 0U, 2U})
            (void)all.add({7, channel}, bytes);
    for (std::uint64_t bytes = 0; bytes < 5; ++bytes) {
        const auto found = all.find({7, 1});
        REQUIRE(found != all.end());
        CHECK(found->second.bytes == bytes);
        (void)all.remove(found);
    }
    CHECK(all.find({7, 1}) == all.end());
    CHECK(all.find({7, 2}) != all.end());
    (void)all.remove_operation(7);
    CHECK(all.empty());
}

TEST_CASE("the cost of an early message covers all memory that it takes up") {
    if (!test::has_allocator_of_libc) return;
    const std::size_t announced = GENERATE(0U, 1U, 100U, 5000U, 1U << 20);
    const std::vector<std::byte> piece(64);
    const std::size_t pieces = std::min<std::size_t>(announced / 64, 80);
    node::early_messages all;
    std::size_t counted = 0;
    const std::size_t before = ::mallinfo2().uordblks;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const auto message = all.add({i, 0}, announced);
        for (std::size_t j = 0; j < pieces; ++j)
            message->second.append(piece.data(), piece.size());
        counted += node::early_messages::cost(message->second);
        // The capacity is at most twice the received bytes, whatever its sender announced.
        CHECK(message->second.content.capacity() <= 2 * pieces * piece.size());
    }
    const std::size_t taken = ::mallinfo2().uordblks - before;
    CHECK(taken <= counted + counted / 100);  // blocks that the allocator does not split
    CHECK(counted <= 2 * taken);
    std::size_t freed = 0;
    for (std::uint64_t i = 0; i < 1000; ++i)
        freed += all.remove_operation(i);
    CHECK(freed == counted);
}

namespace {

// Both ranks of one group in this process; rank 1 sends to rank 0.
class two_ranks {
public:
    explicit two_ranks(node::early_limit& limit) : watch_(std::vector<pid_t>(2, ::getpid())) {
        const node::geometry layout = test::small_node(2);
        auto file = node::shared_memory::make(layout);
        REQUIRE(file);
        auto memory = node::shared_memory::attach(file->get(), layout);
        REQUIRE(memory);
        memory_ = *memory;
        receiver_.emplace(memory_, watch_, 0, limit);
        sender_.emplace(memory_, watch_, 1, limit_of_sender_);
    }
    ~two_ranks() {
        for (schedule::operation& each : sent_)
            each.fail(UCS_ERR_CANCELED);
        for (schedule::operation& each : received_)
            each.fail(UCS_ERR_CANCELED);
        if (!waiting_) return;
        waiting_->fail(UCS_ERR_CANCELED);
        sender_->end_operation(*skipped_);
    }

    // Rank 0 waits for a message that rank 1 never sends.
    void wait_for_missing_message() {
        schedule::sequence_t number = 0;
        skipped_.emplace(*sender_, frames_);
        REQUIRE(sender_->begin_operation(*skipped_, number) == UCS_OK);
        waiting_.emplace(*receiver_, frames_);
        REQUIRE(start(*waiting_, 0) == UCS_OK);
    }
    [[nodiscard]] ucs_status_t waiting() const { return waiting_->status(); }
    [[nodiscard]] std::size_t stored_bytes() const { return receiver_->stored_bytes(1); }

    // Rank 1 sends its part of one more operation, and both ranks make progress.
    void send_one() {
        REQUIRE(start(sent_.emplace_back(*sender_, frames_), 1) == UCS_OK);
        move();
    }
    void receive_all() {
        while (received_.size() < sent_.size())
            REQUIRE(start(received_.emplace_back(*receiver_, frames_), 0) == UCS_OK);
        move();
    }
    [[nodiscard]] bool has_received_all() const {
        for (const schedule::operation& each : received_)
            if (each.status() != UCS_OK) return false;
        return true;
    }
    void move() {
        for (unsigned idle_polls = 0; idle_polls < 100; ++idle_polls) {
            bool moved = sender_->progress();
            moved |= receiver_->progress();
            if (moved) idle_polls = 0;
        }
    }

private:
    ucs_status_t start(schedule::operation& op, node::rank_t rank) {
        const auto& algorithm = algo::algorithms(schedule::collective::reduce).front();
        const ucs_status_t status = op.init(algorithm, data_.call_of(rank));
        if (status == UCS_OK) op.start();
        return status;
    }
    static test::scenario sum() {
        test::scenario made{.kind = schedule::collective::reduce, .count = 100};
        return made;
    }

    node::watch watch_;
    node::shared_memory memory_;
    schedule::frame_pool frames_;
    test::reference data_{sum()};
    node::early_limit limit_of_sender_;
    std::optional<node::fabric> receiver_, sender_;
    std::optional<schedule::operation> waiting_, skipped_;
    std::deque<schedule::operation> sent_, received_;
};

constexpr std::size_t limit_of_test = 256 << 10;

}  // namespace

TEST_CASE("early messages of all groups together stay below one limit") {
    node::early_limit limit(limit_of_test);
    two_ranks more(limit), less(limit);
    more.wait_for_missing_message();
    less.wait_for_missing_message();
    while (more.stored_bytes() < limit_of_test * 6 / 10)
        more.send_one();
    const test::log_capture log;
    while (more.waiting() == UCS_INPROGRESS && less.stored_bytes() < limit_of_test * 6 / 10) {
        less.send_one();
        CHECK(limit.used() <= limit_of_test);
        CHECK(limit.used() == more.stored_bytes() + less.stored_bytes());
    }
    CHECK(more.waiting() == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(more.stored_bytes() == 0);
    CHECK(less.waiting() == UCS_INPROGRESS);  // it had stored less
    CHECK(less.stored_bytes() > limit_of_test * 3 / 10);
    INFO(log.text());
    CHECK(log.count("rank 0: messages of rank 1 ", ucs::log::level::error) == 1);
    CHECK(log.size() == 1);
}

TEST_CASE("ranks that are ahead in many groups wait, and none is cut off") {
    node::early_limit limit(limit_of_test);
    std::deque<two_ranks> groups;
    for (int i = 0; i < 4; ++i)
        groups.emplace_back(limit);
    for (int i = 0; i < 200; ++i)
        for (two_ranks& each : groups)
            each.send_one();
    CHECK(limit.used() > limit_of_test / 2);
    CHECK(limit.used() < limit_of_test * 6 / 10);
    for (two_ranks& each : groups) {
        each.receive_all();
        CHECK(each.has_received_all());
    }
    CHECK(limit.used() == 0);
}
