#include "ucg/node/engine.hpp"

#include <algorithm>
#include <utility>

#include "ucg/node/cores.hpp"
#include "ucg/node/log.hpp"

namespace ucg::node {
namespace {

// A few hundred nanoseconds: what is late is better waited for with the patience of others.
constexpr unsigned most_looks = 200;
constexpr unsigned few_looks = 16;

}  // namespace

engine::engine(const segment& memory, watch& lives, rank_t me, const tuning& by, neighbours others,
               std::span<const std::uint32_t> numa)
    : memory_(memory),
      lives_(lives),
      me_(me),
      who_(numa.empty() ? domains(memory.ranks(), me) : domains(numa, me)),
      sizes_(by),
      others_(std::move(others)),
      mine_(memory.control_of(me)),
      patience_(memory, me, patience::usual(memory.ranks())),
      writer_(by.writing, std::size_t{memory.like().slots} * memory.like().slot_bytes),
      looks_(outnumber_cores(memory.ranks()) ? 1 : most_looks),
      close_looks_(std::min(looks_, few_looks)) {
    entered_by_.known.resize(memory.ranks());
    taken_by_.known.resize(memory.ranks());
    for (counter& each : passed_by_)
        each.known.resize(memory.ranks());
}

// Others that still wait for this rank are not to wait for ever.
engine::~engine() {
    if (failure_ == UCS_OK) publish(&control::failed, has_left);
}

void engine::start(operation& what) noexcept {
    if (failure_ != UCS_OK) {
        what.end(failure_);
        return;
    }
    (last_ != nullptr ? last_->next_ : first_) = &what;
    last_ = &what;
    if (first_ != &what || running_) return;
    begin();
    (void)step();
}

void engine::run(operation& what) noexcept {
    if (first_ != nullptr || failure_ != UCS_OK || !what.in_mailbox_) return what.start();
    what.status_ = UCS_INPROGRESS;
    what.next_ = nullptr;
    first_ = last_ = &what;
    begin();
    (void)step_in_mailbox(looks_);
}

void engine::begin() noexcept {
    passed_ = {};
    taken_ = 0;
    arrived_ = 0;
    posted_ = false;
    if (!first_->in_mailbox_) base_ = round_up(end_, first_->row_);
    const claim& said = *first_->claim_;
    entry_ = said.entry(number_ + 1);
    write(mine_.entry, entry_);
    write(mine_.count, said.count());
    write(mine_.rest, said.rest());
    publish(&control::entered, number_ + 1);
}

// The operation may be started again, or destroyed, before this returns.
void engine::finish() noexcept {
    operation* const ended = first_;
    first_ = ended->next_;
    if (first_ == nullptr) last_ = nullptr;
    if (!ended->in_mailbox_) end_ = base_ + ended->pattern_->how().segments * ended->row_;
    ++number_;
    if (first_ != nullptr) begin();
    const bool was_running = std::exchange(running_, true);
    const bool had_next = first_ != nullptr;
    ended->end(UCS_OK);
    running_ = was_running;
    if (!had_next && first_ != nullptr && failure_ == UCS_OK) begin();
}

bool engine::progress(unsigned looks) noexcept {
    if (first_ == nullptr) return false;
    if (step(looks)) {
        fruitless_ = 0;
        return true;
    }
    constexpr unsigned between_looks_at_the_clock = 64;
    if (++fruitless_ % between_looks_at_the_clock == 0) patrol();
    return false;
}

// As far as it goes, also into the operations behind the first.
bool engine::step(unsigned looks) noexcept {
    if (running_) return false;
    bool moved = false;
    while (first_ != nullptr) {
        if (!(first_->in_mailbox_ ? step_in_mailbox(looks) : step_in_slots())) break;
        moved = true;
    }
    return moved;
}

ucs_status_t engine::wait(operation& until) noexcept {
    patience_.wait_for([&] { return until.status() != UCS_INPROGRESS; },
                       [this] { return progress(); }, [this] { patrol(); });
    return until.status();
}

void engine::publish(std::uint64_t control::*where, std::uint64_t value) noexcept {
    tell(mine_.*where, value);
    call_sleepers(memory_, me_);
}

// --- what fits a mailbox: one look at each rank ---

bool engine::step_in_mailbox(unsigned looks) noexcept {
    if (!posted_ && !post()) return false;
    const flow& how = first_->pattern_->how();
    for (; arrived_ < how.awaits[0].size(); ++arrived_)
        if (!has_posted(how.awaits[0][arrived_], looks)) return false;
    if (how.takes) first_->pattern_->take(0, {memory_, number_});
    finish();
    return true;
}

// Every rank posts in every operation, with content or without: that says as well how far it has
// come. A mailbox is used again when all have ended the operation that used it last, which is so
// when all have begun the one after that.
bool engine::post() noexcept {
    const std::uint64_t boxes = memory_.like().mailboxes;
    if (number_ + 2 > boxes && !have(entered_by_, number_ + 2 - boxes, who_.others())) return false;
    first_->pattern_->give(0, {memory_, number_});
    mailbox_head& box = memory_.mailbox(me_, number_);
    write(box.entry, entry_);
    tell(box.number, number_ + 1);
    call_sleepers(memory_, me_);
    posted_ = true;
    return true;
}

bool engine::has_posted(rank_t rank, unsigned looks) noexcept {
    mailbox_head& box = memory_.mailbox(rank, number_);
    std::uint64_t found = look(box.number);
    while (found <= number_ && --looks != 0)
        found = look(box.number);
    if (found <= number_) return false;
    if (found != number_ + 1) {
        give_up_as(rank);
        return false;
    }
    entered_by_.known[rank] = number_ + 1;
    return agrees(rank, peek(box.entry));
}

// --- what goes through the slots ---

// A stage that finds that the group is given up ends the operation, which is not to be looked at
// after that: it may be destroyed.
bool engine::step_in_slots() noexcept {
    const flow& how = first_->pattern_->how();
    bool moved = give();
    for (unsigned turn = 0; failure_ == UCS_OK && turn < how.works; ++turn)
        moved |= work(turn);
    if (failure_ == UCS_OK) moved |= take();
    if (failure_ != UCS_OK) return false;
    if (taken_ == how.segments) finish();
    return moved;
}

// No counter ever says a number between end_ and base_: nobody is through slots that were left out.
// With 8 slots, of which one was used before rows of 4: the first row begins at 4, the second at 8,
// and that needs of all what they said when they were through the first slot.
std::uint64_t engine::room_for(std::uint64_t segment) const noexcept {
    const std::uint64_t slots = memory_.like().slots;
    const std::uint64_t used = done_with(segment);
    if (used <= slots) return 0;
    return used - slots > base_ ? used - slots : std::min(used - slots, end_);
}

bool engine::give() noexcept {
    std::uint64_t& given = passed_[0];
    if (given == first_->pattern_->how().segments) return false;
    const std::uint64_t room = room_for(given);
    if (slot_of(taken_) < room || !have(taken_by_, room, who_.others())) return false;
    first_->pattern_->give(given, {memory_, writer_, slot_of(given)});
    publish(&control::given, done_with(given++));
    return true;
}

bool engine::work(unsigned turn) noexcept {
    const flow& how = first_->pattern_->how();
    std::uint64_t& worked = passed_[turn + 1];
    if (worked == passed_[turn]) return false;
    if (!have(passed_by_[turn], done_with(worked), how.awaits[turn])) return false;
    const ucs_status_t status =
        first_->pattern_->work(turn, worked, {memory_, writer_, slot_of(worked)});
    if (status != UCS_OK) {
        ucs::log::error(node_log, "rank {} cannot read what the others gave: {}", me_,
                        ucs_status_string(status));
        fail(status);
        return false;
    }
    publish(passed_by_[turn + 1].where, done_with(worked++));
    return true;
}

bool engine::take() noexcept {
    const flow& how = first_->pattern_->how();
    if (taken_ == passed_[how.works]) return false;
    if (how.takes) {
        if (!have(passed_by_[how.works], done_with(taken_), how.awaits[how.works])) return false;
        if (taken_ == 0)
            for (rank_t rank = 0; rank < size(); ++rank)
                if (!agrees(rank, peek(memory_.control_of(rank).entry))) return false;
        first_->pattern_->take(taken_, {memory_, writer_, slot_of(taken_)});
    }
    publish(&control::taken, done_with(taken_++));
    return true;
}

}  // namespace ucg::node
