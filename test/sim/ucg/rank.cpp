#include "test/sim/ucg/rank.hpp"

#include <algorithm>
#include <deque>

#include "test/sim/leftovers.hpp"
#include "test/sim/ucg/collective.hpp"
#include "test/support/environment.hpp"
#include "ucp/capi/handles.hpp"

namespace group_sim {

rank::rank(world& in, std::uint32_t number, std::unique_ptr<ucp::context> context)
    : all_(in),
      number_(number),
      ucp_(std::move(context)),
      groups_(in.what.groups.size()),
      stays_out_(in.what.splits.size()),
      exchanges_(in.what.exchanges.size()),
      requests_(in.what.operations.size()) {
    ucp::worker_params params;
    params.name = fmt::format("r{}", number);
    worker_ = std::move(*ucp::worker::create(*ucp_, params));
    uid_ = worker_->uid();
    const std::string& node = all_.what.nodes[number];
    const std::size_t end = std::min(node.find('/'), node.size());
    std::deque<test::env> environment;
    environment.emplace_back("UCG_NODE_ID", node.substr(0, end).c_str());
    environment.emplace_back("UCG_NUMA_ID", end < node.size() ? node.substr(end + 1).c_str() : "");
    for (const auto& [option, value] : all_.what.ucg)
        environment.emplace_back(("UCG_" + option).c_str(), value.c_str());
    ucg_context_params_t how = UCG_CONTEXT_PARAMS_INIT;
    how.worker = ucp::capi::handle(*worker_);
    if (ucg_context_create(&how, &context_) != UCS_OK) all_.violation("no context can be made");
}

rank::~rank() {
    close();
}

void rank::close() {
    ucg_context_destroy(std::exchange(context_, nullptr));
    worker_.reset();
    ucp_.reset();
}

unsigned rank::turn() {
    if (context_ == nullptr) return 0;
    if (depth_ > 0) return ucg_progress(context_);
    ++depth_;
    unsigned happened = ucg_progress(context_);
    happened += look_after();
    if (!done_) happened += gives_up_ ? end_alone() : act();
    --depth_;
    return happened;
}

std::uint32_t rank::place_in(std::size_t group) const {
    return all_.what.groups[group].rank_of(number_);
}

bool rank::takes_part(const action& in) const {
    switch (in.what) {
        case deed::split:
            return place_in(all_.what.splits[in.which].parent) != UINT32_MAX;
        case deed::start:
            return place_in(all_.what.operations[in.which].group) != UINT32_MAX;
        default:
            return place_in(in.which) != UINT32_MAX;
    }
}

bool rank::has_all_groups() const noexcept {
    for (std::size_t i = 0; i < groups_.size(); ++i)
        if (place_in(i) != UINT32_MAX && groups_[i].state < life::ready) return false;
    return true;
}

unsigned rank::act() {
    const std::vector<action>& program = all_.what.program;
    while (next_ < program.size() && !takes_part(program[next_]))
        ++next_;
    if (next_ == program.size()) {
        done_ = under_way_ == 0 && leave_rest();
        return done_ ? 1 : 0;
    }
    if (all_.network.now() < pauses_until_ || !can_do(program[next_])) return 0;
    perform(program[next_++]);
    const nanoseconds longest = all_.what.longest_pause;
    pauses_until_ = all_.dice.chance(0.5) ? 0 : all_.network.now() + all_.dice.below(longest + 1);
    return 1;
}

// Whether it is decided what becomes of a group.
bool rank::look_at(std::size_t number) {
    own_group& which = groups_[number];
    if (which.state != life::begun) return which.state != life::none;
    const ucs_status_t status = ucg_group_test(which.handle);
    if (status == UCS_INPROGRESS) return false;
    all_.note(1, number << 8U | number_, static_cast<std::uint64_t>(status));
    const group_plan& of = all_.what.groups[number];
    if (status == UCS_OK) {
        which.state = life::ready;
        all_.made_group(number);
        if (ucg_group_rank(which.handle) != place_in(number) ||
            ucg_group_size(which.handle) != of.size())
            all_.violation(fmt::format("rank {} is rank {} of {} of group {}", number_,
                                       ucg_group_rank(which.handle), ucg_group_size(which.handle),
                                       number));
        return true;
    }
    which.state = life::failed;
    if (!all_.may_fail_group(number))
        all_.violation(fmt::format("group {} was not made on rank {}: {}", number, number_,
                                   ucs_status_string(status)));
    all_.disturb_group(number);
    return true;
}

// Those that this rank is in, and those that it stays out of.
bool rank::has_ended_splits(std::size_t parent) {
    for (std::size_t i = 0; i < all_.what.splits.size(); ++i) {
        const split_plan& each = all_.what.splits[i];
        if (each.parent != parent) continue;
        const int made = each.made[place_in(parent)];
        if (made >= 0) {
            own_group& part = groups_[static_cast<std::size_t>(made)];
            if (part.state == life::begun && !look_at(static_cast<std::size_t>(made))) return false;
        } else if (stays_out_[i] != nullptr) {
            const ucs_status_t status = ucg_group_test(stays_out_[i]);
            if (status == UCS_INPROGRESS) return false;
            if (status != UCS_OK && !all_.may_fail_group(parent))
                all_.violation(fmt::format("rank {} cannot stay out of split {}: {}", number_, i,
                                           ucs_status_string(status)));
            ucg_group_destroy(std::exchange(stays_out_[i], nullptr));
        }
    }
    return true;
}

bool rank::leave_rest() {
    for (std::size_t i = 0; i < groups_.size(); ++i)
        if (place_in(i) != UINT32_MAX && !has_ended_splits(i)) return false;
    return true;
}

bool rank::can_do(const action& next) {
    switch (next.what) {
        case deed::make:
            return true;
        case deed::split: {
            const std::size_t parent = all_.what.splits[next.which].parent;
            return look_at(parent) && has_ended_splits(parent);
        }
        case deed::start:
            return look_at(all_.what.operations[next.which].group) &&
                   !requests_[next.which].running && !waits_for_choices(next.which) &&
                   under_way_ < all_.what.most_under_way;
        case deed::destroy:
            return look_at(next.which) && groups_[next.which].requests == 0 &&
                   has_ended_splits(next.which);
    }
    return false;
}

void rank::perform(const action& next) {
    switch (next.what) {
        case deed::make:
            return make(next.which);
        case deed::split:
            return split(next.which);
        case deed::start:
            if (groups_[all_.what.operations[next.which].group].state == life::ready)
                start(next.which, next.start);
            return;
        case deed::destroy:
            return destroy(next.which);
    }
}

void rank::make(std::size_t group) {
    own_group& made = groups_[group];
    made.state = life::begun;
    ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
    params.oob = all_.board_of(group).of(place_in(group));
    if (ucg_group_create(context_, &params, &made.handle) != UCS_OK)
        all_.violation(fmt::format("rank {} cannot begin to make group {}", number_, group));
}

void rank::split(std::size_t which) {
    const split_plan& how = all_.what.splits[which];
    const std::uint32_t place = place_in(how.parent);
    const int made = how.made[place];
    own_group& parent = groups_[how.parent];
    if (parent.state != life::ready) {
        // Nobody can wait for it there, and others may wait for it.
        if (made >= 0) {
            groups_[static_cast<std::size_t>(made)].state = life::gone;
            all_.disturb_group(static_cast<std::size_t>(made));
        }
        return;
    }
    ucg_group_h* const into =
        made >= 0 ? &groups_[static_cast<std::size_t>(made)].handle : &stays_out_[which];
    if (made >= 0) groups_[static_cast<std::size_t>(made)].state = life::begun;
    const ucs_status_t status =
        ucg_group_split(parent.handle, how.colors[place], how.keys[place], into);
    if (status != UCS_OK)
        all_.violation(fmt::format("rank {} cannot begin split {}: {}", number_, which,
                                   ucs_status_string(status)));
}

void rank::leave_exchanges(std::size_t group) {
    for (std::size_t i = 0; i < exchanges_.size(); ++i)
        if (all_.what.exchanges[i].group == group) exchanges_[i].reset();
}

void rank::destroy(std::size_t group) {
    leave_exchanges(group);
    own_group& which = groups_[group];
    which.state = life::gone;
    ucg_group_destroy(std::exchange(which.handle, nullptr));
}

void rank::on_end(ucg_request_h, ucs_status_t, void* arg) {
    ++static_cast<own_request*>(arg)->told;
}

// What an exchange needs comes of operations of it that are under way.
bool rank::waits_for_choices(std::size_t operation) const {
    const auto* const step = std::get_if<step_plan>(&all_.what.operations[operation].what);
    return step != nullptr && std::ranges::any_of(running_, [&](std::size_t each) {
               const auto* const other = std::get_if<step_plan>(&all_.what.operations[each].what);
               return other != nullptr && other->exchange == step->exchange &&
                      all_.what.exchanges[step->exchange].gives(*other);
           });
}

std::unique_ptr<part> rank::part_in(const operation_plan& of) {
    ucg_group_h const in = groups_[of.group].handle;
    const std::uint32_t place = place_in(of.group);
    if (const auto* const coll = std::get_if<collective_plan>(&of.what))
        return std::make_unique<collective_part>(*coll, in, all_.what.groups[of.group].size(),
                                                 place);
    const auto& step = std::get<step_plan>(of.what);
    std::unique_ptr<exchange>& with = exchanges_[step.exchange];
    if (with == nullptr)
        with = std::make_unique<exchange>(all_.what.exchanges[step.exchange], in, place);
    return exchange_part::make(step, *with);
}

bool rank::prepare(std::size_t operation) {
    const operation_plan& of = all_.what.operations[operation];
    own_request& made = requests_[operation];
    made.mine = part_in(of);
    const ending how{of.timeouts.empty() ? 0 : of.timeouts[place_in(of.group)], on_end, &made};
    const ucs_status_t status = made.mine->init(how, &made.handle);
    if (made.handle == nullptr || (status != UCS_OK) != made.mine->refuses()) {
        all_.violation(fmt::format("rank {} cannot prepare {}: {}", number_, text(operation),
                                   ucs_status_string(status)));
        return false;
    }
    ++groups_[of.group].requests;
    const auto* const step = std::get_if<step_plan>(&of.what);
    if (step != nullptr && all_.what.exchanges[step->exchange].ends_with(*step))
        exchanges_[step->exchange]->let_go();
    return true;
}

void rank::start(std::size_t operation, unsigned start) {
    const operation_plan& of = all_.what.operations[operation];
    own_request& made = requests_[operation];
    if (start == 0 && !prepare(operation)) return;
    made.mine->prepare(start, made.handle);
    ++all_.operations;
    made.started = start + 1;
    made.running = true;
    ++under_way_;
    running_.push_back(operation);
    if (made.mine->refuses() || (all_.what.kind == profile::cancel && !of.timeouts.empty()))
        all_.disturb(operation);
    if (of.canceled_by == static_cast<int>(place_in(of.group)) && start + 1 == of.starts)
        made.canceled_at = all_.network.now() + of.canceled_after;
    if (const ucs_status_t status = ucg_request_start(made.handle); status != UCS_OK)
        all_.violation(fmt::format("rank {} cannot start {}: {}", number_, text(operation),
                                   ucs_status_string(status)));
}

unsigned rank::look_after() {
    unsigned happened = 0;
    for (std::size_t i = 0; i < running_.size(); ++i) {
        const std::size_t operation = running_[i];
        own_request& each = requests_[operation];
        ucs_status_t status = ucg_request_test(each.handle);
        if (status == UCS_INPROGRESS && each.canceled_at != 0 &&
            all_.network.now() >= each.canceled_at) {
            each.canceled_at = 0;
            all_.disturb(operation);
            static_cast<void>(ucg_request_cancel(each.handle));
            status = ucg_request_test(each.handle);
            ++happened;
        }
        if (status == UCS_INPROGRESS) continue;
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i--));
        ended(operation, status);
        ++happened;
    }
    return happened;
}

