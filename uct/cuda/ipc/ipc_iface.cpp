#include "uct/cuda/ipc/ipc_iface.hpp"

#include "uct/base/builtin.hpp"
#include "uct/base/implemented_ops.hpp"
#include "uct/base/log.hpp"
#include "uct/cuda/ipc/ipc_ep.hpp"

namespace uct::cuda {

ucs::result<std::unique_ptr<iface>> ipc_iface::open(const resource& where,
                                                    const iface_params& params) {
    const auto options = ucs::config::load<ipc_settings>(params.config);
    if (!options) return options.status();
    auto domain = std::dynamic_pointer_cast<ipc_domain>(params.domain);
    if (domain == nullptr) {
        auto opened = ipc_domain::open(params.config);
        if (!opened) return opened.status();
        domain = std::move(*opened);
    }
    return std::unique_ptr<iface>(new ipc_iface(where, params, *options, std::move(domain)));
}

ipc_iface::ipc_iface(const resource& where, const iface_params& params, const ipc_settings& options,
                     std::shared_ptr<ipc_domain> domain)
    : cuda_iface(where, params,
                 {.operations = options.max_events, .events_per_turn = options.max_poll}),
      domain_(std::move(domain)),
      max_streams_(options.max_streams) {
    attr_.ops = implemented_ops<ipc_ep>();
    if (options.enable_get_zcopy == ucs::config::ternary::no) attr_.ops.remove(op::get_zcopy);
    attr_.latency = options.latency.seconds;
    attr_.overhead = options.overhead.seconds;
    attr_.bandwidth = options.bandwidth.or_else(ipc_settings::default_bandwidth);
    attr_.rates.device_to_device = attr_.bandwidth;
    attr_.remote_memory.remove(UCS_MEMORY_TYPE_HOST);
    attr_.remote_memory.remove(UCS_MEMORY_TYPE_CUDA_MANAGED);
    attr_.reach = scope::host;
    attr_.keyed = true;
}

reachability ipc_iface::check_reachable(std::span<const std::byte> address) const {
    const auto peer = process_address::parse(address);
    if (!peer) return {"its cuda_ipc address is malformed or of another version"};
    if (peer->host != own_.host) return {"it runs on another host"};
    return {};
}

ucs::result<std::unique_ptr<ep>> ipc_iface::create_ep(std::span<const std::byte> address) {
    if (const reachability answer = check_reachable(address); !answer.ok()) {
        ucs::log::error(cuda_log, "no endpoint to a peer that cannot be reached: {}",
                        answer.reason);
        return UCS_ERR_UNREACHABLE;
    }
    return std::unique_ptr<ep>(
        std::make_unique<ipc_ep>(*this, *process_address::parse(address), *domain_, max_streams_));
}

namespace {

class component_of_cuda_ipc final : public component {
public:
    const char* name() const noexcept override { return "cuda_ipc"; }
    std::vector<const ucs::config::table*> options() const override {
        return {&ipc_settings::options()};
    }

    listing query(const ucs::config::source&) const override { return list_driver(name()); }

    ucs::result<std::shared_ptr<memory_domain>> open_domain(
        const resource&, const ucs::config::source& config) const override {
        auto opened = ipc_domain::open(config);
        if (!opened) return opened.status();
        return std::shared_ptr<memory_domain>(std::move(*opened));
    }

    ucs::result<std::unique_ptr<iface>> open(const resource& where,
                                             const iface_params& params) const override {
        return ipc_iface::open(where, params);
    }
};

}  // namespace

}  // namespace uct::cuda

const uct::component& uct::cuda_ipc_component() noexcept {
    static const cuda::component_of_cuda_ipc instance;
    return instance;
}
