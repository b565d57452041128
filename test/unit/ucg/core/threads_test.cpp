// Tests of several threads that use one context in thread mode MULTI at the same time.
// ThreadSanitizer checks the state that they share; the results show whether they disturb each
// other.
#include <fmt/format.h>
#include <ucg/api/ucg_moe.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "test/unit/ucg/core/moe_job.hpp"
#include "test/unit/ucg/oob/ranks.hpp"

namespace {

constexpr std::uint32_t threads = 3;  // of each rank
constexpr std::uint32_t rounds = 12;

using names = std::vector<std::string>;

// One node with its engine, messages between two nodes, and both.
names some_nodes() {
    return GENERATE(names{"a", "a"}, names{"a", "b"}, names{"a", "a", "b"});
}

// Several exchanges, each for one group.
class oob_sets {
public:
    oob_sets(std::uint32_t count, std::uint32_t ranks) : all_(count) {
        for (std::vector<ucg_oob_t*>& each : all_) {
            each.resize(ranks);
            REQUIRE(ucg_oob_create_local(ranks, each.data()) == UCS_OK);
        }
    }
    oob_sets(const oob_sets&) = delete;
    oob_sets& operator=(const oob_sets&) = delete;
    ~oob_sets() {
        for (const std::vector<ucg_oob_t*>& each : all_)
            for (ucg_oob_t* const one : each)
                ucg_oob_destroy(one);
    }
    [[nodiscard]] const ucg_oob_t* oob(std::uint32_t group, std::uint32_t rank) const {
        return all_[group][rank];
    }

private:
    std::vector<std::vector<ucg_oob_t*>> all_;
};

// A context of each rank, in thread mode MULTI.
class contexts {
public:
    explicit contexts(const names& nodes) : all_(nodes.size()) {
        const test::env transports("UCX_TLS", "sm,self");
        for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
            const test::env node("UCG_NODE_ID", nodes[rank].c_str());
            ucg_context_params_t params = UCG_CONTEXT_PARAMS_INIT;
            params.thread_mode = UCS_THREAD_MODE_MULTI;
            REQUIRE(ucg_context_create(&params, &all_[rank]) == UCS_OK);
        }
    }
    contexts(const contexts&) = delete;
    contexts& operator=(const contexts&) = delete;
    ~contexts() {
        for (const ucg_context_h each : all_)
            ucg_context_destroy(each);
    }
    [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(all_.size()); }
    [[nodiscard]] ucg_context_h context(std::uint32_t rank) const { return all_[rank]; }

private:
    std::vector<ucg_context_h> all_;
};

// The state of a thread and its complaint; the first complaint ends it.
struct seat {
    std::uint32_t rank;
    std::uint32_t thread;
    ucg_context_h context;
};
using body = std::function<std::string(const seat&)>;

// Runs every thread of every rank at the same time.
std::string run(const contexts& in, const body& work) {
    return test::run_as_threads(in.ranks() * threads, [&](std::uint32_t index) {
        const std::uint32_t rank = index / threads;
        const std::string wrong = work({rank, index % threads, in.context(rank)});
        return wrong.empty()
                   ? wrong
                   : fmt::format("thread {} of rank {}: {}", index % threads, rank, wrong);
    });
}

// There are more threads than cores.
void move_on(const seat& me) {
    if (ucg_progress(me.context) == 0) std::this_thread::yield();
}

// A group that this thread makes and destroys.
class own_group {
public:
    own_group() = default;
    own_group(const own_group&) = delete;
    own_group& operator=(const own_group&) = delete;
    ~own_group() { ucg_group_destroy(made_); }

    ucs_status_t make(ucg_context_h context, const ucg_oob_t* oob) {
        ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
        params.oob = oob;
        const ucs_status_t status = ucg_group_create(context, &params, &made_);
        return status == UCS_OK ? ucg_group_wait(made_) : status;
    }
    ucs_status_t split(ucg_group_h parent, std::uint32_t color) {
        const ucs_status_t status = ucg_group_split(parent, color, 0, &made_);
        return status == UCS_OK ? ucg_group_wait(made_) : status;
    }
    [[nodiscard]] ucg_group_h handle() const { return made_; }

private:
    ucg_group_h made_ = nullptr;
};

// An allreduce whose result depends on the group, the round and the ranks that took part.
class sum {
public:
    static constexpr std::uint64_t count = 100;

