// Tests of the rounds by which ranks join a group.
#include "ucg/core/group_wireup.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "test/support/environment.hpp"
#include "test/support/log_capture.hpp"
#include "test/support/virtual_time.hpp"
#include "ucg/core/context.hpp"

using ucg::schedule::rank_t;

namespace {

// Exchange in one thread; keeps the messages of the members, by round and rank.
using rounds = std::vector<std::vector<std::vector<std::byte>>>;

class scripted_exchange final : public ucg::exchange {
public:
    scripted_exchange(rounds& all, rank_t rank, rank_t size, ucg::net::member_addresses known = {})
        : all_(all), rank_(rank), size_(size), known_(std::move(known)) {}

    rank_t rank() const noexcept override { return rank_; }
    rank_t size() const noexcept override { return size_; }
    ucg::net::member_addresses addresses() const override { return known_; }
    bool is_private() const noexcept override { return is_private_; }
    void make_private() noexcept { is_private_ = true; }
    ucs_status_t begin(const void* own, void* all, std::size_t bytes) noexcept override {
        if (all_.size() <= round_) all_.resize(round_ + 1);
        all_[round_].resize(size_);
        const auto* const first = static_cast<const std::byte*>(own);
        all_[round_++][rank_].assign(first, first + bytes);
        into_ = static_cast<std::byte*>(all);
        return UCS_OK;
    }
    ucs_status_t test() noexcept override {
        const auto& sent = all_[round_ - 1];
        for (const auto& each : sent)
            if (each.empty()) return UCS_INPROGRESS;
        for (rank_t i = 0; i < size_; ++i)
            std::ranges::copy(sent[i], into_ + i * sent[i].size());
        return UCS_OK;
    }

private:
    rounds& all_;
    const rank_t rank_, size_;
    const ucg::net::member_addresses known_;
    bool is_private_ = false;
    std::size_t round_ = 0;
    std::byte* into_ = nullptr;
};

std::unique_ptr<ucg::context> context_on(const std::string& name) {
    const test::env node("UCG_NODE_ID", name.c_str());
    auto made = ucg::context::make(UCG_CONTEXT_PARAMS_INIT);
    REQUIRE(made);
    return std::move(*made);
}

std::unique_ptr<ucg::group_wireup> wireup_of(ucg::context& context,
                                             std::unique_ptr<ucg::exchange> exchange,
                                             std::uint32_t key = 0) {
    return std::make_unique<ucg::group_wireup>(
        context, std::move(exchange),
        ucg::group_wireup::params{0, key, ucs::time::now() + 100 * ucs::time::second});
}

// Ranks, each on a node of its own.
struct joiners {
    explicit joiners(rank_t size) {
        for (rank_t i = 0; i < size; ++i)
            contexts.push_back(context_on(std::to_string(i)));
    }
    std::vector<ucg::membership> join(rounds& sent, const ucg::net::member_addresses& known,
                                      const std::vector<std::uint32_t>& keys) {
        const auto size = static_cast<rank_t>(contexts.size());
        std::vector<std::unique_ptr<ucg::group_wireup>> all;
        for (rank_t i = 0; i < size; ++i)
            all.push_back(wireup_of(
                *contexts[i], std::make_unique<scripted_exchange>(sent, i, size, known), keys[i]));
        std::vector<ucg::membership> made;
        for (int turn = 0; turn < 20; ++turn)
            for (auto& each : all) {
                if (each == nullptr) continue;
                const ucs_status_t status = each->advance();
                if (status == UCS_INPROGRESS) continue;
                REQUIRE(status == UCS_OK);
                made.push_back(each->take());
                each.reset();
            }
        REQUIRE(made.size() == size);
        return made;
    }

    std::vector<std::unique_ptr<ucg::context>> contexts;
};

}  // namespace

TEST_CASE("group wireup: ranks with known addresses send none, which saves a round") {
    joiners in(3);
    rounds first, second;
    const auto made = in.join(first, {}, {0, 0, 0});
    CHECK(first.size() == 4);
    REQUIRE(made[0].addresses);
    // The last rank gets the first number.
    const auto split = in.join(second, made[0].addresses, {2, 1, 0});
    CHECK(second.size() == 3);
    for (const auto& each : split)
        CHECK(each.addresses.book() == made[0].addresses.book());
    std::span<const std::byte> first_address, second_address;
    REQUIRE(split[1].addresses.find(0, first_address) == UCS_OK);
    REQUIRE(made[1].addresses.find(2, second_address) == UCS_OK);
    CHECK(std::ranges::equal(first_address, second_address));
}

