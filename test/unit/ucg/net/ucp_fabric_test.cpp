// Tests of the algorithms over ucp, with several ranks in one process, each with a context and a
// worker.
#include "ucg/net/ucp_fabric.hpp"

#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <numeric>

#include "test/support/log_capture.hpp"
#include "test/support/virtual_time.hpp"
#include "ucg/algo/table.hpp"
#include "ucg/reduce/element.hpp"
#include "ucg/schedule/operation.hpp"
#include "ucg/schedule/reducer.hpp"
#include "ucp/address/address.hpp"
#include "ucp/address/wire.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/core/worker.hpp"
#include "ucs/security/key_pair.hpp"

namespace {

using namespace ucg::net;
using namespace ucg::schedule;

struct context {
    explicit context(const char* transports) {
        ucp_config_t* config = nullptr;
        REQUIRE(ucp_config_read(nullptr, nullptr, &config) == UCS_OK);
        REQUIRE(ucp_config_modify(config, "TLS", transports) == UCS_OK);
        ucp_params_t params{};
        params.field_mask = UCP_PARAM_FIELD_FEATURES;
        params.features = UCP_FEATURE_TAG | UCP_FEATURE_AM;
        REQUIRE(ucp_init(&params, config, &handle) == UCS_OK);
        ucp_config_release(config);
        const ucp_worker_params_t none{};
        REQUIRE(ucp_worker_create(handle, &none, &worker) == UCS_OK);
    }
    ~context() {
        ucp_worker_destroy(worker);
        ucp_cleanup(handle);
    }
    [[nodiscard]] std::vector<std::byte> address() const {
        ucp_address_t* packed = nullptr;
        std::size_t length = 0;
        REQUIRE(ucp_worker_get_address(worker, &packed, &length) == UCS_OK);
        const auto* const first = reinterpret_cast<const std::byte*>(packed);
        std::vector<std::byte> copy(first, first + length);
        ucp_worker_release_address(worker, packed);
        return copy;
    }

    ucp_context_h handle = nullptr;
    ucp_worker_h worker = nullptr;
    control_messages control;
};

// Address book that finds an address only when the test allows it.
class delayed_book final : public ucg::net::address_book {
public:
    delayed_book(std::vector<std::byte> addresses, std::size_t length)
        : all_(std::move(addresses), length),
          known_(all_.cached_count(), UCS_OK),
          wanted_(known_.size()) {}

    ucs_status_t find(rank_t rank, std::span<const std::byte>& found) noexcept override {
        wanted_[rank] = true;
        if (known_[rank] == UCS_OK && rank == replaced_) {
            found = replacement_;
            return UCS_OK;
        }
        return known_[rank] == UCS_OK ? all_.find(rank, found) : known_[rank];
    }
    std::size_t cached_count() const noexcept override { return all_.cached_count(); }
    void serve() noexcept override { ++served; }
    // UCS_INPROGRESS: the address is not known yet; UCS_OK: it is; an error: it cannot be found.
    void set(rank_t rank, ucs_status_t status) { known_[rank] = status; }
    void replace(rank_t rank, std::vector<std::byte> address) {
        replaced_ = rank;
        replacement_ = std::move(address);
    }
    // Returns whether an endpoint to the rank was made, or was to be made.
    [[nodiscard]] bool was_looked_up(rank_t rank) const { return wanted_[rank]; }

    unsigned served = 0;

private:
    ucg::net::full_address_book all_;
    std::vector<ucs_status_t> known_;
    std::vector<bool> wanted_;
    std::optional<rank_t> replaced_;
    std::vector<std::byte> replacement_;
};

struct member {
    // Sends that are not received are given up soon.
    static constexpr ucs::time::nanoseconds send_timeout = 50'000'000;

    member(context& context, rank_t rank, ucg::net::member_addresses all)
        : fabric(context.worker, context.control, 5, rank, std::move(all), send_timeout) {}

