#include "ucs/config/openucx_options.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>

namespace ucs::config {
namespace {

// Reasons why options have no effect. The last column of openucx_options.inc names one of these, or
// `does` for an option that this library has. First the reasons for options that tune a mechanism
// which does not exist here.
constexpr no_effect mlx5{
    "the transports rc_mlx5, ud_mlx5 and dc_mlx5 do not exist here; rc_verbs and ud_verbs serve "
    "their devices",
    false};
constexpr no_effect efa{"there is no transport for EFA devices", false};
constexpr no_effect sysv{"there is no transport sysv; posix serves shared memory", false};
constexpr no_effect gpu_memory{
    "the type of memory, and the way of its data, are found without this parameter", false};
constexpr no_effect tag_offload{"no transport matches tags in the device", false};
constexpr no_effect allocator{
    "the allocator's functions are not replaced, only the functions below it", false};
constexpr no_effect hooks{"functions of the C library are replaced in one way only", false};
constexpr no_effect one_cache{
    "registrations are kept by one cache with the options UCX_IB_RCACHE_ENABLE, "
    "UCX_IB_RCACHE_MAX_REGIONS and UCX_IB_RCACHE_MAX_SIZE",
    false};
constexpr no_effect registration{"memory is registered in one way, or on demand as UCX_IB_ODP says",
                                 false};
constexpr no_effect fixed_fabric{
    "the device's port and GID determine the path to a peer, without this choice", false};
constexpr no_effect measured{"costs are measured and observed instead of being set", false};
constexpr no_effect own_pools{"buffers are managed in another way, without this parameter", false};
constexpr no_effect no_thread{"no thread and no signal drives communication", false};
constexpr no_effect one_address{"addresses and keys have one format", false};
constexpr no_effect own_choice{"lanes are chosen by predicted cost, without this parameter", false};
constexpr no_effect own_protocols{"the protocols of this library have no such parameter", false};
constexpr no_effect one_library{"transports are part of the library, not modules", false};
constexpr no_effect transport{"this library's transport has no such parameter", false};
constexpr no_effect family_name{"only the option with the transport's own name is read", true};
constexpr no_effect hardware{"its device or transport is not supported", false};

// Reasons for options that request a service whose result the user expects.
constexpr no_effect ib_for_all{
    "UCX_IB_SL, UCX_IB_PKEY, UCX_IB_TRAFFIC_CLASS and UCX_IB_HOP_LIMIT set this for all transports",
    true};
constexpr no_effect crash_reports{"the library installs no signal handler and reports no crash",
                                  true};
constexpr no_effect statistics{
    "processes write no statistics; ucx_vfs shows their counters as files", true};
constexpr no_effect profiling{"the library records no profile", true};
constexpr no_effect memory_tracking{"the library does not count allocations", true};
constexpr no_effect other_log{
    "the log is controlled by UCX_LOG_LEVEL, UCX_LOG_FILE, UCX_LOG_FILE_SIZE and "
    "UCX_LOG_FILE_ROTATE, and protocols are printed by UCX_PROTO_INFO",
    true};
constexpr no_effect protocol_names{
    "protocols are chosen by predicted cost; UCX_TLS and UCX_RNDV_SCHEME limit the choice", true};

// The reason of a row, as a pointer; null for `does`.
struct row_effect {
    const no_effect* effect;
    constexpr row_effect(const no_effect& reason) noexcept : effect(&reason) {}
    constexpr row_effect(std::nullptr_t) noexcept : effect(nullptr) {}
};
constexpr std::nullptr_t does = nullptr;

#define OPENUCX_OPTION(name, first, last, reason) {name, first, last, row_effect(reason).effect},
constexpr openucx_option rows[] = {
#include "ucs/config/openucx_options.inc"
};
#undef OPENUCX_OPTION

static_assert(std::is_sorted(std::begin(rows), std::end(rows),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));

// Prefixes of transports and devices that OpenUCX lists only if their hardware or software is
// present.
constexpr std::string_view unlisted[] = {"CUDA_", "GDR_COPY_", "GDAKI_", "RC_GDA_", "ROCM_",
                                         "ZE_",   "UGNI_",     "GAUDI_", "GGA_",    "XPMEM_",
                                         "KNEM_", "EFA_",      "DEVX_"};

// A name that begins with `family` stands for the options of the members with the same rest.
struct option_family {
    std::string_view family;
    std::string_view members[2];
};
constexpr option_family families[] = {
    {"RC_", {"RC_VERBS_", "RC_MLX5_"}}, {"UD_", {"UD_VERBS_", "UD_MLX5_"}},
    {"DC_", {"DC_MLX5_", "DC_MLX5_"}},  {"IB_", {"RC_VERBS_", "UD_VERBS_"}},
    {"MM_", {"POSIX_", "SYSV_"}},
};

const openucx_option* find_row(std::string_view name) noexcept {
    const auto* found = std::lower_bound(
        std::begin(rows), std::end(rows), name,
        [](const openucx_option& row, std::string_view wanted) { return row.name < wanted; });
    return found != std::end(rows) && found->name == name ? found : nullptr;
}

const openucx_option* find_in_families(std::string_view name) {
    for (const option_family& each : families) {
        if (!name.starts_with(each.family)) continue;
        for (const std::string_view member : each.members) {
            const std::string full = std::string(member) += name.substr(each.family.size());
            if (const openucx_option* found = find_row(full); found != nullptr) return found;
        }
    }
    return nullptr;
}

}  // namespace

std::span<const openucx_option> openucx_options() noexcept {
    return rows;
}

const no_effect* find_no_effect(std::string_view name) {
    if (const openucx_option* row = find_row(name); row != nullptr) return row->effect;
    const auto names = [name](std::string_view prefix) { return name.starts_with(prefix); };
    if (std::any_of(std::begin(unlisted), std::end(unlisted), names)) return &hardware;
    const openucx_option* row = find_in_families(name);
    if (row == nullptr) return nullptr;
    // If the member has the option but the family does not, no code reads the family's name.
    return row->effect != nullptr ? row->effect : &family_name;
}

}  // namespace ucs::config