namespace {

// Two ranks of one node. The first one owns the memory and has sent its descriptor; the test may
// alter that before the second rank opens it.
struct two_on_one_node {
    two_on_one_node() {
        for (rank_t i = 0; i < 2; ++i) {
            contexts.push_back(context_on("same"));
            all.push_back(wireup_of(*contexts[i], std::make_unique<scripted_exchange>(sent, i, 2)));
        }
        for (const std::size_t turn : {0U, 1U, 0U})
            REQUIRE(all[turn]->advance() == UCS_INPROGRESS);
        REQUIRE(sent.size() >= 2);
    }
    // Alters a word of the owner's block of the second round.
    template<class Word>
    void alter(std::size_t position, Word value) {
        static_assert(sizeof value == sizeof(std::uint32_t));
        std::memcpy(sent[1][0].data() + position * sizeof value, &value, sizeof value);
    }
    void check_ends(ucs_status_t status) {
        CHECK(all[1]->advance() == status);
        CHECK(all[0]->advance() == status);
    }

    static constexpr std::size_t descriptor_word = 3, copies_word = 5;
    std::vector<std::unique_ptr<ucg::context>> contexts;
    std::vector<std::unique_ptr<ucg::group_wireup>> all;
    rounds sent;
};

}  // namespace

// When the descriptor of the owner is opened, it is that of another group's memory, as after the
// owner has closed it and made another.
TEST_CASE("group wireup: a descriptor that now belongs to another memory is refused") {
    two_on_one_node in;
    ucg::node::geometry like;
    like.ranks = 2;
    const auto other = ucg::node::shared_memory::make(like);
    REQUIRE(other);
    in.alter(two_on_one_node::descriptor_word, std::int32_t{other->get()});
    in.check_ends(UCS_ERR_SHMEM_SEGMENT);
}

TEST_CASE("group wireup: an owner whose memory has room for no group is refused with a log line") {
    two_on_one_node in;
    const test::log_capture log;
    in.alter(two_on_one_node::copies_word, std::uint32_t{0});
    in.check_ends(UCS_ERR_INVALID_PARAM);
    CHECK(log.count("the memory of no group at all", ucs::log::level::error) == 1);
}

namespace {

// Rank 1 of two claims to be another process in the first round.
class liar final : public ucg::exchange {
public:
    liar(const ucg_oob_t& oob, std::int64_t pid) : exchange_(oob), pid_(pid) {}
    rank_t rank() const noexcept override { return exchange_.rank(); }
    rank_t size() const noexcept override { return exchange_.size(); }
    ucs_status_t begin(const void* own, void* all, std::size_t bytes) noexcept override {
        constexpr std::size_t pid_position = sizeof(std::uint64_t);  // after the node
        const auto* const first = static_cast<const std::byte*>(own);
        sent_.assign(first, first + bytes);
        if (std::exchange(is_first_, false))
            std::memcpy(sent_.data() + pid_position, &pid_, sizeof pid_);
        return exchange_.begin(sent_.data(), all, bytes);
    }
    ucs_status_t test() noexcept override { return exchange_.test(); }

private:
    ucg::oob_exchange exchange_;
    const std::int64_t pid_;
    std::vector<std::byte> sent_;
    bool is_first_ = true;
};

// Returns whether the ranks of the group may read each other; nothing if there is no group.
std::optional<bool> join_as(std::unique_ptr<ucg::exchange> exchange) {
    const test::env node("UCG_NODE_ID", "same");
    const test::env reads("UCG_NODE_SINGLE_COPY", "1");
    auto made = ucg::context::make(UCG_CONTEXT_PARAMS_INIT);
    if (!made) return {};
    const auto rank = wireup_of(**made, std::move(exchange));
    ucs_status_t status = UCS_INPROGRESS;
    while ((status = rank->advance()) == UCS_INPROGRESS)
        ::usleep(100);
    if (status != UCS_OK) return {};
    return rank->take().may_read;
}

// A forked process, which ends as soon as its parent closes the pipe.
struct bystander {
    bystander() {
        REQUIRE(::pipe(gate) == 0);
        pid = ::fork();
        if (pid == 0) {
            char none;
            ::close(gate[1]);
            static_cast<void>(::read(gate[0], &none, 1));
            ::_exit(0);
        }
    }
    ~bystander() {
        ::close(gate[1]);
        ::close(gate[0]);
        ::waitpid(pid, nullptr, 0);
    }
    int gate[2];
    pid_t pid;
};

enum class claim { truth, reader, other };

}  // namespace

