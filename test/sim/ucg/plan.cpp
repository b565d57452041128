#include "test/sim/ucg/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>
#include <set>

#include "ucg/algo/table.hpp"
#include "ucg/schedule/collective.hpp"

namespace group_sim {

namespace {

using sim_test::one_of;
using ucs::sys::random;

ucg::schedule::traits traits_of(ucg_coll_t collective) {
    return traits_of(static_cast<ucg::schedule::collective>(collective));
}

void shuffle(random& dice, std::vector<std::uint32_t>& all) {
    for (std::size_t i = all.size(); i > 1; --i)
        std::swap(all[i - 1], all[dice.below(i)]);
}

void place_ranks(random& dice, plan& made) {
    made.ranks =
        static_cast<std::uint32_t>(dice.chance(0.9) ? dice.between(2, 8) : dice.between(9, 14));
    const std::uint64_t nodes = one_of<std::uint64_t>(
        dice, {1, 2, 2, 3, made.ranks, made.ranks, dice.between(1, made.ranks)});
    const bool in_order = dice.chance(0.5);
    const std::uint64_t domains = one_of<std::uint64_t>(dice, {0, 0, 2, 3});
    for (std::uint32_t rank = 0; rank < made.ranks; ++rank) {
        const std::uint64_t node = nodes >= made.ranks ? rank
                                   : in_order          ? rank * nodes / made.ranks
                                                       : dice.below(nodes);
        made.nodes.push_back(fmt::format("n{}", node));
        if (domains != 0) made.nodes.back() += fmt::format("/{}", dice.below(domains));
    }
}

// Options that must be equal on all ranks.
void choose_ucg_options(random& dice, plan& made) {
    const auto sometimes = [&](const char* option, std::initializer_list<const char*> values) {
        if (dice.chance(0.5)) return;
        made.ucg.emplace_back(option, *(values.begin() + dice.below(values.size())));
    };
    sometimes("SEGMENT", {"64", "1000", "8k"});
    sometimes("LEADERS", {"1", "2", "3"});
    sometimes("RAILS", {"2", "3"});
    sometimes("NODE_SLOT_SIZE", {"4k", "8k"});
    sometimes("NODE_SLOTS", {"2", "3", "4", "6", "8"});
    sometimes("NUMA_LEVEL", {"1", "1000", "inf"});
    sometimes("NODE_SINGLE_COPY", {"1", "1000", "inf"});
    if (dice.chance(0.1)) made.ucg.emplace_back("NODE_ENGINE", "n");
    if (dice.chance(0.15)) made.ucg.emplace_back("CHECK", "y");
    // Without these options the values are measured.
    if (dice.chance(0.5)) made.ucg.emplace_back("LATENCY", one_of(dice, {"0", "1us", "1ms"}));
    if (dice.chance(0.5)) made.ucg.emplace_back("BANDWIDTH", one_of(dice, {"1k", "1g", "100g"}));
    if (dice.chance(0.3)) {
        constexpr const char* variables[] = {"BCAST", "ALLREDUCE", "ALLGATHER", "REDUCE"};
        constexpr ucg::schedule::collective collectives[] = {
            ucg::schedule::collective::bcast, ucg::schedule::collective::allreduce,
            ucg::schedule::collective::allgather, ucg::schedule::collective::reduce};
        const std::size_t which = dice.below(std::size(variables));
        // The last row is the engine of a node.
        const auto rows = ucg::algo::algorithms(collectives[which]);
        made.ucg.emplace_back(variables[which], rows[dice.below(rows.size() - 1)].name);
    }
}

void add_world(random& dice, plan& made) {
    group_plan world;
    world.members.resize(made.ranks);
    std::iota(world.members.begin(), world.members.end(), 0U);
    if (dice.chance(0.3)) shuffle(dice, world.members);
    // Sometimes some ranks are left out.
    if (dice.chance(0.2)) world.members.resize(dice.between(1, made.ranks));
    made.groups.push_back(std::move(world));
    made.program.push_back({action_kind::make, made.groups.size() - 1});
}

void add_split(random& dice, plan& made, std::size_t parent) {
    split_plan split;
    split.parent = parent;
    const std::vector<std::uint32_t> members = made.groups[parent].members;
    const std::uint64_t colors = dice.between(1, 3);
    for (std::size_t i = 0; i < members.size(); ++i) {
        split.colors.push_back(dice.chance(0.1) ? UCG_SPLIT_NONE
                                                : static_cast<std::uint32_t>(dice.below(colors)));
        split.keys.push_back(static_cast<std::uint32_t>(dice.below(4)));
    }
    split.made.assign(members.size(), -1);
    for (std::uint32_t color = 0; color < colors; ++color) {
        std::vector<std::uint32_t> order;
        for (std::uint32_t i = 0; i < members.size(); ++i)
            if (split.colors[i] == color) order.push_back(i);
        if (order.empty()) continue;
        std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return split.keys[i]; });
        group_plan part;
        part.parent = static_cast<int>(parent);
        part.color = color;
        for (const std::uint32_t i : order) {
            part.members.push_back(members[i]);
            split.made[i] = static_cast<int>(made.groups.size());
        }
        made.groups.push_back(std::move(part));
    }
    made.splits.push_back(std::move(split));
    made.program.push_back({action_kind::split, made.splits.size() - 1});
}

