#include "test/sim/scenario.hpp"

#include <fmt/format.h>

#include "test/sim/choices.hpp"

namespace sim_test {

scenario scenario::of(std::uint64_t seed, profile kind) {
    ucs::sys::random dice(seed * 8 + static_cast<std::uint64_t>(kind));
    scenario made{.seed = seed, .kind = kind, .workers = dice.chance(0.6) ? 2 : dice.between(2, 8)};
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
    made.paired = choose_pairs(dice, made.network, made.options);
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
        profile_names[static_cast<std::size_t>(kind)], seed, workers, actions,
        shared_context ? "one context" : "own contexts", peer_mode, remote, slice_length, streams,
        sockets, breaking, paired, network.paired.devices, network.paired.creation_failure,
        network.paired.dead_path, network.paired.retransmission_time,
        network.paired.memory_ops.bits, network.paired.max_put_short,
        network.paired.registration_failure, network.paired.registration_time,
        network.paired.keeps_registered, network.ops.bits, network.max_short, network.max_bcopy,
        network.max_zcopy, network.max_zcopy_header, network.max_iov, network.max_rma,
        network.reach == uct::scope::host ? "host" : "network", network.supports_landing,
        network.landing_piece, network.delay_probability, network.max_connect_time,
        network.tx_window, network.rx_queue, network.refusal, network.progress_batch,
        network.immediate_completion, network.rma_refused);
    for (const auto& [option, value] : options)
        line += fmt::format(" UCX_{}={}", option, value);
    return line;
}

}  // namespace sim_test