// All these processes have the same cookie at the same address, so it does not distinguish them.
TEST_CASE("group wireup: a rank that claims to be another process is not read") {
    auto mark = ucg::node::process_identity::own();
    const claim claimed = GENERATE(claim::truth, claim::reader, claim::other);
    const bystander other;
    mark.pid = other.pid;
    // Each of the two is read by the other, which is not its descendant.
    ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    const bool can_read = ucg::node::local_peers({mark}).can_read_all();
    if (!can_read) WARN("processes may not read each other here: only refusals are tested");
    ucg_oob_t* members[2];
    REQUIRE(ucg_oob_create_local(2, members) == UCS_OK);
    const pid_t reader = ::getpid();
    const pid_t second = ::fork();
    if (second == 0) {
        ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
        const pid_t own = ::getpid();
        const pid_t claimed_pid = claimed == claim::truth    ? own
                                  : claimed == claim::reader ? reader
                                                             : other.pid;
        static_cast<void>(join_as(std::make_unique<liar>(*members[1], claimed_pid)));
        ::_exit(0);
    }
    const auto may_read = join_as(std::make_unique<ucg::oob_exchange>(*members[0]));
    ::waitpid(second, nullptr, 0);
    for (ucg_oob_t* const each : members)
        ucg_oob_destroy(each);
    REQUIRE(may_read);
    if (claimed == claim::truth)
        CHECK((*may_read || !can_read));
    else
        CHECK_FALSE(*may_read);
}

namespace {

// Lets ranks on nodes of their own join, each with its option.
std::vector<ucs_status_t> join_with_keys(std::vector<std::unique_ptr<ucg::context>>& contexts,
                                         const std::vector<const char*>& options, bool is_private) {
    rounds sent;
    std::vector<std::unique_ptr<ucg::group_wireup>> all;
    const auto size = static_cast<rank_t>(options.size());
    for (rank_t i = 0; i < size; ++i) {
        if (contexts.size() <= i) {
            const test::env option("UCG_RANDOM_JOB_KEY", options[i]);
            contexts.push_back(context_on(std::to_string(i)));
        }
        auto exchange = std::make_unique<scripted_exchange>(sent, i, size);
        if (is_private) exchange->make_private();
        all.push_back(wireup_of(*contexts[i], std::move(exchange), i));
    }
    std::vector<ucs_status_t> ends(size, UCS_INPROGRESS);
    for (int turn = 0; turn < 20; ++turn)
        for (rank_t i = 0; i < size; ++i)
            if (ends[i] == UCS_INPROGRESS) ends[i] = all[i]->advance();
    return ends;
}

}  // namespace

