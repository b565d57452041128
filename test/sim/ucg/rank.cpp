#include "test/sim/ucg/rank.hpp"

#include <deque>

#include "test/sim/leftovers.hpp"
#include "test/sim/ucg/collective.hpp"
#include "test/support/environment.hpp"
#include "ucp/capi/handles.hpp"

namespace group_sim {

rank::rank(world& shared, std::uint32_t number, std::unique_ptr<ucp::context> context)
    : all_(shared),
      number_(number),
      ucp_(std::move(context)),
      groups_(shared.run_plan.groups.size()),
      excluded_(shared.run_plan.splits.size()),
      exchanges_(shared.run_plan.exchanges.size()),
      requests_(shared.run_plan.operations.size()) {
    ucp::worker_params params;
    params.name = fmt::format("r{}", number);
    worker_ = std::move(*ucp::worker::create(*ucp_, params));
    uid_ = worker_->uid();
    const std::string& node = all_.run_plan.nodes[number];
    const std::size_t end = std::min(node.find('/'), node.size());
    std::deque<test::env> environment;
    environment.emplace_back("UCG_NODE_ID", node.substr(0, end).c_str());
    environment.emplace_back("UCG_NUMA_ID", end < node.size() ? node.substr(end + 1).c_str() : "");
    for (const auto& [option, value] : all_.run_plan.ucg)
        environment.emplace_back(("UCG_" + option).c_str(), value.c_str());
    ucg_context_params_t params_of_context = UCG_CONTEXT_PARAMS_INIT;
    params_of_context.worker = ucp::capi::handle(*worker_);
    if (ucg_context_create(&params_of_context, &context_) != UCS_OK)
        all_.violation("no context can be made");
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
    happened += poll_requests();
    if (!done_) happened += is_abandoned_ ? end_alone() : act();
    --depth_;
    return happened;
}

std::uint32_t rank::rank_in(std::size_t group) const {
    return all_.run_plan.groups[group].rank_of(number_);
}

bool rank::takes_part(const action& next) const {
    switch (next.kind) {
        case action_kind::split:
            return rank_in(all_.run_plan.splits[next.index].parent) != UINT32_MAX;
        case action_kind::start:
            return rank_in(all_.run_plan.operations[next.index].group) != UINT32_MAX;
        default:
            return rank_in(next.index) != UINT32_MAX;
    }
}

bool rank::has_all_groups() const noexcept {
    for (std::size_t i = 0; i < groups_.size(); ++i)
        if (rank_in(i) != UINT32_MAX && groups_[i].state < group_state::ready) return false;
    return true;
}

unsigned rank::act() {
    const std::vector<action>& program = all_.run_plan.program;
    while (next_ < program.size() && !takes_part(program[next_]))
        ++next_;
    if (next_ == program.size()) {
        done_ = active_ == 0 && finish_splits();
        return done_ ? 1 : 0;
    }
    if (all_.network.now() < pauses_until_ || !is_possible(program[next_])) return 0;
    perform(program[next_++]);
    const nanoseconds longest = all_.run_plan.longest_pause;
    pauses_until_ = all_.dice.chance(0.5) ? 0 : all_.network.now() + all_.dice.below(longest + 1);
    return 1;
}

// Returns true if the creation of a group has succeeded or failed.
bool rank::check_group(std::size_t number) {
    own_group& which = groups_[number];
    if (which.state != group_state::begun) return which.state != group_state::none;
    const ucs_status_t status = ucg_group_test(which.handle);
    if (status == UCS_INPROGRESS) return false;
    all_.note(1, number << 8U | number_, static_cast<std::uint64_t>(status));
    const group_plan& plan = all_.run_plan.groups[number];
    if (status == UCS_OK) {
        which.state = group_state::ready;
        all_.made_group(number);
        if (ucg_group_rank(which.handle) != rank_in(number) ||
            ucg_group_size(which.handle) != plan.size())
            all_.violation(fmt::format("rank {} is rank {} of {} of group {}", number_,
                                       ucg_group_rank(which.handle), ucg_group_size(which.handle),
                                       number));
        return true;
    }
    which.state = group_state::failed;
    if (!all_.may_fail_group(number))
        all_.violation(fmt::format("group {} was not made on rank {}: {}", number, number_,
                                   ucs_status_string(status)));
    all_.disturb_group(number);
    return true;
}

// Returns true if the splits of the group have ended, including those that exclude this rank.
bool rank::has_ended_splits(std::size_t parent) {
    for (std::size_t i = 0; i < all_.run_plan.splits.size(); ++i) {
        const split_plan& each = all_.run_plan.splits[i];
        if (each.parent != parent) continue;
        const int made = each.made[rank_in(parent)];
        if (made >= 0) {
            own_group& part = groups_[static_cast<std::size_t>(made)];
            if (part.state == group_state::begun && !check_group(static_cast<std::size_t>(made)))
                return false;
        } else if (excluded_[i] != nullptr) {
            const ucs_status_t status = ucg_group_test(excluded_[i]);
            if (status == UCS_INPROGRESS) return false;
            if (status != UCS_OK && !all_.may_fail_group(parent))
                all_.violation(fmt::format("rank {} cannot stay out of split {}: {}", number_, i,
                                           ucs_status_string(status)));
            ucg_group_destroy(std::exchange(excluded_[i], nullptr));
        }
    }
    return true;
}

bool rank::finish_splits() {
    for (std::size_t i = 0; i < groups_.size(); ++i)
        if (rank_in(i) != UINT32_MAX && !has_ended_splits(i)) return false;
    return true;
}

bool rank::is_possible(const action& next) {
    switch (next.kind) {
        case action_kind::make:
            return true;
        case action_kind::split: {
            const std::size_t parent = all_.run_plan.splits[next.index].parent;
            return check_group(parent) && has_ended_splits(parent);
        }
        case action_kind::start:
            return check_group(all_.run_plan.operations[next.index].group) &&
                   !requests_[next.index].running && !waits_for_notify(next.index) &&
                   active_ < all_.run_plan.max_active;
        case action_kind::destroy:
            return check_group(next.index) && groups_[next.index].requests == 0 &&
                   has_ended_splits(next.index);
    }
    return false;
}

void rank::perform(const action& next) {
    switch (next.kind) {
        case action_kind::make:
            return make(next.index);
        case action_kind::split:
            return split(next.index);
        case action_kind::start:
            if (groups_[all_.run_plan.operations[next.index].group].state == group_state::ready)
                start(next.index, next.start);
            return;
        case action_kind::destroy:
            return destroy(next.index);
    }
}

void rank::make(std::size_t group) {
    own_group& made = groups_[group];
    made.state = group_state::begun;
    ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
    params.oob = all_.board_of(group).oob(rank_in(group));
    if (ucg_group_create(context_, &params, &made.handle) != UCS_OK)
        all_.violation(fmt::format("rank {} cannot begin to make group {}", number_, group));
}

void rank::split(std::size_t which) {
    const split_plan& plan = all_.run_plan.splits[which];
    const std::uint32_t place = rank_in(plan.parent);
    const int made = plan.made[place];
    own_group& parent = groups_[plan.parent];
    if (parent.state != group_state::ready) {
        // The split cannot be started, and other ranks may wait for this rank.
        if (made >= 0) {
            groups_[static_cast<std::size_t>(made)].state = group_state::gone;
            all_.disturb_group(static_cast<std::size_t>(made));
        }
        return;
    }
    ucg_group_h* const into =
        made >= 0 ? &groups_[static_cast<std::size_t>(made)].handle : &excluded_[which];
    if (made >= 0) groups_[static_cast<std::size_t>(made)].state = group_state::begun;
    const ucs_status_t status =
        ucg_group_split(parent.handle, plan.colors[place], plan.keys[place], into);
    if (status != UCS_OK)
        all_.violation(fmt::format("rank {} cannot begin split {}: {}", number_, which,
                                   ucs_status_string(status)));
}

void rank::leave_exchanges(std::size_t group) {
    for (std::size_t i = 0; i < exchanges_.size(); ++i)
        if (all_.run_plan.exchanges[i].group == group) exchanges_[i].reset();
}

void rank::destroy(std::size_t group) {
    leave_exchanges(group);
    own_group& which = groups_[group];
    which.state = group_state::gone;
    ucg_group_destroy(std::exchange(which.handle, nullptr));
}

void rank::on_end(ucg_request_h, ucs_status_t, void* arg) {
    ++static_cast<own_request*>(arg)->callbacks;
}

// Returns true if an active operation will provide the handle that this operation needs.
bool rank::waits_for_notify(std::size_t operation) const {
    const auto* const step = std::get_if<step_plan>(&all_.run_plan.operations[operation].details);
    return step != nullptr && std::ranges::any_of(running_, [&](std::size_t each) {
               const auto* const other =
                   std::get_if<step_plan>(&all_.run_plan.operations[each].details);
               return other != nullptr && other->exchange == step->exchange &&
                      all_.run_plan.exchanges[step->exchange].is_needed_later(*other);
           });
}

std::unique_ptr<part> rank::part_in(const operation_plan& operation) {
    ucg_group_h const group = groups_[operation.group].handle;
    const std::uint32_t place = rank_in(operation.group);
    if (const auto* const coll = std::get_if<collective_plan>(&operation.details))
        return std::make_unique<collective_part>(
            *coll, group, all_.run_plan.groups[operation.group].size(), place);
    const auto& step = std::get<step_plan>(operation.details);
    std::unique_ptr<exchange>& current = exchanges_[step.exchange];
    if (current == nullptr)
        current = std::make_unique<exchange>(all_.run_plan.exchanges[step.exchange], group, place);
    return exchange_part::make(step, *current);
}

bool rank::prepare(std::size_t operation) {
    const operation_plan& plan = all_.run_plan.operations[operation];
    own_request& made = requests_[operation];
    made.data = part_in(plan);
    const completion_args completion{plan.timeouts.empty() ? 0 : plan.timeouts[rank_in(plan.group)],
                                     on_end, &made};
    const ucs_status_t status = made.data->init(completion, &made.handle);
    if (made.handle == nullptr || (status != UCS_OK) != made.data->refuses()) {
        all_.violation(fmt::format("rank {} cannot prepare {}: {}", number_, text(operation),
                                   ucs_status_string(status)));
        return false;
    }
    ++groups_[plan.group].requests;
    const auto* const step = std::get_if<step_plan>(&plan.details);
    if (step != nullptr && all_.run_plan.exchanges[step->exchange].ends_with(*step))
        exchanges_[step->exchange]->release_handles();
    return true;
}

void rank::start(std::size_t operation, unsigned start) {
    const operation_plan& plan = all_.run_plan.operations[operation];
    own_request& made = requests_[operation];
    if (start == 0 && !prepare(operation)) return;
    made.data->prepare(start, made.handle);
    ++all_.operations;
    made.started = start + 1;
    made.running = true;
    ++active_;
    running_.push_back(operation);
    if (made.data->refuses() || (all_.run_plan.kind == profile::cancel && !plan.timeouts.empty()))
        all_.disturb(operation);
    if (plan.canceled_by == static_cast<int>(rank_in(plan.group)) && start + 1 == plan.starts)
        made.canceled_at = all_.network.now() + plan.canceled_after;
    if (const ucs_status_t status = ucg_request_start(made.handle); status != UCS_OK)
        all_.violation(fmt::format("rank {} cannot start {}: {}", number_, text(operation),
                                   ucs_status_string(status)));
}

unsigned rank::poll_requests() {
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
    const operation_plan& plan = all_.run_plan.operations[operation];
    own_request& which = requests_[operation];
    which.running = false;
    which.canceled_at = 0;
    --active_;
    all_.note(2, operation << 8U | number_, static_cast<std::uint64_t>(status));
    if (which.callbacks != which.started)
        all_.violation(fmt::format("rank {} was told {} times of {} ends of {}", number_,
                                   which.callbacks, which.started, text(operation)));
    if (status == UCS_OK) {
        const std::string wrong = which.data->check_result(which.handle);
        if (!wrong.empty())
            all_.violation(fmt::format("rank {}: the result of {} is wrong: {}", number_,
                                       text(operation), wrong));
    } else if (!is_abandoned_ && !all_.may_fail(operation)) {
        all_.violation(fmt::format("rank {}: {} ended with: {}", number_, text(operation),
                                   ucs_status_string(status)));
    }
    if (which.started == plan.starts || is_abandoned_) release(which, plan.group);
}

void rank::release(own_request& which, std::size_t group) {
    if (ucg_request_free(std::exchange(which.handle, nullptr)) != UCS_OK)
        all_.violation("a request that ended cannot be freed");
    which.data.reset();
    --groups_[group].requests;
}

void rank::abandon() {
    is_abandoned_ = true;
    for (const std::size_t each : running_)
        static_cast<void>(ucg_request_cancel(requests_[each].handle));
}

// Destroys groups in the reverse order of their creation.
unsigned rank::end_alone() {
    if (active_ > 0) return 0;
    for (std::size_t i = 0; i < requests_.size(); ++i)
        if (requests_[i].handle != nullptr)
            release(requests_[i], all_.run_plan.operations[i].group);
    for (ucg_group_h& each : excluded_)
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
    const operation_plan& plan = all_.run_plan.operations[operation];
    const own_request& which = requests_[operation];
    ucg_request_attr_t attr = UCG_REQUEST_ATTR_INIT;
    std::vector<std::uint32_t> missing(all_.run_plan.ranks);
    attr.missing = missing.data();
    attr.missing_max = all_.run_plan.ranks;
    if (which.handle != nullptr) static_cast<void>(ucg_request_query(which.handle, &attr));
    missing.resize(attr.missing_count);
    return fmt::format("operation {} of group {} ({}; start {} of {}, by {}; waits for [{}])",
                       operation, plan.group, all_.run_plan.text(plan), which.started, plan.starts,
                       attr.algorithm != nullptr ? attr.algorithm : "?", fmt::join(missing, ","));
}

std::string rank::state_text() {
    std::string all = fmt::format("# rank {}{}{}: action {} of {}", number_,
                                  all_.is_dead(number_) ? ", dead" : "", done_ ? ", done" : "",
                                  next_, all_.run_plan.program.size());
    if (next_ < all_.run_plan.program.size()) {
        const action& next = all_.run_plan.program[next_];
        all += fmt::format(" ({} {})", static_cast<int>(next.kind), next.index);
    }
    for (std::size_t i = 0; i < groups_.size(); ++i)
        if (rank_in(i) != UINT32_MAX)
            all += fmt::format(", group {}: {}", i, static_cast<int>(groups_[i].state));
    all += '\n';
    for (const std::size_t each : running_)
        all += fmt::format("#   runs {}\n", text(each));
    if (worker_ != nullptr) all += fmt::format("#   left: {}\n", leftovers());
    return all;
}

}  // namespace group_sim
