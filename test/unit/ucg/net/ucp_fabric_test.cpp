// The algorithms over ucp, several ranks in one process, each with a context and a worker.
#include "ucg/net/ucp_fabric.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "ucg/algo/table.hpp"
#include "ucg/reduce/element.hpp"
#include "ucg/schedule/operation.hpp"
#include "ucg/schedule/reducer.hpp"

namespace {

using ucg::net::news;
using ucg::net::ucp_fabric;
using ucg::schedule::call;
using ucg::schedule::collective;
using ucg::schedule::operation;
using ucg::schedule::rank_t;

struct context {
    explicit context(const char* transports) {
        ucp_config_t* config = nullptr;
        REQUIRE(ucp_config_read(nullptr, nullptr, &config) == UCS_OK);
        REQUIRE(ucp_config_modify(config, "TLS", transports) == UCS_OK);
        ucp_params_t params{};
        params.field_mask = UCP_PARAM_FIELD_FEATURES;
        params.features = UCP_FEATURE_TAG | UCP_FEATURE_AM;
        REQUIRE(ucp_init(&params, config, &of) == UCS_OK);
        ucp_config_release(config);
        const ucp_worker_params_t none{};
        REQUIRE(ucp_worker_create(of, &none, &worker) == UCS_OK);
    }
    ~context() {
        ucp_worker_destroy(worker);
        ucp_cleanup(of);
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

    ucp_context_h of = nullptr;
    ucp_worker_h worker = nullptr;
    news told;
};

struct member {
    member(context& at, rank_t rank, const std::vector<std::byte>& addresses, std::size_t length)
        : fabric(at.worker, at.told, 5, rank, addresses, length) {}

    ucg::schedule::frame_pool frames;
    ucp_fabric fabric;
};

struct group {
    group(rank_t size, const char* transports) {
        std::size_t length = 0;
        for (rank_t i = 0; i < size; ++i) {
            contexts.push_back(std::make_unique<context>(transports));
            REQUIRE(contexts.back()->told.listen(contexts.back()->worker) == UCS_OK);
            length = std::max(length, contexts.back()->address().size());
        }
        std::vector<std::byte> all(size * length);
        for (rank_t i = 0; i < size; ++i)
            std::ranges::copy(contexts[i]->address(), all.data() + i * length);
        for (rank_t i = 0; i < size; ++i)
            members.push_back(std::make_unique<member>(*contexts[i], i, all, length));
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
                if (contexts[i] == nullptr) continue;
                ucp_worker_progress(contexts[i]->worker);
                members[i]->fabric.progress();
            }
        }
        return false;
    }
    // This rank dies without a word.
    void kill(rank_t which) {
        members[which].reset();
        contexts[which].reset();
    }

    std::vector<std::unique_ptr<context>> contexts;
    std::vector<std::unique_ptr<member>> members;
};

using operations = std::vector<std::unique_ptr<operation>>;

void start_all(operations& all) {
    for (const auto& each : all)
        if (each != nullptr) each->start();
}

bool all_ended(const operations& all) {
    return std::ranges::all_of(
        all, [](const auto& each) { return each == nullptr || each->status() != UCS_INPROGRESS; });
}

}  // namespace