TEST_CASE("group wireup: ranks that were given no job key agree on a random one") {
    const test::env transports("UCX_TLS", "tcp,self");
    const test::env level("UCX_LOG_LEVEL", "debug");
    test::log_capture log;
    std::vector<std::unique_ptr<ucg::context>> contexts;
    const std::vector<ucs_status_t> good(3, UCS_OK);
    SECTION("over a private exchange") {
        CHECK(join_with_keys(contexts, {"y", "y", "try"}, true) == good);
        REQUIRE(contexts[0]->job_key());
        const std::string text = contexts[0]->job_key()->text();
        for (const auto& each : contexts) {
            REQUIRE(each->job_key());
            CHECK(each->job_key()->text() == text);
        }
        CHECK(log.count(text.c_str()) == 0);
        // Further groups of the same ranks need no private exchange.
        CHECK(join_with_keys(contexts, {"y", "y", "y"}, false) == good);
    }
    SECTION("not over an exchange that is not private") {
        CHECK(join_with_keys(contexts, {"try", "try", "try"}, false) == good);
        CHECK_FALSE(contexts[0]->job_key());
    }
    SECTION("not if one rank has a fixed key") {
        CHECK(join_with_keys(contexts, {"try", "n", "try"}, true) == good);
        CHECK_FALSE(contexts[0]->job_key());
    }
    SECTION("no group without a key if one rank insists") {
        const auto ends = join_with_keys(contexts, {"y", "n", "try"}, true);
        CHECK(ends == std::vector<ucs_status_t>(3, UCS_ERR_REJECTED));
    }
    SECTION("a given key takes precedence") {
        const test::env given("UCX_JOB_KEY", "0123456789abcdef0123456789abcdef");
        CHECK(join_with_keys(contexts, {"y", "y", "y"}, true) == good);
        CHECK_FALSE(contexts[0]->job_key());
    }
    SECTION("a later group with ranks that cannot get the key is made, with a log line") {
        CHECK(join_with_keys(contexts, {"try", "try"}, true) == std::vector<ucs_status_t>(2));
        REQUIRE(contexts[0]->job_key());
        CHECK(join_with_keys(contexts, {"try", "try", "n"}, true) == good);
        CHECK(log.count("rank 2 of the group has not the random job key") == 3);
    }
}

namespace {

// An exchange for rank 0 of two, in which every round has ended when it is tested, a millisecond
// later. Rank 1 sends what rank 0 sends, but never agrees on a number.
class endless final : public ucg::exchange {
public:
    static constexpr unsigned most_rounds = 100'000;

    rank_t rank() const noexcept override { return 0; }
    rank_t size() const noexcept override { return 2; }
    ucs_status_t begin(const void* own, void* all, std::size_t bytes) noexcept override {
        for (rank_t i = 0; i < size(); ++i)
            std::memcpy(static_cast<std::byte*>(all) + i * bytes, own, bytes);
        constexpr std::uint32_t disagrees = 0;
        if (round_++ != 0)
            std::memcpy(static_cast<std::byte*>(all) + bytes, &disagrees, sizeof disagrees);
        return UCS_OK;
    }
    ucs_status_t test() noexcept override {
        test::virtual_time::now += ucs::time::millisecond;
        return round_ < most_rounds ? UCS_OK : UCS_ERR_IO_ERROR;
    }

private:
    unsigned round_ = 0;
};

}  // namespace

TEST_CASE("group wireup: ranks that never agree end at the deadline, also if no round waits") {
    const test::log_capture log;
    const test::virtual_time clock;
    auto context = ucg::context::make(UCG_CONTEXT_PARAMS_INIT);
    REQUIRE(context);
    const auto begin = ucs::time::now();
    ucg::group_wireup one(**context, std::make_unique<endless>(),
                          ucg::group_wireup::params{0, 0, begin + ucs::time::second});
    CHECK(one.advance() == UCS_INPROGRESS);  // other groups get their turn
    CHECK(ucs::time::now() < begin + ucs::time::second / 10);
    ucs_status_t status = UCS_INPROGRESS;
    for (unsigned i = 0; i < endless::most_rounds && status == UCS_INPROGRESS; ++i)
        status = one.advance();
    CHECK(status == UCS_ERR_TIMED_OUT);
    CHECK(log.count("was not made in time", ucs::log::level::error) == 1);
}

// All ranks would reserve memory for that length for each rank.
TEST_CASE("group wireup: a rank that announces too long an address ends the group") {
    const test::log_capture log;
    joiners in(2);
    rounds sent;
    std::vector<std::unique_ptr<ucg::group_wireup>> all;
    for (rank_t i = 0; i < 2; ++i) {
        all.push_back(wireup_of(*in.contexts[i], std::make_unique<scripted_exchange>(sent, i, 2)));
        REQUIRE(all[i]->advance() == UCS_INPROGRESS);
    }
    constexpr std::size_t length_word = 2;
    constexpr std::uint32_t length = 1025;
    std::memcpy(sent[1][1].data() + length_word * sizeof length, &length, sizeof length);
    for (const auto& each : all)
        CHECK(each->advance() == UCS_ERR_IO_ERROR);
    CHECK(sent.size() == 2);
    CHECK(log.count("rank 1 of 2 announces an address of 1025 bytes", ucs::log::level::error) == 2);
}
