#include "ucg/node/engine/engine.hpp"

#include <algorithm>
#include <utility>

#include "ucg/schedule/log.hpp"

namespace ucg::node {
namespace {

// The polls take a few hundred nanoseconds: a rank that comes later is better awaited with backoff.
constexpr unsigned many_polls = 200;
constexpr unsigned few_polls = 16;

}  // namespace

engine::engine(const shared_memory& memory, watch& lives, rank_t me, const tuning& params,
               local_peers peers, std::span<const std::uint32_t> numa_nodes)
    : memory_(memory),
      lives_(lives),
      me_(me),
      domains_(numa_nodes.empty() ? numa_domains(memory.ranks(), me)
                                  : numa_domains(numa_nodes, me)),
      params_(params),
      peers_(std::move(peers)),
      control_(memory.control_of(me)),
      backoff_(usual_backoff(memory.ranks())),
      sleeper_(memory, me),
      writer_(params.writing, std::size_t{memory.layout().slots} * memory.layout().slot_bytes),
      polls_(exceeds_cores(memory.ranks()) ? 1 : many_polls),
      close_polls_(std::min(polls_, few_polls)) {
    entered_by_peers_.last_seen.resize(memory.ranks());
    taken_by_peers_.last_seen.resize(memory.ranks());
    for (counter& each : passed_by_peers_)
        each.last_seen.resize(memory.ranks());
}

// Tells ranks that still wait for this one that it has left, so that they do not wait for ever.
engine::~engine() {
    if (failure_ == UCS_OK) publish(&control::failed, has_left);
}

void engine::start(operation& op) noexcept {
    if (failure_ != UCS_OK) {
        op.end(failure_);
        return;
    }
    (last_ != nullptr ? last_->next_ : first_) = &op;
    last_ = &op;
    if (first_ != &op || running_) return;
    begin();
    (void)step();
}

void engine::run(operation& op) noexcept {
    if (first_ != nullptr || failure_ != UCS_OK || !op.in_mailbox_) return op.start();
    op.status_ = UCS_INPROGRESS;
    op.next_ = nullptr;
    first_ = last_ = &op;
    begin();
    (void)step_in_mailbox(polls_);
}

void engine::begin() noexcept {
    passed_ = {};
    taken_ = 0;
    arrived_ = 0;
    posted_ = false;
    if (!first_->in_mailbox_) base_ = round_up(end_, first_->row_);
    const call_signature& signature = *first_->signature_;
    entry_ = signature.entry(number_ + 1);
    store_relaxed(control_.entry, entry_);
    store_relaxed(control_.count, signature.count());
    store_relaxed(control_.rest, signature.rest());
    publish(&control::entered, number_ + 1);
}

// The listener may start the operation again, or destroy it, before this returns.
void engine::finish() noexcept {
    operation* const ended = first_;
    first_ = ended->next_;
    if (first_ == nullptr) last_ = nullptr;
    if (!ended->in_mailbox_) end_ = base_ + ended->pattern_->plan().segments * ended->row_;
    ++number_;
    if (first_ != nullptr) begin();
    const bool was_running = std::exchange(running_, true);
    const bool had_next = first_ != nullptr;
    ended->end(UCS_OK);
    running_ = was_running;
    if (!had_next && first_ != nullptr && failure_ == UCS_OK) begin();
}

bool engine::progress(unsigned polls) noexcept {
    if (first_ == nullptr) return false;
    if (step(polls)) {
        idle_polls_ = 0;
        return true;
    }
    constexpr unsigned polls_per_clock_read = 64;
    if (++idle_polls_ % polls_per_clock_read == 0) check_peers();
    return false;
}

// Advances as far as possible, also into the operations behind the first.
bool engine::step(unsigned polls) noexcept {
    if (running_) return false;
    bool moved = false;
    while (first_ != nullptr) {
        if (!(first_->in_mailbox_ ? step_in_mailbox(polls) : step_in_slots())) break;
        moved = true;
    }
    return moved;
}

ucs_status_t engine::wait(operation& op) noexcept {
    backoff_.wait_for([&] { return op.status() != UCS_INPROGRESS; }, [this] { return progress(); },
                      sleeper_, [this] { check_peers(); });
    return op.status();
}

void engine::publish(std::uint64_t control::*member, std::uint64_t value) noexcept {
    store_release(control_.*member, value);
    wake_sleepers(memory_, me_);
}

// --- operations that fit a mailbox: one look at each rank ---

bool engine::step_in_mailbox(unsigned polls) noexcept {
    if (!posted_ && !post()) return false;
    const stage_plan& plan = first_->pattern_->plan();
    for (; arrived_ < plan.awaits[0].size(); ++arrived_)
        if (!has_posted(plan.awaits[0][arrived_], polls)) return false;
    if (plan.has_take) first_->pattern_->take(0, {memory_, number_});
    finish();
    return true;
}

// Every rank posts in every operation, with or without content, so the mailbox also says how far
// the rank has come. A mailbox may be used again when all ranks have ended the operation that used
// it last. All have ended that operation when all have begun the one after it.
bool engine::post() noexcept {
    const std::uint64_t mailboxes = memory_.layout().mailboxes;
    if (number_ + 2 > mailboxes &&
        !have_all_reached(entered_by_peers_, number_ + 2 - mailboxes, domains_.peers()))
        return false;
    first_->pattern_->give(0, {memory_, number_});
    mailbox_head& box = memory_.mailbox(me_, number_);
    store_relaxed(box.entry, entry_);
    store_release(box.number, number_ + 1);
    wake_sleepers(memory_, me_);
    posted_ = true;
    return true;
}

bool engine::has_posted(rank_t rank, unsigned polls) noexcept {
    mailbox_head& box = memory_.mailbox(rank, number_);
    std::uint64_t found = load_acquire(box.number);
    while (found <= number_ && --polls != 0)
        found = load_acquire(box.number);
    if (found <= number_) return false;
    if (found != number_ + 1) {
        fail_because_of_peer(rank);
        return false;
    }
    entered_by_peers_.last_seen[rank] = number_ + 1;
    return has_same_call(rank, load_relaxed(box.entry));
}

// --- operations that go through the slots ---

// A stage that finds that the group has failed ends the operation. The operation may be destroyed
// then, so it must not be accessed after that.
bool engine::step_in_slots() noexcept {
    const stage_plan& plan = first_->pattern_->plan();
    bool moved = give();
    for (unsigned turn = 0; failure_ == UCS_OK && turn < plan.work_stages; ++turn)
        moved |= work(turn);
    if (failure_ == UCS_OK) moved |= take();
    if (failure_ != UCS_OK) return false;
    if (taken_ == plan.segments) finish();
    return moved;
}

// No counter ever has a value between end_ and base_, because no rank passes slots that were left
// out. Example with 8 slots, of which one was used before rows of 4 begin: the first row begins at
// 4, the second at 8. The second row requires of all ranks the counter that they had after the
// first slot.
std::uint64_t engine::taken_before_reuse(std::uint64_t segment) const noexcept {
    const std::uint64_t slots = memory_.layout().slots;
    const std::uint64_t used = done_with(segment);
    if (used <= slots) return 0;
    return used - slots > base_ ? used - slots : std::min(used - slots, end_);
}

bool engine::give() noexcept {
    std::uint64_t& given = passed_[0];
    if (given == first_->pattern_->plan().segments) return false;
    const std::uint64_t required = taken_before_reuse(given);
    if (slot_of(taken_) < required ||
        !have_all_reached(taken_by_peers_, required, domains_.peers()))
        return false;
    first_->pattern_->give(given, {memory_, writer_, slot_of(given)});
    publish(&control::given, done_with(given++));
    return true;
}

bool engine::work(unsigned turn) noexcept {
    const stage_plan& plan = first_->pattern_->plan();
    std::uint64_t& worked = passed_[turn + 1];
    if (worked == passed_[turn]) return false;
    if (!have_all_reached(passed_by_peers_[turn], done_with(worked), plan.awaits[turn]))
        return false;
    const ucs_status_t status =
        first_->pattern_->work(turn, worked, {memory_, writer_, slot_of(worked)});
    if (status != UCS_OK) {
        ucs::log::error(node_log, "rank {}: reading the buffers of other ranks failed: {}", me_,
                        ucs_status_string(status));
        fail(status);
        return false;
    }
    publish(passed_by_peers_[turn + 1].member, done_with(worked++));
    return true;
}

bool engine::take() noexcept {
    const stage_plan& plan = first_->pattern_->plan();
    if (taken_ == passed_[plan.work_stages]) return false;
    if (plan.has_take) {
        if (!have_all_reached(passed_by_peers_[plan.work_stages], done_with(taken_),
                              plan.awaits[plan.work_stages]))
            return false;
        if (taken_ == 0)
            for (rank_t rank = 0; rank < size(); ++rank)
                if (!has_same_call(rank, load_relaxed(memory_.control_of(rank).entry)))
                    return false;
        first_->pattern_->take(taken_, {memory_, writer_, slot_of(taken_)});
    }
    publish(&control::taken, done_with(taken_++));
    return true;
}

}  // namespace ucg::node