TEST_CASE("every allreduce algorithm runs over ucp, short and long, again and again") {
    const char* const transports = GENERATE("sm,self", "tcp,self");
    const rank_t size = GENERATE(1U, 2U, 5U);
    group in(size, transports);
    const ucg::schedule::kernel_reducer sum(ucg::reduce::element::int32,
                                            ucg::reduce::operation::sum, size);
    for (const auto& by : ucg::algo::algorithms(collective::allreduce)) {
        for (const std::size_t count : {0U, 1U, 777U, 100'003U}) {
            CAPTURE(transports, size, by.name, count);
            std::vector<std::vector<std::int32_t>> from(size, std::vector<std::int32_t>(count));
            std::vector<std::vector<std::int32_t>> into(size, std::vector<std::int32_t>(count));
            operations all;
            for (rank_t i = 0; i < size; ++i) {
                call what;
                what.what = collective::allreduce;
                what.from = from[i].data();
                what.into = into[i].data();
                what.count = count;
                what.element = sizeof(std::int32_t);
                what.how = &sum;
                if (!ucg::schedule::fits(by, what, {.ranks = size}, false)) break;
                all.push_back(
                    std::make_unique<operation>(in.members[i]->fabric, in.members[i]->frames));
                REQUIRE(all.back()->init(by, what) == UCS_OK);
            }
            if (all.size() < size) continue;
            for (std::int32_t round = 1; round <= 3; ++round) {
                for (rank_t i = 0; i < size; ++i)
                    std::iota(from[i].begin(), from[i].end(), round * static_cast<int>(i + 1));
                start_all(all);
                REQUIRE(in.run_until([&] { return all_ended(all); }));
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

TEST_CASE("a rank that dies ends what the others wait for, also where nobody sends to it") {
    const char* const transports = GENERATE("sm,self", "tcp,self");
    const std::string name = GENERATE("binomial", "chain");
    const std::size_t count = GENERATE(8U, 1'000'000U);
    CAPTURE(transports, name, count);
    constexpr rank_t size = 4;
    group in(size, transports);
    std::vector<std::vector<std::byte>> data(size, std::vector<std::byte>(count));
    const auto* const by = ucg::algo::find(collective::bcast, name);
    REQUIRE(by != nullptr);
    operations all;
    for (rank_t i = 0; i < size; ++i) {
        call what;
        what.what = collective::bcast;
        what.into = data[i].data();
        what.count = count;
        all.push_back(std::make_unique<operation>(in.members[i]->fabric, in.members[i]->frames));
        REQUIRE(all.back()->init(*by, what) == UCS_OK);
    }
    // Once, so that there are connections; then without the root.
    start_all(all);
    REQUIRE(in.run_until([&] { return all_ended(all); }));
    all[0].reset();
    in.kill(0);
    start_all(all);
    REQUIRE(in.run_until([&] { return all_ended(all); }));
    for (rank_t i = 1; i < size; ++i) {
        CHECK(all[i]->status() != UCS_OK);
        CHECK(all[i]->missing().empty());
    }
}

TEST_CASE("an operation that fails at one rank fails at all, and the group goes on") {
    const char* const transports = GENERATE("sm,self", "tcp,self");
    constexpr rank_t size = 5;
    constexpr std::size_t count = 300'000;  // announced, so that senders wait for receivers
    group in(size, transports);
    std::vector<std::vector<std::byte>> data(size, std::vector<std::byte>(count));
    const auto* const by = ucg::algo::find(collective::bcast, "binomial");
    REQUIRE(by != nullptr);
    const auto make = [&](rank_t root) {
        operations all;
        for (rank_t i = 0; i < size; ++i) {
            call what;
            what.what = collective::bcast;
            what.into = data[i].data();
            what.count = count;
            what.root = root;
            all.push_back(
                std::make_unique<operation>(in.members[i]->fabric, in.members[i]->frames));
            REQUIRE(all.back()->init(*by, what) == UCS_OK);
        }
        return all;
    };
    operations broken = make(0);
    start_all(broken);
    broken[3]->fail(UCS_ERR_TIMED_OUT);
    REQUIRE(in.run_until([&] { return all_ended(broken); }));
    CHECK(broken[3]->status() == UCS_ERR_TIMED_OUT);
    operations next = make(2);
    std::ranges::fill(data[2], std::byte{9});
    start_all(next);
    REQUIRE(in.run_until([&] { return all_ended(next); }));
    for (rank_t i = 0; i < size; ++i) {
        CHECK(next[i]->status() == UCS_OK);
        CHECK(data[i] == data[2]);
    }
}