    sum(std::uint32_t rank, std::uint32_t ranks, std::uint32_t tag) : tag_(tag), ranks_(ranks) {
        for (std::uint64_t i = 0; i < count; ++i)
            from_[i] = (rank + 1) * (i + tag);
    }
    [[nodiscard]] ucg_coll_args_t args() {
        return test::call_of(UCG_COLL_ALLREDUCE, from_, into_, count, UCG_TYPE_UINT64);
    }
    [[nodiscard]] std::string wrong() const {
        const std::uint64_t all = std::uint64_t{ranks_} * (ranks_ + 1) / 2;
        for (std::uint64_t i = 0; i < count; ++i)
            if (into_[i] != all * (i + tag_))
                return fmt::format("element {} of sum {} is {}", i, tag_, into_[i]);
        return {};
    }
    void spoil() { std::fill_n(into_, count, 7); }

private:
    std::uint32_t tag_, ranks_;
    std::uint64_t from_[count];
    std::uint64_t into_[count] = {};
};

std::string error_text(const char* call, ucs_status_t status) {
    return status == UCS_OK ? std::string()
                            : fmt::format("{}: {}", call, ucs_status_string(status));
}

std::string blocking_calls(ucg_group_h in, std::uint32_t rank, std::uint32_t ranks,
                           std::uint32_t tag) {
    std::string wrong = error_text("barrier", ucg_barrier(in));
    if (!wrong.empty()) return wrong;
    sum one(rank, ranks, tag);
    const ucg_coll_args_t args = one.args();
    wrong = error_text("allreduce", ucg_collective(in, &args));
    if (wrong.empty()) wrong = one.wrong();
    if (!wrong.empty()) return wrong;
    std::uint32_t value = rank == tag % ranks ? tag : 0;
    wrong = error_text("bcast", ucg_bcast(in, &value, 1, UCG_TYPE_UINT32, tag % ranks));
    if (wrong.empty() && value != tag) wrong = fmt::format("bcast {} gave {}", tag, value);
    if (!wrong.empty()) return wrong;
    const std::uint32_t mine = tag + rank;
    std::vector<std::uint32_t> all(ranks);
    wrong = error_text("allgather", ucg_allgather(in, &mine, all.data(), 1, UCG_TYPE_UINT32));
    for (std::uint32_t r = 0; r < ranks && wrong.empty(); ++r)
        if (all[r] != tag + r) wrong = fmt::format("allgather {} has {} of {}", tag, all[r], r);
    return wrong;
}

// Threads take turns, because operations of one group must start in the same order on all ranks.
class turns {
public:
    void wait_for(std::uint32_t number) const noexcept {
        while (now_.load(std::memory_order_acquire) != number)
            std::this_thread::yield();
    }
    void next() noexcept { now_.fetch_add(1, std::memory_order_release); }

private:
    std::atomic<std::uint32_t> now_ = 0;
};

}  // namespace

TEST_CASE("threads: each makes and uses groups of its own in one context") {
    contexts in(some_nodes());
    constexpr std::uint32_t lives = 3;  // of a thread's group
    const oob_sets sets(threads * lives, in.ranks());
    CHECK(run(in, [&](const seat& me) -> std::string {
              for (std::uint32_t life = 0; life < lives; ++life) {
                  own_group group;
                  const ucg_oob_t* const oob = sets.oob(me.thread * lives + life, me.rank);
                  std::string wrong = error_text("group", group.make(me.context, oob));
                  for (std::uint32_t round = 0; round < rounds && wrong.empty(); ++round)
                      wrong = blocking_calls(group.handle(), me.rank, in.ranks(),
                                             1000 * me.thread + 100 * life + round);
                  // No rank leaves while others need it to end.
                  if (wrong.empty())
                      wrong = error_text("last barrier", ucg_barrier(group.handle()));
                  if (!wrong.empty()) return wrong;
              }
              return {};
          }) == "");
}

