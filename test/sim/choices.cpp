#include "test/sim/choices.hpp"

namespace sim_test {

using ucs::sys::random;
using uct::sim::parameters;

namespace {

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

}  // namespace

void choose_network(random& dice, parameters& network) {
    choose_limits(dice, network);
    if (dice.chance(0.3)) remove(network.ops, uct::op::get_zcopy);
    if (dice.chance(0.3)) remove(network.ops, uct::op::am_zcopy);
    if (dice.chance(0.3)) remove(network.ops, uct::op::put_zcopy);
    if (dice.chance(0.3)) network.rma_refused = 0.7;
    network.reach = dice.chance(0.5) ? uct::scope::host : uct::scope::network;
    network.supports_landing = dice.chance(0.5);
    network.landing_piece = dice.chance(0.5) ? 0 : 100;
    network.delay_probability = one_of(dice, {0.0, 0.1, 0.5});
    network.max_connect_time = one_of<ucs::time::nanoseconds>(dice, {0, 3000, 100'000});
    network.tx_window = one_of(dice, {1U, 2U, 4U, 16U, 64U});
    network.rx_queue = one_of(dice, {1U, 4U, 256U});
    network.refusal = one_of(dice, {0.0, 0.05, 0.3});
    network.progress_batch = one_of(dice, {1U, 4U, 16U});
    network.immediate_completion = one_of(dice, {0.0, 0.5, 1.0});
}

double choose_pairs(random& dice, parameters& network, options& list) {
    const double paired = one_of(dice, {0.0, 0.0, 0.8, 1.0});
    uct::sim::paired_parameters& pairs = network.paired;
    pairs.creation_failure = one_of(dice, {0.0, 0.0, 0.1, 0.6});
    pairs.dead_path = one_of(dice, {0.0, 0.0, 0.3, 1.0});
    pairs.retransmission_time = one_of<ucs::time::nanoseconds>(dice, {200'000, 1'000'000});
    if (dice.chance(0.4)) {
        pairs.memory_ops = {};  // messages only
        return paired;
    }
    pairs.max_put_short = one_of<std::size_t>(dice, {8, 32, 200});
    pairs.registration_failure = one_of(dice, {0.0, 0.0, 0.3});
    pairs.registration_time = one_of(dice, {0.0, 0.0, 1e-6, 1.0});
    pairs.devices = one_of(dice, {1U, 1U, 2U, 3U});
    pairs.keeps_registered = dice.chance(0.5);
    if (dice.chance(0.5)) remove(network.ops, uct::op::get_zcopy);
    list.emplace_back("MAX_RNDV_RAILS", one_of(dice, {"1", "2", "4"}));
    list.emplace_back("MIN_RNDV_CHUNK_SIZE", one_of(dice, {"1k", "4k"}));
    return paired;
}

options choose_options(random& dice) {
    options list{{"HOST_PROBE", "n"}};
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

}  // namespace sim_test
