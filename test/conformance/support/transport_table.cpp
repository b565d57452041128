// Table of all transports that the suite runs on. A new transport adds its rows here.

#include "test/conformance/support/environment.hpp"
#include "ucs/cuda/driver.hpp"
#include "uct/components/components.hpp"
#include "uct/sim/component.hpp"

namespace conformance {

namespace {

struct setting {
    const char* name;
    const char* text;
};

struct variant {
    bool only_itself = false;
    bool landing = false;
    bool checks_remote_memory = false;
    std::vector<setting> settings{};
    ucs_memory_type_t local_memory = UCS_MEMORY_TYPE_HOST;
    ucs_memory_type_t remote_memory = UCS_MEMORY_TYPE_HOST;
};

ucs::config::source source_of(const variant& options) {
    ucs::config::source config = ucs::config::source::empty();
    for (const setting& each : options.settings)
        config.set(each.name, each.text);
    return config;
}

// A transport of the registry on one of its devices.
class built_in final : public environment {
public:
    built_in(const uct::component& transport, uct::resource where, variant options)
        : transport_(transport), where_(std::move(where)), options_(std::move(options)) {}

    const uct::component& transport() const override { return transport_; }
    uct::resource where() const override { return where_; }
    ucs::config::source config() const override { return source_of(options_); }
    bool reaches_only_itself() const override { return options_.only_itself; }
    bool landing() const override { return options_.landing; }
    bool checks_remote_memory() const override { return options_.checks_remote_memory; }
    ucs_memory_type_t local_memory() const override { return options_.local_memory; }
    ucs_memory_type_t remote_memory() const override { return options_.remote_memory; }

private:
    const uct::component& transport_;
    const uct::resource where_;
    const variant options_;
};

// `Component`: sim_component or paired_component.
template<class Component>
class simulated final : public environment {
public:
    simulated(std::uint64_t seed, const uct::sim::parameters& network)
        : fabric_(seed, network), component_(fabric_) {}