TEST_CASE("threads: any thread waits for requests of one group that are started in turn") {
    contexts in(some_nodes());
    const oob_sets sets(1, in.ranks());
    std::vector<own_group> groups(in.ranks());
    CHECK(test::run_as_threads(in.ranks(), [&](std::uint32_t rank) {
              return error_text("group", groups[rank].make(in.context(rank), sets.oob(0, rank)));
          }) == "");
    std::vector<turns> order(in.ranks());
    CHECK(run(in, [&](const seat& me) -> std::string {
              constexpr std::uint32_t at_once = 3;
              const ucg_group_h group = groups[me.rank].handle();
              std::vector<sum> sums;
              std::vector<ucg_request_h> requests(at_once);
              for (std::uint32_t i = 0; i < at_once; ++i) {
                  sums.emplace_back(me.rank, in.ranks(), 10 * me.thread + i);
              }
              std::string wrong;
              for (std::uint32_t i = 0; i < at_once && wrong.empty(); ++i) {
                  const ucg_coll_args_t args = sums[i].args();
                  wrong = error_text("init", ucg_request_init(group, &args, &requests[i]));
              }
              for (std::uint32_t round = 0; round < rounds; ++round) {
                  order[me.rank].wait_for(round * threads + me.thread);
                  for (std::uint32_t i = 0; i < at_once && wrong.empty(); ++i) {
                      sums[i].spoil();
                      wrong = error_text("start", ucg_request_start(requests[i]));
                  }
                  order[me.rank].next();  // whatever happened: the others are not to hang
                  for (std::uint32_t i = at_once; i-- > 0 && wrong.empty();) {
                      // Uses every function that makes progress.
                      while (i == 1 && ucg_request_test(requests[i]) == UCS_INPROGRESS)
                          move_on(me);
                      while (i == 2 && ucg_request_test(requests[i]) == UCS_INPROGRESS)
                          if (ucg_request_progress(requests[i]) == 0) std::this_thread::yield();
                      wrong = error_text("wait", ucg_request_wait(requests[i]));
                      if (wrong.empty()) wrong = sums[i].wrong();
                  }
              }
              for (const ucg_request_h each : requests)
                  if (const ucs_status_t end = ucg_request_free(each); wrong.empty())
                      wrong = error_text("free", end);
              return wrong;
          }) == "");
}

namespace {

// A request whose callback starts it again a number of times.
struct repeated {
    ucg_request_h request = nullptr;
    std::uint32_t left = 0;
    std::atomic<bool> over = false;
    ucs_status_t status = UCS_OK;  // read after `over`

    static void ended(ucg_request_h request, ucs_status_t status, void* arg) {
        repeated& self = *static_cast<repeated*>(arg);
        if (status == UCS_OK && self.left-- != 0) status = ucg_request_start(request);
        if (status == UCS_OK && ucg_request_test(request) == UCS_INPROGRESS) return;
        // If the request ended within its start, the callback was called within that start.
        if (self.over.load(std::memory_order_relaxed)) return;
        self.status = status;
        self.over.store(true, std::memory_order_release);
    }
};

}  // namespace

// Thread 0 has a request that its callback starts again and again, whichever thread makes progress.
// Thread 1 makes progress. Thread 2 makes groups of the same ranks and destroys them.
TEST_CASE("threads: callbacks, progress, and groups that are made and destroyed") {
    contexts in(some_nodes());
    const oob_sets sets(2, in.ranks());
    std::vector<own_group> groups(in.ranks()), parents(in.ranks());
    CHECK(test::run_as_threads(in.ranks(), [&](std::uint32_t rank) {
              std::string wrong =
                  error_text("group", groups[rank].make(in.context(rank), sets.oob(0, rank)));
              return wrong.empty() ? error_text("parent", parents[rank].make(in.context(rank),
                                                                             sets.oob(1, rank)))
                                   : wrong;
          }) == "");
    std::vector<std::atomic<std::uint32_t>> working(in.ranks());
    for (std::atomic<std::uint32_t>& each : working)
        each = 2;
    CHECK(run(in, [&](const seat& me) -> std::string {
              if (me.thread == 1) {
                  while (working[me.rank].load(std::memory_order_acquire) != 0)
                      move_on(me);
                  return {};
              }
              std::string wrong;
              if (me.thread == 0) {
                  sum one(me.rank, in.ranks(), 5);
                  repeated state;
                  state.left = 10 * rounds;
                  ucg_coll_args_t args = one.args();
                  args.callback = repeated::ended;
                  args.callback_arg = &state;
                  wrong = error_text(
                      "init", ucg_request_init(groups[me.rank].handle(), &args, &state.request));
                  if (wrong.empty()) wrong = error_text("start", ucg_request_start(state.request));
                  while (wrong.empty() && !state.over.load(std::memory_order_acquire))
                      move_on(me);
                  if (wrong.empty()) wrong = error_text("callback", state.status);
                  if (wrong.empty()) wrong = one.wrong();
                  ucg_request_free(state.request);
              } else {
                  for (std::uint32_t round = 0; round < rounds && wrong.empty(); ++round) {
                      own_group part;
                      wrong = error_text("split", part.split(parents[me.rank].handle(), 0));
                      if (wrong.empty())
                          wrong = blocking_calls(part.handle(), me.rank, in.ranks(), round);
                      if (wrong.empty()) wrong = error_text("barrier", ucg_barrier(part.handle()));
                  }
              }
              working[me.rank].fetch_sub(1, std::memory_order_release);
              return wrong;
          }) == "");
}