    ucg::schedule::frame_pool frames;
    ucp_fabric fabric;
};

using operations = std::vector<std::unique_ptr<operation>>;

void start_all(const operations& all) {
    for (const auto& each : all)
        if (each != nullptr) each->start();
}

bool all_ended(const operations& all) {
    return std::ranges::all_of(
        all, [](const auto& each) { return each == nullptr || each->status() != UCS_INPROGRESS; });
}

struct group {
    group(rank_t size, const char* transports) {
        std::size_t length = 0;
        for (rank_t i = 0; i < size; ++i) {
            contexts.push_back(std::make_unique<context>(transports));
            REQUIRE(contexts.back()->control.listen(contexts.back()->worker) == UCS_OK);
            length = std::max(length, contexts.back()->address().size());
        }
        std::vector<std::byte> all(size * length);
        for (rank_t i = 0; i < size; ++i)
            std::ranges::copy(contexts[i]->address(), all.data() + i * length);
        for (rank_t i = 0; i < size; ++i) {
            books.push_back(std::make_shared<delayed_book>(all, length));
            members.push_back(std::make_unique<member>(*contexts[i], i,
                                                       ucg::net::member_addresses(books[i], size)));
        }
    }
    ~group() {
        run_until([&] {
            bool closed = true;
            for (const auto& each : members)
                closed = (each == nullptr || each->fabric.close()) && closed;
            return closed;
        });
    }

    bool run_until(const std::function<bool()>& done) {
        for (std::size_t turns = 0; turns < 200'000'000; ++turns) {
            if (done()) return true;
            for (std::size_t i = 0; i < contexts.size(); ++i) {
                if (contexts[i] == nullptr || asleep == i) continue;
                ucp_worker_progress(contexts[i]->worker);
                members[i]->fabric.progress();
            }
        }
        return false;
    }
    void finish(const operations& all) {
        REQUIRE(run_until([&all] { return all_ended(all); }));
    }
    void run(const operations& all) {
        start_all(all);
        finish(all);
    }
    void take_turns(unsigned turns) {
        run_until([&turns] { return turns-- == 0; });
    }
    // Makes an operation of each rank; args_of(rank) returns its arguments.
    template<class ArgsOf>
    operations make(const algorithm& algorithm, const ArgsOf& args_of) {
        operations all;
        for (rank_t i = 0; i < members.size(); ++i) {
            all.push_back(std::make_unique<operation>(members[i]->fabric, members[i]->frames));
            REQUIRE(all.back()->init(algorithm, args_of(i)) == UCS_OK);
        }
        return all;
    }
    operations make_barriers() {
        return make(*ucg::algo::find(collective::barrier, "dissemination"),
                    [](rank_t) { return call(); });
    }
    operations make_bcasts(std::string_view name, std::vector<std::vector<std::byte>>& data,
                           rank_t root = 0) {
        const algorithm* const found = ucg::algo::find(collective::bcast, name);
        REQUIRE(found != nullptr);
        return make(*found, [&](rank_t rank) {
            return call{.kind = collective::bcast,
                        .into = data[rank].data(),
                        .count = data[rank].size(),
                        .root = root};
        });
    }
    // This rank dies without notifying the others.
    void kill(rank_t which) {
        members[which].reset();
        contexts[which].reset();
    }

    std::vector<std::unique_ptr<context>> contexts;
    std::vector<std::shared_ptr<delayed_book>> books;
    std::vector<std::unique_ptr<member>> members;
    std::optional<rank_t> asleep;  // lives, but makes no progress
};

}  // namespace

