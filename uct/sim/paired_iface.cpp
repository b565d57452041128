#include "uct/sim/paired_iface.hpp"

#include "uct/sim/paired_domain.hpp"
#include "uct/sim/paired_ep.hpp"

namespace uct::sim {

namespace {

atomic_support all_atomics() noexcept {
    atomic_kinds_of_size all;
    for (unsigned number = 0; number < atomic_kinds; ++number) {
        const auto kind = static_cast<atomic_kind>(number);
        all.fetching.add(kind);
        if (!atomic_op{.kind = kind}.must_fetch()) all.posted.add(kind);
    }
    return {all, all};
}

}  // namespace

paired_iface::paired_iface(const resource& where, const iface_params& params, fabric& network)
    : sim_iface(where, params, network, true),
      domain_(params.domain != nullptr ? params.domain : std::make_shared<paired_domain>(network)) {
    own_node().memory = static_cast<const paired_domain&>(*domain_).known();
    const paired_parameters& p = network.network().paired;
    for (const op which : {op::get_zcopy, op::put_zcopy})
        attr_.ops.remove(which);
    attr_.ops.bits |= p.memory_ops.bits;
    attr_.keyed = p.memory_ops.bits != 0;
    attr_.max_put_short = p.max_put_short;
    attr_.max_put_bcopy = attr_.max_bcopy;
    attr_.max_get_bcopy = attr_.max_bcopy;
    if (attr_.ops.has(op::atomic)) attr_.atomics = all_atomics();
    attr_.connection_length = paired_ep::connection_length;
    attr_.latency = static_cast<double>(p.min_latency + p.max_latency) / 2 * 1e-9;
    attr_.bandwidth = p.bandwidth;
    attr_.reach = scope::network;
    attr_.supports_landing = false;
    attr_.needs_check = true;
}

ucs::result<std::unique_ptr<ep>> paired_iface::create_ep(std::span<const std::byte> address) {
    const auto target = target_of(address);
    if (!target) return target.status();
    if (fabric_.dice().chance(fabric_.network().paired.creation_failure)) {
        ucs::log::error(uct_log, "{}/{}: there is no room for one more endpoint", where().transport,
                        where().device);
        return UCS_ERR_NO_MEMORY;
    }
    return std::unique_ptr<ep>(std::make_unique<paired_ep>(*this, fabric_, *target));
}

}  // namespace uct::sim