// One thread makes exchanges of a team; another reads their handles and destroys them.
TEST_CASE("threads: handles of experts are used and destroyed by other threads") {
    contexts in(some_nodes());
    const oob_sets sets(threads, in.ranks());
    constexpr std::uint32_t k = 2, local = 2, tokens = 6, hidden = 16;
    CHECK(run(in, [&](const seat& me) -> std::string {
              own_group group;
              std::string wrong =
                  error_text("group", group.make(me.context, sets.oob(me.thread, me.rank)));
              if (!wrong.empty()) return wrong;
              ucg_moe_team_params_t params = UCG_MOE_TEAM_PARAMS_INIT;
              params.experts = local * in.ranks();
              ucg_moe_team_h team = nullptr;
              wrong = error_text("team", ucg_moe_team_create(group.handle(), &params, &team));
              std::vector<std::int32_t> topk;
              for (std::uint32_t t = 0; t < tokens; ++t)
                  for (std::uint32_t j = 0; j < k; ++j)
                      topk.push_back(static_cast<std::int32_t>((t + me.rank + j) % params.experts));
              const std::uint64_t capacity = std::uint64_t{tokens} * in.ranks();
              std::vector<float> x(tokens * hidden, 1), out(local * capacity * hidden);
              ucg_moe_low_latency_args_t args = UCG_MOE_LOW_LATENCY_ARGS_INIT;
              args.max_tokens = tokens;
              args.topk = tensor_of(topk.data(), UCG_TYPE_INT32, tokens, k);
              args.x = tensor_of(x.data(), UCG_TYPE_FP32, tokens, hidden);
              args.out_x = test::moe::stack_of(
                  tensor_of(out.data(), UCG_TYPE_FP32, capacity, hidden), local);
              ucg_request_h request = nullptr;
              if (wrong.empty())
                  wrong =
                      error_text("init", ucg_moe_low_latency_dispatch_init(team, &args, &request));
              std::atomic<ucg_moe_slots_h> handed = nullptr;
              std::atomic<bool> over = false;
              std::atomic<std::uint32_t> rows = 0;
              std::thread other([&] {
                  while (true) {
                      const bool last = over.load(std::memory_order_acquire);
                      ucg_moe_slots_h slots = handed.exchange(nullptr, std::memory_order_acq_rel);
                      if (slots == nullptr && last) return;
                      if (slots == nullptr) {
                          std::this_thread::yield();
                          continue;
                      }
                      ucg_moe_slots_attr_t attr = UCG_MOE_SLOTS_ATTR_INIT;
                      if (ucg_moe_slots_query(slots, &attr) == UCS_OK)
                          rows += attr.counts[0] + attr.counts[1];
                      ucg_moe_slots_release(slots);
                  }
              });
              for (std::uint32_t round = 0; round < rounds && wrong.empty(); ++round) {
                  wrong = error_text("start", ucg_request_start(request));
                  if (wrong.empty()) wrong = error_text("wait", ucg_request_wait(request));
                  ucg_moe_slots_h slots = nullptr;
                  if (wrong.empty())
                      wrong = error_text("slots", ucg_moe_low_latency_handle(request, &slots));
                  while (slots != nullptr) {
                      ucg_moe_slots_h none = nullptr;
                      if (handed.compare_exchange_weak(none, slots, std::memory_order_acq_rel))
                          break;
                      std::this_thread::yield();
                  }
              }
              over.store(true, std::memory_order_release);
              other.join();
              // Only the tokens of all ranks together choose each expert equally often.
              std::uint64_t all = rows;
              std::uint64_t sum_of_all = 0;
              if (wrong.empty())
                  wrong = error_text("sum", ucg_allreduce(group.handle(), &all, &sum_of_all, 1,
                                                          UCG_TYPE_UINT64, UCG_OP_SUM));
              if (wrong.empty() && sum_of_all != std::uint64_t{rounds} * in.ranks() * tokens * k)
                  wrong = fmt::format("{} rows", sum_of_all);
              ucg_request_free(request);
              ucg_moe_team_destroy(team);
              if (wrong.empty()) wrong = error_text("barrier", ucg_barrier(group.handle()));
              return wrong;
          }) == "");
}