TEST_CASE("every allreduce algorithm runs over ucp, with short and long vectors, repeatedly") {
    const char* const transports = GENERATE("sm,self", "tcp,self");
    const rank_t size = GENERATE(1U, 2U, 5U);
    group in(size, transports);
    const ucg::schedule::kernel_reducer sum(ucg::reduce::element::int32,
                                            ucg::reduce::operation::sum, size);
    for (const auto& algorithm : ucg::algo::algorithms(collective::allreduce)) {
        for (const std::size_t count : {0U, 1U, 777U, 100'003U}) {
            CAPTURE(transports, size, algorithm.name, count);
            std::vector<std::vector<std::int32_t>> from(size, std::vector<std::int32_t>(count));
            std::vector<std::vector<std::int32_t>> into(size, std::vector<std::int32_t>(count));
            const auto args_of = [&](rank_t rank) {
                call args;
                args.kind = collective::allreduce;
                args.from = from[rank].data();
                args.into = into[rank].data();
                args.count = count;
                args.element = sizeof(std::int32_t);
                args.op = &sum;
                return args;
            };
            if (!ucg::schedule::can_run(algorithm, args_of(0), {.ranks = size}, false)) continue;
            const operations all = in.make(algorithm, args_of);
            for (std::int32_t round = 1; round <= 3; ++round) {
                for (rank_t i = 0; i < size; ++i)
                    std::iota(from[i].begin(), from[i].end(), round * static_cast<int>(i + 1));
                in.run(all);
                for (rank_t i = 0; i < size; ++i) {
                    REQUIRE(all[i]->status() == UCS_OK);
                    REQUIRE(into[i] == into[0]);
                }
                const auto ranks = static_cast<std::int32_t>(size);
                for (std::size_t k = 0; k < count; ++k) {
                    const std::int32_t base = round * ranks * (ranks + 1) / 2;
                    REQUIRE(into[0][k] == base + ranks * static_cast<std::int32_t>(k));
                }
            }
        }
    }
}

TEST_CASE("the death of a rank ends the operations that wait for it, also if no rank sends to it") {
    const char* const transports = GENERATE("sm,self", "tcp,self");
    const std::string name = GENERATE("binomial", "chain");
    const std::size_t count = GENERATE(8U, 1'000'000U);
    CAPTURE(transports, name, count);
    constexpr rank_t size = 4;
    group in(size, transports);
    std::vector<std::vector<std::byte>> data(size, std::vector<std::byte>(count));
    operations all = in.make_bcasts(name, data);
    // The first run makes connections; the second runs without the root.
    in.run(all);
    all[0].reset();
    in.kill(0);
    in.run(all);
    for (rank_t i = 1; i < size; ++i) {
        CHECK(all[i]->status() != UCS_OK);
        CHECK(all[i]->missing().empty());
    }
}

TEST_CASE("an operation that fails on one rank fails on all, and the group remains usable") {
    const char* const transports = GENERATE("sm,self", "tcp,self");
    constexpr rank_t size = 5;
    constexpr std::size_t count =
        300'000;  // sent by rendezvous, so that senders wait for receivers
    group in(size, transports);
    std::vector<std::vector<std::byte>> data(size, std::vector<std::byte>(count));
    operations broken = in.make_bcasts("binomial", data);
    start_all(broken);
    broken[3]->fail(UCS_ERR_TIMED_OUT);
    in.finish(broken);
    CHECK(broken[3]->status() == UCS_ERR_TIMED_OUT);
    operations next = in.make_bcasts("binomial", data, 2);
    std::ranges::fill(data[2], std::byte{9});
    in.run(next);
    for (rank_t i = 0; i < size; ++i) {
        CHECK(next[i]->status() == UCS_OK);
        CHECK(data[i] == data[2]);
    }
}

TEST_CASE("a failed operation does not wait for ever for a rank that receives nothing") {
    const char* const transports = GENERATE("sm,self", "tcp,self");
    CAPTURE(transports);
    test::log_capture captured;
    group in(2, transports);
    std::vector<std::vector<std::byte>> data(2, std::vector<std::byte>(4'000'000, std::byte{7}));
    // The first run succeeds and makes a connection.
    operations all = in.make_bcasts("binomial", data);
    in.run(all);

    in.asleep = 1;
    all[0]->start();
    all[0]->fail(UCS_ERR_TIMED_OUT);
    CHECK(all[0]->status() == UCS_INPROGRESS);  // the peer may read its memory
    REQUIRE(in.run_until([&] { return all[0]->status() != UCS_INPROGRESS; }));
    CHECK(all[0]->status() == UCS_ERR_TIMED_OUT);
    CHECK(captured.count("rank 1 does not take what was sent to it") == 1);
    // A rank that was given up counts as lost.
    all[0]->start();
    REQUIRE(in.run_until([&] { return all[0]->status() != UCS_INPROGRESS; }));
    CHECK(all[0]->status() == UCS_ERR_TIMED_OUT);
    in.asleep.reset();
}

TEST_CASE("hundreds of failed operations are reported once") {
    group in(3, "sm,self");
    operations all;
    for (int i = 0; i < 300; ++i)
        std::ranges::move(in.make_barriers(), std::back_inserter(all));
    // Rank 0 fails all its operations before the others have started any.
    for (std::size_t i = 0; i < all.size(); i += 3) {
        all[i]->start();
        all[i]->fail(UCS_ERR_CANCELED);
    }
    for (int i = 0; i < 2000; ++i)
        in.take_turns(1);
    for (std::size_t i = 0; i < all.size(); ++i)
        if (i % 3 != 0) all[i]->start();
    in.finish(all);
    for (const auto& each : all)
        CHECK(each->status() == UCS_ERR_CANCELED);
    // Then no more messages are sent.
    unsigned moved = 0;
    for (int i = 0; i < 20000; ++i) {
        if (i == 10000) moved = 0;
        for (std::size_t rank = 0; rank < 3; ++rank)
            moved += ucp_worker_progress(in.contexts[rank]->worker);
    }
    CHECK(moved == 0);
}

namespace {

ucp_ep_h endpoint_to(const group& in, rank_t from, rank_t to) {
    const std::vector<std::byte> address = in.contexts[to]->address();
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address = reinterpret_cast<const ucp_address_t*>(address.data());
    ucp_ep_h endpoint = nullptr;
    REQUIRE(ucp_ep_create(in.contexts[from]->worker, &params, &endpoint) == UCS_OK);
    return endpoint;
}

void send_by(ucp_ep_h endpoint, const void* header, std::size_t bytes) {
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    params.flags = UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_COPY_HEADER | UCP_AM_SEND_FLAG_REPLY;
    void* const sent =
        ucp_am_send_nbx(endpoint, control_messages::am_id, header, bytes, nullptr, 0, &params);
    REQUIRE(!UCS_PTR_IS_ERR(sent));
    if (UCS_PTR_IS_PTR(sent)) ucp_request_free(sent);
}

void close(group& in, ucp_ep_h endpoint) {
    const ucp_request_param_t none{};
    void* const closed = ucp_ep_close_nbx(endpoint, &none);
    REQUIRE(in.run_until(
        [&] { return !UCS_PTR_IS_PTR(closed) || ucp_request_check_status(closed) == UCS_OK; }));
    if (UCS_PTR_IS_PTR(closed)) ucp_request_free(closed);
}

// Sends a control message with any content to a rank, as a peer might.
void send_raw(group& in, rank_t from, rank_t to, const void* header, std::size_t bytes) {
    const ucp_ep_h endpoint = endpoint_to(in, from, to);
    send_by(endpoint, header, bytes);
    close(in, endpoint);
}

}  // namespace

TEST_CASE("straggler reports and queries of peers are validated") {
    constexpr rank_t size = 4;
    group in(size, "sm,self");
    operations all = in.make_barriers();
    for (rank_t i = 0; i < size - 1; ++i)
        all[i]->start();
    ucp_fabric& me = in.members[0]->fabric;
    REQUIRE(in.run_until([&] { return me.stragglers(*all[0]) == std::vector<rank_t>{3}; }));
    const std::uint64_t number = all[0]->number();
    const control_messages::reply replies[] = {
        {5, 3, number, 6, 0, {1, 1, 1, 1, 1}, {}},  // more than there is room for
        {5, 3, number, 0, 6, {}, {1, 1, 1, 1, 1}},
        {5, 3, number, UINT32_MAX, UINT32_MAX, {1}, {1}},  // many more
        {5, 3, number + 1, 0, 0, {}, {}},                  // of an operation that was not started
        {5, 3, ~number, 0, 0, {}, {}},                     // of no operation
        {5, UINT32_MAX, number, 1, 1, {2}, {3}},           // of no rank
        // about ranks that do not exist, and this one
        {5, 1, number, 3, 3, {UINT32_MAX, size, 0}, {UINT32_MAX, size, 0}},
        {6, 3, number, 0, 0, {}, {}},  // of another group
    };
    for (const control_messages::reply& each : replies)
        send_raw(in, 1, 0, &each, sizeof each);
    const std::vector<std::byte> nothing(64);
    for (const std::size_t bytes : {0U, 1U, 15U, 23U, 25U, 40U, 63U})
        send_raw(in, 1, 0, nothing.data(), bytes);
    const control_messages::query queries[] = {{5, UINT32_MAX, 0, 0, number},
                                               {5, 1, 77, 0, ~number}};
    for (const control_messages::query& each : queries)
        send_raw(in, 1, 0, &each, sizeof each);
    CHECK(me.stragglers(*all[0]) == std::vector<rank_t>{3});
    REQUIRE(me.reply_to_asker(number, 1));
    CHECK(me.reply_to_asker(number, 1)->waiting_for == std::vector<rank_t>{3});
    CHECK(!me.reply_to_asker(number + 1, 1));
    CHECK(!me.reply_to_asker(number, size));
    all[3]->start();
    in.finish(all);
    for (const auto& each : all)
        CHECK(each->status() == UCS_OK);
    REQUIRE(me.reply_to_asker(number, 1));
    CHECK(me.reply_to_asker(number, 1)->waiting_for.empty());  // the operation has ended
}

TEST_CASE("queries in the names of other ranks cost at most a few endpoints") {
    constexpr rank_t size = 12, last = size - 1;
    group in(size, "sm,self");
    operations all = in.make_barriers();
    ucp_fabric& me = in.members[0]->fabric;
    all[0]->start();  // it sends to rank 1 and waits for the last rank
    const std::uint64_t number = all[0]->number();
    REQUIRE(in.run_until([&] { return in.books[0]->was_looked_up(last); }));
    for (rank_t name = 1; name < size; ++name) {
        const control_messages::query query{5, name, 0, 0, number};
        send_raw(in, 1, 0, &query, sizeof query);
    }
    const control_messages::reply other{5, last, number, 1, 0, {6}, {}};
    send_raw(in, 1, 0, &other, sizeof other);
    REQUIRE(in.run_until([&] { return me.stragglers(*all[0]) == std::vector<rank_t>{6}; }));
    in.take_turns(2000);
    int looked_up = 0;
    for (rank_t name = 2; name < last; ++name)
        looked_up += in.books[0]->was_looked_up(name) ? 1 : 0;
    CHECK(looked_up == 4);
    for (rank_t i = 1; i < size; ++i)
        all[i]->start();
    in.finish(all);
}

namespace {

// Each rank waits for the one before it, and rank 0 has not started. No rank has an endpoint to the
// next one.
struct waiting_chain {
    explicit waiting_chain(rank_t size)
        : in(size, "sm,self"),
          data(size, std::vector<std::byte>(8)),
          all(in.make_bcasts("chain", data)) {
        for (rank_t i = 1; i < size; ++i)
            all[i]->start();
    }
    [[nodiscard]] bool names_root_at_end() const {
        return in.members.back()->fabric.stragglers(*all.back()) == std::vector<rank_t>{0};
    }
    void take_time(ucs::time::nanoseconds time) {
        test::virtual_time::now += time;
        in.take_turns(200);
    }
    // Starts rank 0 as well.
    void finish() {
        all[0]->start();
        for (int i = 0; i < 1000 && !all_ended(all); ++i)
            take_time(ucs::time::millisecond);
        CHECK(all_ended(all));
    }

    group in;
    std::vector<std::vector<std::byte>> data;
    operations all;
    const test::virtual_time clock;  // ends before the group, which takes time to close
};

}  // namespace

TEST_CASE("stragglers are reported along a chain of ranks in one round of queries") {
    waiting_chain chain(8);
    const ucs::time::nanoseconds begin = ucs::time::now();
    const auto second_round = begin + 200 * ucs::time::millisecond;
    while (!chain.names_root_at_end() && ucs::time::now() < second_round)
        chain.take_time(ucs::time::millisecond);
    CHECK(ucs::time::now() < second_round);
    chain.finish();
}

// The ranks after the fifth one get no endpoints, and query again.
TEST_CASE("stragglers are reported along a chain of ranks without endpoints for askers") {
    constexpr rank_t size = 12;
    waiting_chain chain(size);
    for (rank_t rank = 5; rank < size - 1; ++rank)
        for (rank_t name = 0; name < 4; ++name)
            REQUIRE(chain.in.members[rank]->fabric.reply_to_asker(chain.all[rank]->number(), name));
    const ucs::time::nanoseconds begin = ucs::time::now();
    while (!chain.names_root_at_end() && ucs::time::now() - begin < 20 * ucs::time::second)
        chain.take_time(10 * ucs::time::millisecond);
    CHECK(ucs::time::now() - begin < 2 * ucs::time::second);
    chain.finish();
}

// Before a fix, each rank queried all ranks that others reported, so every rank made an endpoint to
// the late one.
TEST_CASE("all ranks name a late rank, and only ranks that wait for it query it") {
    const std::string name = GENERATE("ring", "recursive_doubling");
    constexpr rank_t size = 8, late = 5;
    group in(size, "sm,self");
    const auto* const algorithm = ucg::algo::find(collective::allgather, name);
    REQUIRE(algorithm != nullptr);
    std::vector<std::vector<std::uint32_t>> from(size, {7}),
        into(size, std::vector<std::uint32_t>(size));
    const operations all = in.make(*algorithm, [&](rank_t rank) {
        call args;
        args.kind = collective::allgather;
        args.from = from[rank].data();
        args.into = into[rank].data();
        args.count = sizeof(std::uint32_t);
        return args;
    });
    for (rank_t i = 0; i < size; ++i)
        if (i != late) all[i]->start();
    REQUIRE(in.run_until([&] {
        for (rank_t i = 0; i < size; ++i)
            if (i != late && in.members[i]->fabric.stragglers(*all[i]) != std::vector<rank_t>{late})
                return false;
        return true;
    }));
    for (rank_t i = 0; i < size; ++i) {
        CAPTURE(name, i);
        const bool sends = name == "ring" && i == late - 1;
        CHECK(in.books[i]->was_looked_up(late) == (all[i]->is_waiting_for(late) || sends));
    }
    all[late]->start();
    in.finish(all);
    for (rank_t i = 0; i < size; ++i) {
        CHECK(all[i]->status() == UCS_OK);
        CHECK(into[i] == std::vector<std::uint32_t>(size, 7));
    }
}

// --- addresses that are not known yet ---

namespace {

// Rank 0 sends numbers to each of the others: some at the same time, and one more when the first
// has been sent.
struct numbers final : ucg::schedule::program {
    static constexpr std::uint32_t at_once = 5;

    // Some are long, so that they end later.
    static std::size_t words(std::uint32_t which) { return which % 2 == 1 ? 100'000 : 1; }

    task run(ucg::schedule::member& me) noexcept override {
        if (me.rank() == 0) {
            for (rank_t to = 1; to < me.size(); ++to)
                co_await send_all(me, to, data);
        } else {
            for (auto& each : data)
                co_await me.receive(0, each.data(), each.size() * 4);
        }
    }
    static task send_all(ucg::schedule::member& me, rank_t to,
                         std::vector<std::vector<std::uint32_t>>& all) {
        auto first = me.send(to, all[0].data(), all[0].size() * 4);
        auto second = me.send(to, all[1].data(), all[1].size() * 4);
        auto third = me.send(to, all[2].data(), all[2].size() * 4);
        auto fourth = me.send(to, all[3].data(), all[3].size() * 4);
        co_await first;
        co_await me.send(to, all[4].data(), all[4].size() * 4);
        co_await second;
        co_await third;
        co_await fourth;
    }

    explicit numbers(bool gives) {
        for (std::uint32_t i = 0; i < at_once; ++i)
            data.emplace_back(words(i), gives ? 10 + i : 0);
    }
    std::vector<std::vector<std::uint32_t>> data;
};

struct run_of_numbers {
    run_of_numbers(group& in, rank_t size) {
        for (rank_t i = 0; i < size; ++i) {
            programs.push_back(std::make_unique<numbers>(i == 0));
            all.push_back(
                std::make_unique<operation>(in.members[i]->fabric, in.members[i]->frames));
            all.back()->init(*programs.back());
        }
    }
    void check_content() const {
        for (const auto& each : programs)
            for (std::uint32_t i = 0; i < numbers::at_once; ++i)
                CHECK(each->data[i] == programs[0]->data[i]);
    }

    std::vector<std::unique_ptr<numbers>> programs;
    operations all;
};

}  // namespace

TEST_CASE("sends to a rank whose address is not known yet go out in order later") {
    const char* const transports = GENERATE("sm,self", "tcp,self");
    CAPTURE(transports);
    constexpr rank_t size = 4;
    group in(size, transports);
    for (rank_t rank = 1; rank < size; ++rank)
        in.books[0]->set(rank, UCS_INPROGRESS);
    run_of_numbers run(in, size);
    start_all(run.all);
    for (rank_t rank = 1; rank < size; ++rank) {
        in.take_turns(200);
        CHECK(run.all[rank]->status() == UCS_INPROGRESS);
        in.books[0]->set(rank, UCS_OK);
        REQUIRE(in.run_until([&] { return run.all[rank]->status() != UCS_INPROGRESS; }));
    }
    in.finish(run.all);
    for (const auto& each : run.all)
        CHECK(each->status() == UCS_OK);
    run.check_content();
    CHECK(in.books[0]->served > 0);
}

TEST_CASE("an operation that finds an awaited address does not overtake earlier sends") {
    constexpr rank_t size = 2;
    group in(size, "sm,self");
    in.books[0]->set(1, UCS_INPROGRESS);
    run_of_numbers first(in, size), second(in, size);
    start_all(first.all);
    // The address is found while the second run posts its sends.
    in.books[0]->set(1, UCS_OK);
    start_all(second.all);
    REQUIRE(in.run_until([&] { return all_ended(first.all) && all_ended(second.all); }));
    for (const auto* const each : {&first, &second}) {
        CHECK(each->all[0]->status() == UCS_OK);
        CHECK(each->all[1]->status() == UCS_OK);
        each->check_content();
    }
}

TEST_CASE("a rank whose address cannot be found counts as lost") {
    constexpr rank_t size = 4;
    group in(size, "sm,self");
    in.books[0]->set(2, UCS_INPROGRESS);
    run_of_numbers run(in, size);
    start_all(run.all);
    REQUIRE(in.run_until([&] { return run.all[1]->status() != UCS_INPROGRESS; }));
    in.books[0]->set(2, UCS_ERR_TIMED_OUT);
    // Rank 3, which waits, learns of it from another rank.
    in.finish(run.all);
    CHECK(run.all[0]->status() == UCS_ERR_TIMED_OUT);
    CHECK(run.all[1]->status() == UCS_OK);
    CHECK(run.all[3]->status() == UCS_ERR_TIMED_OUT);
    // The rank counts as lost from then on.
    in.books[0]->set(2, UCS_OK);
    run_of_numbers again(in, size);
    in.run(again.all);
    CHECK(again.all[0]->status() == UCS_ERR_TIMED_OUT);
}

TEST_CASE("a receive from a rank whose address cannot be found ends") {
    constexpr rank_t size = 2;
    group in(size, "sm,self");
    in.books[1]->set(0, UCS_INPROGRESS);
    run_of_numbers run(in, size);
    run.all[1]->start();
    in.take_turns(200);
    CHECK(run.all[1]->status() == UCS_INPROGRESS);
    in.books[1]->set(0, UCS_ERR_CONNECTION_RESET);
    REQUIRE(in.run_until([&] { return run.all[1]->status() != UCS_INPROGRESS; }));
    CHECK(run.all[1]->status() == UCS_ERR_CONNECTION_RESET);
}

namespace {

// The address of a worker that no transport reaches.
std::vector<std::byte> address_without_entries() {
    ucp::address::worker_address made;
    made.identity = ucs::security::key_pair::random().public_half();
    return ucp::address::pack(made, false);
}

}  // namespace

TEST_CASE("an unreachable address ends the operations that wait for the rank") {
    // ucp reports it within the send of the query, while the searches of all operations are
    // iterated over.
    constexpr rank_t size = 2;
    group in(size, "sm,self");
    in.books[1]->replace(0, address_without_entries());
    run_of_numbers run(in, size);
    run.all[1]->start();
    REQUIRE(in.run_until([&] { return run.all[1]->status() != UCS_INPROGRESS; }));
    CHECK(run.all[1]->status() == UCS_ERR_UNREACHABLE);
}

TEST_CASE("queries of a rank that does not read take bounded memory") {
    group in(2, "sm,self");
    in.contexts[0]->control.set_group_check([](void*, std::uint32_t) { return false; }, nullptr);
    const ucp_ep_h endpoint = endpoint_to(in, 1, 0);
    const control_messages::query query{6, 1, 0, 0, 1};  // about a group that will never be made
    send_by(endpoint, &query, sizeof query);
    in.take_turns(200);
    in.asleep = 1;
    for (int i = 0; i < 20'000; ++i) {
        send_by(endpoint, &query, sizeof query);
        ucp_worker_progress(in.contexts[0]->worker);
    }
    CHECK(ucp::capi::from(in.contexts[0]->worker).requests().in_use() < 200);
    in.asleep.reset();
    in.take_turns(2000);
    CHECK(ucp::capi::from(in.contexts[0]->worker).requests().in_use() < 10);
    close(in, endpoint);
}

TEST_CASE("a failed operation drops sends that wait for an address, and is reported later") {
    constexpr rank_t size = 4;
    group in(size, "sm,self");
    for (rank_t rank = 1; rank < size; ++rank)
        in.books[0]->set(rank, UCS_INPROGRESS);
    run_of_numbers run(in, size), next(in, size);
    start_all(run.all);
    run.all[0]->fail(UCS_ERR_CANCELED);
    // Its memory is free at once: nothing of it is sent any more.
    CHECK(run.all[0]->status() == UCS_ERR_CANCELED);
    in.take_turns(200);
    for (rank_t rank = 1; rank < size; ++rank)
        CHECK(run.all[rank]->status() == UCS_INPROGRESS);
    // Sends of another operation stay, and are not taken for those of the first.
    start_all(next.all);
    for (rank_t rank = 1; rank < size; ++rank)
        in.books[0]->set(rank, UCS_OK);
    REQUIRE(in.run_until([&] { return all_ended(run.all) && all_ended(next.all); }));
    for (rank_t rank = 0; rank < size; ++rank) {
        CHECK(run.all[rank]->status() == UCS_ERR_CANCELED);
        CHECK(next.all[rank]->status() == UCS_OK);
    }
    next.check_content();
}

namespace {

// Every rank has the same address, which lies at the end of readable memory.
class edge_book final : public ucg::net::address_book {
public:
    explicit edge_book(std::span<const std::byte> address)
        : pages_(::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                        0)) {
        REQUIRE(pages_ != MAP_FAILED);
        auto* const end = static_cast<std::byte*>(pages_) + page;
        REQUIRE(::mprotect(end, page, PROT_NONE) == 0);
        address_ = {end - address.size(), address.size()};
        std::ranges::copy(address, address_.begin());
    }
    ~edge_book() override { ::munmap(pages_, 2 * page); }

    ucs_status_t find(rank_t, std::span<const std::byte>& found) noexcept override {
        found = address_;
        return UCS_OK;
    }
    std::size_t cached_count() const noexcept override { return 1; }

private:
    static constexpr std::size_t page = 65536;
    void* const pages_;
    std::span<std::byte> address_;
};

}  // namespace

TEST_CASE("an address that claims a wrong length is refused, and not read beyond its end") {
    namespace wire = ucp::address::wire;
    context own("tcp,self");
    std::vector<std::byte> address = own.address();
    address.resize(wire::header_size + 32);
    address[wire::length_at] = std::byte{0};
    address[wire::length_at + 1] = std::byte{ucp::address::max_packed_size >> 8U};
    address[wire::check_at] = std::byte{wire::header_check(address)};
    ucg::net::peers all(
        own.worker, ucg::net::member_addresses(std::make_shared<edge_book>(address), 1),
        [](void*, rank_t, ucs_status_t) {}, [](void*, rank_t, ucp_ep_h) {}, nullptr);
    CHECK(all.endpoint(0).status() == UCS_ERR_INVALID_ADDR);
}
