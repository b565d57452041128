#include "uct/cuda/copy/copy_iface.hpp"

#include "uct/base/builtin.hpp"
#include "uct/base/implemented_ops.hpp"
#include "uct/base/log.hpp"
#include "uct/cuda/copy/copy_ep.hpp"

namespace uct::cuda {

ucs::result<std::unique_ptr<iface>> copy_iface::open(const resource& where,
                                                     const iface_params& params) {
    const auto options = ucs::config::load<copy_settings>(params.config);
    if (!options) return options.status();
    return std::unique_ptr<iface>(new copy_iface(where, params, *options));
}

copy_iface::copy_iface(const resource& where, const iface_params& params,
                       const copy_settings& options)
    : cuda_iface(where, params,
                 {.operations = options.max_events, .events_per_turn = options.max_poll}) {
    attr_.ops = implemented_ops<copy_ep>();
    attr_.max_put_short = copy_ep::max_short;
    attr_.max_put_bcopy = copy_ep::max_bcopy;
    attr_.max_get_bcopy = copy_ep::max_bcopy;
    attr_.latency = options.latency.seconds;
    attr_.overhead = options.overhead.seconds;
    attr_.bandwidth = options.bandwidth.others;
    attr_.rates = {.host_to_device = options.bandwidth.host_to_device,
                   .device_to_host = options.bandwidth.device_to_host,
                   .device_to_device = options.bandwidth.device_to_device};
    attr_.reach = scope::process;
}

reachability copy_iface::check_reachable(std::span<const std::byte> address) const {
    const auto peer = process_address::parse(address);
    if (!peer) return {"its cuda_copy address is malformed or of another version"};
    if (!peer->is_same_process(own_))
        return {"it is another process, and cuda_copy copies within one"};
    return {};
}

ucs::result<std::unique_ptr<ep>> copy_iface::create_ep(std::span<const std::byte> address) {
    if (const reachability answer = check_reachable(address); !answer.ok()) {
        ucs::log::error(cuda_log, "no endpoint to a peer that cannot be reached: {}",
                        answer.reason);
        return UCS_ERR_UNREACHABLE;
    }
    return std::unique_ptr<ep>(std::make_unique<copy_ep>(*this, own_));
}

namespace {

class component_of_cuda_copy final : public component {
public:
    const char* name() const noexcept override { return "cuda_copy"; }
    std::vector<const ucs::config::table*> options() const override {
        return {&copy_settings::options()};
    }

    listing query(const ucs::config::source&) const override { return list_driver(name()); }

    ucs::result<std::unique_ptr<iface>> open(const resource& where,
                                             const iface_params& params) const override {
        return copy_iface::open(where, params);
    }
};

}  // namespace

}  // namespace uct::cuda

const uct::component& uct::cuda_copy_component() noexcept {
    static const cuda::component_of_cuda_copy instance;
    return instance;
}