std::uint64_t choose_count(random& dice) {
    const std::uint64_t choice = dice.below(20);
    if (choice < 2) return 0;
    if (choice < 5) return 1;
    if (choice < 10) return dice.between(2, 9);
    if (choice < 15) return dice.between(10, 300);
    if (choice < 19) return dice.between(300, 5000);
    return dice.between(5000, 60'000);
}

void choose_type(random& dice, collective_plan& made) {
    made.type = static_cast<ucg_type_t>(dice.below(UCG_TYPE_LAST));
    made.element = made.type == UCG_TYPE_OPAQUE ? one_of<std::size_t>(dice, {1, 3, 8, 24, 100})
                                                : ucg_type_size(made.type);
    const ucg::schedule::traits kind = traits_of(made.coll);
    if (!kind.reduces) return;
    std::vector<ucg_op_t> fitting;
    for (int i = 0; i < UCG_OP_USER; ++i) {
        const auto each = static_cast<ucg_op_t>(i);
        const bool has_result = !kind.scans || each != UCG_OP_AVERAGE;
        if (has_result && ucg_op_is_defined(made.type, each) != 0) fitting.push_back(each);
    }
    if (!fitting.empty() && dice.chance(0.75)) {
        made.op = fitting[dice.below(fitting.size())];
        return;
    }
    made.op = UCG_OP_USER;
    made.commutative = dice.chance(0.5);
    made.type = dice.chance(0.5) ? UCG_TYPE_UINT64 : UCG_TYPE_OPAQUE;
    made.element = made.type == UCG_TYPE_UINT64 ? 8 : one_of<std::size_t>(dice, {8, 24});
}

void choose_counts(random& dice, collective_plan& made, std::uint32_t ranks) {
    made.count = choose_count(dice);
    // Limit of an operation's memory on all ranks.
    constexpr std::uint64_t most = 1'500'000;
    const ucg::schedule::traits kind = traits_of(made.coll);
    const bool square = kind.has_blocks() && !kind.has_root();
    const std::uint64_t copies = square ? std::uint64_t{ranks} * ranks : ranks;
    made.count = std::min(made.count, most / (made.element * copies));
    if (!kind.has_counts) return;
    const bool matrix = made.coll == UCG_COLL_ALLTOALLV;
    made.counts.resize(matrix ? ranks * ranks : ranks);
    for (std::uint64_t& each : made.counts)
        each = dice.chance(0.2) ? 0 : dice.below(made.count + 1);
    made.places = dice.chance(0.5);
    if (!matrix || !made.in_place) return;
    for (std::uint32_t i = 0; i < ranks; ++i)
        for (std::uint32_t j = 0; j < i; ++j)
            made.counts[i * ranks + j] = made.counts[j * ranks + i];
}

void choose_disturbance(random& dice, const plan& in, operation_plan& made, std::uint32_t ranks) {
    if (in.kind == profile::cancel && dice.chance(0.4)) {
        if (dice.chance(0.6)) {
            made.canceled_by = static_cast<int>(dice.below(ranks));
            made.canceled_after = dice.chance(0.3) ? 0 : dice.below(30'000);
        } else {
            made.timeouts.assign(ranks, 0);
            const double limit = one_of(dice, {1e-9, 2e-6, 1e-5, 1e-4, 1e-2});
            for (double& each : made.timeouts)
                if (dice.chance(0.5)) each = limit;
        }
    }
    // Timeouts are needed for two reasons. All ranks share one process id, so a dead rank is not
    // detected by its id. And a group may be created on some of its ranks only. A connection may
    // take several attempts of 20 seconds each.
    if (in.kind == profile::deaths && !in.groups_first)
        made.timeouts.assign(ranks, one_of(dice, {70.0, 100.0}));
}

void add_operation(random& dice, plan& in, operation_plan made) {
    choose_disturbance(dice, in, made, in.groups[made.group].size());
    for (unsigned start = 0; start < made.starts; ++start)
        in.program.push_back({action_kind::start, in.operations.size(), start});
    in.operations.push_back(std::move(made));
}

void add_collective(random& dice, plan& in, std::size_t group) {
    const std::uint32_t ranks = in.groups[group].size();
    collective_plan made;
    made.seed = dice.next();
    made.coll = static_cast<ucg_coll_t>(dice.below(UCG_COLL_LAST));
    made.in_place = traits_of(made.coll).has_two_buffers && dice.chance(0.3);
    made.root = static_cast<std::uint32_t>(dice.below(ranks));
    made.deterministic = dice.chance(0.2);
    if (made.coll != UCG_COLL_BARRIER) {
        choose_type(dice, made);
        choose_counts(dice, made, ranks);
    }
    if (dice.chance(0.4)) {
        const auto rows = ucg::algo::algorithms(static_cast<ucg::schedule::collective>(made.coll));
        made.algorithm = rows[dice.below(rows.size() - 1)].name;
    }
    made.other_buffers = dice.chance(0.5);
    operation_plan all;
    all.group = group;
    all.starts = dice.chance(0.7) ? 1 : static_cast<unsigned>(dice.between(2, 4));
    all.details = std::move(made);
    add_operation(dice, in, std::move(all));
}

// Adds the operations of an exchange, mixed with other operations of the group.
void add_exchange(random& dice, plan& in, std::size_t group) {
    const std::size_t which = in.exchanges.size();
    in.exchanges.push_back(exchange_plan::generate(dice, in.groups[group].size()));
    in.exchanges.back().group = group;
    for (std::size_t i = 0; i < in.exchanges[which].steps.size(); ++i) {
        step_plan& step = in.exchanges[which].steps[i];
        step.exchange = which;
        step.number = i;
        operation_plan all;
        all.group = group;
        all.details = step;
        const bool once = step.operation == step_plan::kind::notify || step.with_notify;
        all.starts = once || dice.chance(0.6) ? 1 : static_cast<unsigned>(dice.between(2, 3));
        add_operation(dice, in, std::move(all));
        if (dice.chance(0.3)) add_collective(dice, in, group);
    }
}

// Starts of one request are mixed with other operations of the group; the order is the same on all
// ranks.
void add_work(random& dice, plan& made, std::set<std::size_t>& alive, std::uint64_t amount) {
    for (; amount > 0 && !alive.empty(); --amount) {
        const auto group = std::next(alive.begin(), static_cast<long>(dice.below(alive.size())));
        if (dice.chance(0.15))
            add_exchange(dice, made, *group);
        else
            add_collective(dice, made, *group);
    }
}

void write_program(random& dice, plan& made) {
    std::set<std::size_t> alive;
    const auto adopt = [&](std::size_t before) {
        for (std::size_t i = before; i < made.groups.size(); ++i)
            alive.insert(i);
    };
    const std::uint64_t phases = dice.between(1, 4);
    for (std::uint64_t phase = 0; phase < phases; ++phase) {
        const std::size_t before = made.groups.size();
        if (alive.empty() || dice.chance(0.15)) {
            add_world(dice, made);
        } else if (dice.chance(0.6)) {
            add_split(dice, made,
                      *std::next(alive.begin(), static_cast<long>(dice.below(alive.size()))));
        }
        adopt(before);
        if (!made.groups_first) {
            add_work(dice, made, alive, dice.between(1, 8));
            if (phase + 1 < phases && dice.chance(0.2)) {
                const std::size_t gone =
                    *std::next(alive.begin(), static_cast<long>(dice.below(alive.size())));
                made.program.push_back({action_kind::destroy, gone});
                alive.erase(gone);
            }
        }
    }
    if (made.groups_first) add_work(dice, made, alive, dice.between(4, 16));
    std::vector<std::uint32_t> rest(alive.begin(), alive.end());
    shuffle(dice, rest);
    for (const std::uint32_t each : rest)
        made.program.push_back({action_kind::destroy, each});
}

}  // namespace

std::uint32_t group_plan::rank_of(std::uint32_t world_rank) const {
    const auto found = std::ranges::find(members, world_rank);
    return found == members.end() ? UINT32_MAX
                                  : static_cast<std::uint32_t>(found - members.begin());
}

bool plan::shares_nodes(const group_plan& group) const {
    std::set<std::string> seen;
    for (const std::uint32_t each : group.members)
        if (!seen.insert(nodes[each].substr(0, nodes[each].find('/'))).second) return true;
    return false;
}

plan plan::generate(std::uint64_t seed, profile kind) {
    random dice(seed * 8 + static_cast<std::uint64_t>(kind) + 0x756367);
    plan made;
    made.seed = seed;
    made.kind = kind;
    place_ranks(dice, made);
    sim_test::choose_network(dice, made.network);
    made.ucp = sim_test::choose_options(dice);
    // Data of a failed operation may have to wait until the receiver takes messages of later
    // operations, and the rank is given up after ten seconds. With so small windows that happens
    // soon.
    if (kind != profile::orderly)
        std::erase_if(made.ucp,
                      [](const auto& option) { return option.first.starts_with("UNEXPECTED"); });
    made.paired = sim_test::choose_pairs(dice, made.network, made.ucp);
    choose_ucg_options(dice, made);
    made.max_active = one_of(dice, {1U, 2U, 4U, 16U});
    made.longest_pause = one_of<nanoseconds>(dice, {0, 3000, 100'000, 10'000'000});
    if (kind == profile::deaths) {
        made.failures = static_cast<unsigned>(dice.between(1, 3));
        group_plan all;
        all.members.resize(made.ranks);
        std::iota(all.members.begin(), all.members.end(), 0U);
        made.groups_first = !made.shares_nodes(all) && dice.chance(0.6);
    }
    write_program(dice, made);
    return made;
}

std::string plan::text() const {
    std::string line = fmt::format(
        "profile {} seed {}: {} ranks on {}; {} groups, {} splits, {} exchanges, {} operations, {} "
        "under way, "
        "pauses {} ns, {} failures{}; pairs {} on {} none made {} dead paths {} memory {:#x} "
        "refused {}; ops {:#x} short {} bcopy {} zcopy {} iov {} lands {}/{} delay {} connect {} "
        "window {} queue {} refusal {} batch {} immediate {} rma refused {};",
        profile_names[static_cast<std::size_t>(kind)], seed, ranks, fmt::join(nodes, ","),
        groups.size(), splits.size(), exchanges.size(), operations.size(), max_active,
        longest_pause, failures, groups_first ? " after all groups are made" : "", paired,
        network.paired.devices, network.paired.creation_failure, network.paired.dead_path,
        network.paired.memory_ops.bits, network.paired.registration_failure, network.ops.bits,
        network.max_short, network.max_bcopy, network.max_zcopy, network.max_iov,
        network.supports_landing, network.landing_piece, network.delay_probability,
        network.max_connect_time, network.tx_window, network.rx_queue, network.refusal,
        network.progress_batch, network.immediate_completion, network.rma_refused);
    for (const auto& [option, value] : ucp)
        line += fmt::format(" UCX_{}={}", option, value);
    for (const auto& [option, value] : ucg)
        line += fmt::format(" UCG_{}={}", option, value);
    return line;
}

std::string plan::text(const operation_plan& operation) const {
    if (const auto* const step = std::get_if<step_plan>(&operation.details))
        return exchanges[step->exchange].text(*step);
    const auto& coll = std::get<collective_plan>(operation.details);
    return fmt::format(
        "{}, {} x {} bytes {}, {}{}{}, root {}", ucg_coll_name(coll.coll), coll.count, coll.element,
        ucg_type_name(coll.type), traits_of(coll.coll).reduces ? ucg_op_name(coll.op) : "",
        coll.in_place ? " in place" : "", coll.deterministic ? " deterministic" : "", coll.root);
}

}  // namespace group_sim