void rank::ended(std::size_t operation, ucs_status_t status) {
    const operation_plan& of = all_.what.operations[operation];
    own_request& which = requests_[operation];
    which.running = false;
    which.canceled_at = 0;
    --under_way_;
    all_.note(2, operation << 8U | number_, static_cast<std::uint64_t>(status));
    if (which.told != which.started)
        all_.violation(fmt::format("rank {} was told {} times of {} ends of {}", number_,
                                   which.told, which.started, text(operation)));
    if (status == UCS_OK) {
        const std::string wrong = which.mine->look_at_result(which.handle);
        if (!wrong.empty())
            all_.violation(fmt::format("rank {}: the result of {} is wrong: {}", number_,
                                       text(operation), wrong));
    } else if (!gives_up_ && !all_.may_fail(operation)) {
        all_.violation(fmt::format("rank {}: {} ended with: {}", number_, text(operation),
                                   ucs_status_string(status)));
    }
    if (which.started == of.starts || gives_up_) release(which, of.group);
}

void rank::release(own_request& which, std::size_t group) {
    if (ucg_request_free(std::exchange(which.handle, nullptr)) != UCS_OK)
        all_.violation("a request that ended cannot be freed");
    which.mine.reset();
    --groups_[group].requests;
}

void rank::give_up() {
    gives_up_ = true;
    for (const std::size_t each : running_)
        static_cast<void>(ucg_request_cancel(requests_[each].handle));
}

