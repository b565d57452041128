#include "test/sim/scenario.hpp"

#include <fmt/format.h>

#include "uct/sim/random.hpp"

namespace sim_test {

namespace {

using uct::sim::parameters;
using uct::sim::random;

template<class Value, std::size_t Count>
Value one_of(random& dice, const Value (&values)[Count]) {
    return values[dice.below(Count)];
}

void choose_limits(random& dice, parameters& network) {
    if (dice.chance(0.4)) return;
    network.max_short = one_of<std::size_t>(dice, {0, 8, 40, 200});
    network.max_bcopy = one_of<std::size_t>(dice, {400, 512, 1000, 4096});
    network.max_zcopy = one_of<std::size_t>(dice, {400, 2000, 65536});
    network.max_zcopy_header = one_of<std::size_t>(dice, {24, 40, 128});
    network.max_iov = one_of<std::size_t>(dice, {1, 2, 4, 30});
    network.max_rma = one_of<std::size_t>(dice, {100, 5000, std::size_t{1} << 30U});
}

void remove(uct::op_mask& ops, uct::op which) {
    ops.bits &= ~static_cast<std::uint32_t>(which);
}

void choose_network(random& dice, parameters& network) {
    choose_limits(dice, network);
    if (dice.chance(0.3)) remove(network.ops, uct::op::get_zcopy);
    if (dice.chance(0.3)) remove(network.ops, uct::op::am_zcopy);
    if (dice.chance(0.3)) remove(network.ops, uct::op::put_zcopy);
    if (dice.chance(0.3)) network.rma_refused = 0.7;
    network.reach = dice.chance(0.5) ? uct::scope::host : uct::scope::network;
    network.lands = dice.chance(0.5);
    network.landing_piece = dice.chance(0.5) ? 0 : 100;
    network.delay_probability = one_of(dice, {0.0, 0.1, 0.5});
    network.max_connect_time = one_of<ucs::time::nanoseconds>(dice, {0, 3000, 100'000});
    network.tx_window = one_of(dice, {1U, 2U, 4U, 16U, 64U});
    network.rx_queue = one_of(dice, {1U, 4U, 256U});
    network.refusal = one_of(dice, {0.0, 0.05, 0.3});
    network.progress_batch = one_of(dice, {1U, 4U, 16U});
    network.immediate_completion = one_of(dice, {0.0, 0.5, 1.0});
}

void choose_pairs(random& dice, scenario& made) {
    made.paired = one_of(dice, {0.0, 0.0, 0.8, 1.0});
    uct::sim::paired_parameters& pairs = made.network.paired;
    pairs.creation_failure = one_of(dice, {0.0, 0.0, 0.1, 0.6});
    pairs.dead_path = one_of(dice, {0.0, 0.0, 0.3, 1.0});
    pairs.retransmission_time = one_of<ucs::time::nanoseconds>(dice, {200'000, 1'000'000});
    if (dice.chance(0.4)) {
        pairs.memory_ops = {};  // messages only
        return;
    }
    pairs.max_put_short = one_of<std::size_t>(dice, {8, 32, 200});
    pairs.registration_failure = one_of(dice, {0.0, 0.0, 0.3});
    pairs.registration_time = one_of(dice, {0.0, 0.0, 1e-6, 1.0});
    pairs.devices = one_of(dice, {1U, 1U, 2U, 3U});
    pairs.keeps_registered = dice.chance(0.5);
    if (dice.chance(0.5)) remove(made.network.ops, uct::op::get_zcopy);
    made.options.emplace_back("MAX_RNDV_RAILS", one_of(dice, {"1", "2", "4"}));
    made.options.emplace_back("MIN_RNDV_CHUNK_SIZE", one_of(dice, {"1k", "4k"}));
}

std::vector<std::pair<std::string, std::string>> choose_options(random& dice) {
    std::vector<std::pair<std::string, std::string>> list{{"HOST_PROBE", "n"}};
    const auto sometimes = [&](const char* option, std::initializer_list<const char*> values) {
        if (dice.chance(0.5)) return;
        list.emplace_back(option, *(values.begin() + dice.below(values.size())));
    };
    sometimes("RNDV_THRESH", {"0", "1", "64", "1000", "8k", "inf"});
    sometimes("RNDV_SCHEME", {"get_zcopy", "am", "put_zcopy", "put_ppln"});
    sometimes("BCOPY_THRESH", {"0", "16"});
    sometimes("ZCOPY_THRESH", {"0", "1", "300"});
    sometimes("RNDV_FRAG_SIZE", {"200", "3000"});
    sometimes("STREAM_WINDOW", {"256k", "300k"});
    sometimes("UNEXPECTED_WINDOW", {"0", "600", "5000"});
    sometimes("UNEXPECTED_LIMIT", {"0", "1000", "50k"});
    sometimes("UNEXPECTED_ANNOUNCEMENTS", {"1", "2", "5"});
    return list;
}

}  // namespace

const char* name(profile which) noexcept {
    switch (which) {
        case profile::orderly:
            return "orderly";
        case profile::closing:
            return "closing";
        case profile::abrupt:
            return "abrupt";
        case profile::failures:
            return "failures";
    }
    return "?";
}

scenario scenario::of(std::uint64_t seed, profile kind) {
    random dice(seed * 8 + static_cast<std::uint64_t>(kind));
    scenario made;
    made.seed = seed;
    made.kind = kind;
    made.workers = dice.chance(0.6) ? 2 : dice.between(2, 8);
    made.actions = dice.between(10, 240 / made.workers);
    made.shared_context = dice.chance(0.5);
    choose_network(dice, made.network);
    made.options = choose_options(dice);
    made.remote = one_of(dice, {0.0, 0.3, 0.9});
    made.slice_length = one_of<std::size_t>(dice, {100, 3000, 100'000 / made.workers});
    made.streams = one_of(dice, {0.0, 0.0, 0.0, 0.7});
    made.sockets = one_of(dice, {0.0, 0.0, 0.3, 1.0});
    if (kind == profile::abrupt || kind == profile::failures) {
        made.peer_mode = one_of(dice, {0.0, 0.5, 1.0});
        made.breaking = one_of(dice, {0.0, 0.3, 0.9});
    }
    choose_pairs(dice, made);
    return made;
}

std::string scenario::text() const {
    std::string line = fmt::format(
        "profile {} seed {}: {} workers, {} actions each, {}, peer mode {}, remote {} on {} bytes, "
        "streams {} sockets {} breaking {}; "
        "pairs {} on {} none made {} dead paths {} repeated after {} memory {:#x}/{} refused {} "
        "in {} s kept {}; "
        "ops {:#x} short {} "
        "bcopy {} zcopy {} zheader {} iov {} rma {} {} lands {}/{} delay {} connect {} window {} "
        "queue {} refusal {} batch {} immediate {} rma refused {};",
        name(kind), seed, workers, actions, shared_context ? "one context" : "own contexts",
        peer_mode, remote, slice_length, streams, sockets, breaking, paired, network.paired.devices,
        network.paired.creation_failure, network.paired.dead_path,
        network.paired.retransmission_time, network.paired.memory_ops.bits,
        network.paired.max_put_short, network.paired.registration_failure,
        network.paired.registration_time, network.paired.keeps_registered, network.ops.bits,
        network.max_short, network.max_bcopy, network.max_zcopy, network.max_zcopy_header,
        network.max_iov, network.max_rma, network.reach == uct::scope::host ? "host" : "network",
        network.lands, network.landing_piece, network.delay_probability, network.max_connect_time,
        network.tx_window, network.rx_queue, network.refusal, network.progress_batch,
        network.immediate_completion, network.rma_refused);
    for (const auto& [option, value] : options)
        line += fmt::format(" UCX_{}={}", option, value);
    return line;
}

}  // namespace sim_test