    const uct::component& transport() const override { return component_; }
    uct::resource where() const override { return component_.query(config()).usable.front(); }
    bool landing() const override { return fabric_.network().supports_landing; }
    bool pass_time() override {
        if (!fabric_.step()) fabric_.advance(ucs::time::millisecond);
        return true;
    }
    bool can_refuse_rma() const override { return !by_keys; }
    bool checks_remote_memory() const override { return by_keys; }
    void refuse_rma_of_first_pair() override { fabric_.refuse_rma(0, 1); }
    std::string report() const override {
        return "seed " + std::to_string(fabric_.seed()) + "\n" + fabric_.history().text();
    }

private:
    static constexpr bool by_keys = std::is_same_v<Component, uct::sim::paired_component>;
    uct::sim::fabric fabric_;
    Component component_;
};

std::string name_of(ucs_memory_type_t kind) {
    switch (kind) {
        case UCS_MEMORY_TYPE_CUDA:
            return "device";
        case UCS_MEMORY_TYPE_CUDA_MANAGED:
            return "managed";
        default:
            return "host";
    }
}

void add_built_in(std::vector<transport_row>& table, const std::string& row,
                  const std::string& transport, const std::string& device,
                  const variant& options = {}) {
    const ucs::config::source config = source_of(options);
    for (const uct::component* candidate : uct::builtin_components()) {
        if (candidate->name() != transport) continue;
        const uct::listing devices = candidate->query(config);
        for (const uct::resource& found : devices.usable) {
            if (!device.empty() && found.device != device) continue;
            table.push_back({row,
                             [candidate, found, options] {
                                 return std::make_unique<built_in>(*candidate, found, options);
                             },
                             {}});
            return;
        }
        std::string why = "it found no device " + device;
        for (const uct::unusable_resource& found : devices.unusable)
            why = found.reason;
        table.push_back({row, {}, why});
        return;
    }
    table.push_back({row, {}, "it is not built in"});
}

// Each row allows one address family. If lo has no address of it, the row is skipped.
void add_tcp(std::vector<transport_row>& table) {
    const setting v4{"TCP_AF_PRIO", "inet"};
    const setting v6{"TCP_AF_PRIO", "inet6"};
    // Small segments, so that small messages reach the limits of buffers.
    const setting small_tx{"TCP_TX_SEG_SIZE", "2k"};
    const setting small_rx{"TCP_RX_SEG_SIZE", "1k"};
    add_built_in(table, "tcp v4", "tcp", "lo", {.settings = {v4}});
    add_built_in(table, "tcp v6", "tcp", "lo", {.settings = {v6}});
    add_built_in(table, "tcp v4 landing", "tcp", "lo", {.landing = true, .settings = {v4}});
    add_built_in(table, "tcp v6 small landing", "tcp", "lo",
                 {.landing = true, .settings = {v6, small_tx, small_rx}});
    const setting key{"JOB_KEY", "the key of the conformance suite"};
    const setting encryption{"TCP_ENCRYPTION", "y"};
    add_built_in(table, "tcp v4 encrypted", "tcp", "lo", {.settings = {v4, key, encryption}});
    add_built_in(table, "tcp v6 encrypted landing", "tcp", "lo",
                 {.landing = true, .settings = {v6, key, encryption}});
}

// Every transport of CUDA, with all kinds of memory that it takes. Without a driver the row shows
// why; test/cuda/driver is a driver for machines without a GPU.
void add_cuda(std::vector<transport_row>& table, const std::string& transport,
              std::span<const ucs_memory_type_t> remote_kinds, bool checks_remote_memory) {
    if (ucs::cuda::start_driver() == nullptr) {
        table.push_back({transport, {}, ucs::cuda::why_no_driver()});
        return;
    }
    constexpr ucs_memory_type_t all[] = {UCS_MEMORY_TYPE_HOST, UCS_MEMORY_TYPE_CUDA,
                                         UCS_MEMORY_TYPE_CUDA_MANAGED};
    for (const ucs_memory_type_t local : all) {
        for (const ucs_memory_type_t remote : remote_kinds) {
            const std::string row = transport + " " + name_of(local) + " and " + name_of(remote);
            add_built_in(table, row, transport, "",
                         {.checks_remote_memory = checks_remote_memory,
                          .local_memory = local,
                          .remote_memory = remote});
        }
    }
    // Every operation waits for the one before.
    add_built_in(
        table, transport + " one event", transport, "",
        {.checks_remote_memory = checks_remote_memory,
         .settings = {{transport == "cuda_ipc" ? "CUDA_IPC_MAX_EVENTS" : "CUDA_COPY_MAX_EVENTS",
                       "1"}},
         .remote_memory = UCS_MEMORY_TYPE_CUDA});
}

struct network_kind {
    const char* name;
    uct::sim::parameters network;
};

std::vector<network_kind> network_kinds() {
    const uct::sim::parameters rough{.max_short = 32,
                                     .max_bcopy = 1024,
                                     .max_zcopy = 4096,
                                     .max_zcopy_header = 16,
                                     .max_latency = 50'000,
                                     .delay_probability = 0.2,
                                     .max_connect_time = 30'000,
                                     .tx_window = 3,
                                     .rx_queue = 4,
                                     .refusal = 0.1,
                                     .progress_batch = 2,
                                     .max_completion_delay = 100'000,
                                     .immediate_completion = 0.3,
                                     .paired = {.max_latency = 50'000}};

    uct::sim::parameters landing = rough;
    landing.supports_landing = true;
    landing.max_zcopy_header = 64;

    const uct::sim::parameters one_slot{.tx_window = 1, .rx_queue = 1, .progress_batch = 1};

    const uct::sim::parameters messages_only{
        .ops = {static_cast<std::uint32_t>(uct::op::am_bcopy)}};

    return {{"smooth", {}},
            {"rough", rough},
            {"landing", landing},
            {"one slot", one_slot},
            {"bcopy only", messages_only}};
}

template<class Component>
void add_simulated(std::vector<transport_row>& table, const std::string& name,
                   const network_kind& kind, std::uint64_t seeds) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        table.push_back({name + " " + kind.name + " seed " + std::to_string(seed),
                         [seed, network = kind.network] {
                             return std::make_unique<simulated<Component>>(seed, network);
                         },
                         {}});
    }
}

}  // namespace

std::vector<transport_row> transport_table() {
    std::vector<transport_row> table;
    add_built_in(table, "self", "self", "", {.only_itself = true});
    add_built_in(table, "posix", "posix", "");
    add_built_in(table, "cma", "cma", "", {.checks_remote_memory = true});
    constexpr ucs_memory_type_t any_memory[] = {UCS_MEMORY_TYPE_HOST, UCS_MEMORY_TYPE_CUDA,
                                                UCS_MEMORY_TYPE_CUDA_MANAGED};
    add_cuda(table, "cuda_copy", any_memory, false);
    constexpr ucs_memory_type_t device_memory[] = {UCS_MEMORY_TYPE_CUDA};
    add_cuda(table, "cuda_ipc", device_memory, true);
    add_tcp(table);
    // Peers are given up sooner than by default.
    const setting impatient{"RC_VERBS_TIMEOUT", "60ms"};
    add_built_in(table, "rc_verbs", "rc_verbs", "",
                 {.checks_remote_memory = true, .settings = {impatient}});
    // Credits and queues that are always nearly used up, devices with little inline data, and
    // memory that is registered for each use.
    add_built_in(table, "rc_verbs small", "rc_verbs", "",
                 {.checks_remote_memory = true,
                  .settings = {impatient,
                               {"RC_VERBS_TX_QUEUE_LEN", "4"},
                               {"RC_VERBS_TX_CQ_LEN", "4"},
                               {"RC_VERBS_TX_MIN_INLINE", "0"},
                               {"RC_VERBS_TX_MIN_SGE", "2"},
                               {"RC_VERBS_RX_QUEUE_LEN", "8"},
                               {"RC_VERBS_RX_BUFS_FIRST", "8"},
                               {"RC_VERBS_SEG_SIZE", "2k"},
                               {"RC_VERBS_FC_WND_SIZE", "4"},
                               {"IB_RCACHE_ENABLE", "n"}}});
    // A closing side does not wait long for one without progress.
    const setting brief{"UD_VERBS_LINGER", "20ms"};
    add_built_in(table, "ud_verbs", "ud_verbs", "", {.settings = {brief}});
    // A small path MTU, so that messages have several parts, and queues that are always nearly used
    // up.
    const std::vector<setting> small{brief,
                                     {"UD_VERBS_PATH_MTU", "256"},
                                     {"UD_VERBS_TX_QUEUE_LEN", "4"},
                                     {"UD_VERBS_TX_WINDOW", "2"},
                                     {"UD_VERBS_RX_QUEUE_LEN", "16"},
                                     {"UD_VERBS_RX_BUFS_FIRST", "8"}};
    add_built_in(table, "ud_verbs small", "ud_verbs", "", {.settings = small});
    add_built_in(table, "ud_verbs lossy", "ud_verbs", "",
                 {.settings = {brief,
                               {"UD_VERBS_TIMEOUT", "2s"},
                               {"UD_VERBS_MIN_RTO", "1ms"},
                               {"UD_VERBS_MAX_RTO", "100ms"},
                               {"UD_VERBS_TEST_DROP", "0.1"},
                               {"UD_VERBS_TEST_DUPLICATE", "0.1"},
                               {"UD_VERBS_TEST_REORDER", "0.1"},
                               {"UD_VERBS_TEST_FORGET", "0.2"}}});
    for (const network_kind& kind : network_kinds()) {
        add_simulated<uct::sim::sim_component>(table, "sim", kind, 4);
        if (!kind.network.supports_landing)
            add_simulated<uct::sim::paired_component>(table, "simrc", kind, 2);
    }
    return table;
}

}  // namespace conformance