// Groups that are being made before those that they are made of.
unsigned rank::end_alone() {
    if (under_way_ > 0) return 0;
    for (std::size_t i = 0; i < requests_.size(); ++i)
        if (requests_[i].handle != nullptr) release(requests_[i], all_.what.operations[i].group);
    for (ucg_group_h& each : stays_out_)
        ucg_group_destroy(std::exchange(each, nullptr));
    for (std::size_t i = groups_.size(); i-- > 0;)
        if (groups_[i].handle != nullptr) destroy(i);
    done_ = true;
    return 1;
}

std::string rank::leftovers() {
    return sim_test::leftovers(*worker_, !all_.is_parted(number_));
}

std::string rank::text(std::size_t operation) const {
    const operation_plan& of = all_.what.operations[operation];
    const own_request& which = requests_[operation];
    ucg_request_attr_t attr = UCG_REQUEST_ATTR_INIT;
    std::vector<std::uint32_t> missing(all_.what.ranks);
    attr.missing = missing.data();
    attr.missing_max = all_.what.ranks;
    if (which.handle != nullptr) static_cast<void>(ucg_request_query(which.handle, &attr));
    missing.resize(attr.missing_count);
    return fmt::format("operation {} of group {} ({}; start {} of {}, by {}; waits for [{}])",
                       operation, of.group, all_.what.text(of), which.started, of.starts,
                       attr.algorithm != nullptr ? attr.algorithm : "?", fmt::join(missing, ","));
}

std::string rank::state_text() {
    std::string all = fmt::format("# rank {}{}{}: action {} of {}", number_,
                                  all_.is_dead(number_) ? ", dead" : "", done_ ? ", done" : "",
                                  next_, all_.what.program.size());
    if (next_ < all_.what.program.size()) {
        const action& next = all_.what.program[next_];
        all += fmt::format(" ({} {})", static_cast<int>(next.what), next.which);
    }
    for (std::size_t i = 0; i < groups_.size(); ++i)
        if (place_in(i) != UINT32_MAX)
            all += fmt::format(", group {}: {}", i, static_cast<int>(groups_[i].state));
    all += '\n';
    for (const std::size_t each : running_)
        all += fmt::format("#   runs {}\n", text(each));
    if (worker_ != nullptr) all += fmt::format("#   left: {}\n", leftovers());
    return all;
}

}  // namespace group_sim
