#include "uct/sm/cma/cma_iface.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "ucs/random/random_bytes.hpp"
#include "uct/base/builtin.hpp"
#include "uct/base/implemented_ops.hpp"
#include "uct/base/log.hpp"
#include "uct/sm/base/address.hpp"
#include "uct/sm/base/listing.hpp"
#include "uct/sm/cma/cma_ep.hpp"
#include "uct/sm/cma/permission.hpp"

namespace uct::cma {
namespace {

std::size_t or_default(ucs::config::memunits value, std::size_t otherwise) noexcept {
    return value.is_auto() ? otherwise : value.bytes;
}

}  // namespace

ucs::result<std::unique_ptr<iface>> cma_iface::open(const resource& where,
                                                    const iface_params& params) {
    const auto options = ucs::config::load<config>(params.config);
    if (!options) return options.status();
    if (options->allow_peers) allow_peers();
    return std::unique_ptr<iface>(new cma_iface(where, params, *options));
}

cma_iface::cma_iface(const resource& where, const iface_params& params, const config& options)
    : base_iface(where, params),
      host_(sm::read_host_identity()),
      limit_(or_default(options.seg_size, config::default_segment)),
      cookie_(ucs::sys::random_id()) {
    attr_.ops = implemented_ops<cma_ep>();
    attr_.max_iov = piece_cursor::max_pieces;
    attr_.max_rma = ~std::size_t{0};
    attr_.address_length = sizeof(sm::cma_address);
    attr_.latency = options.latency.seconds;
    attr_.bandwidth = options.bandwidth.or_else(config::default_bandwidth);
    attr_.overhead = options.overhead.seconds;
    attr_.reach = scope::host;
    attr_.cost = poll_cost::memory;
    attr_.claims_process = true;
}

void cma_iface::pack_address(std::span<std::byte> into) const {
    sm::cma_address address;
    address.pid = static_cast<std::uint32_t>(::getpid());
    address.host = host_.host;
    address.cookie_at = reinterpret_cast<std::uint64_t>(&cookie_);
    address.cookie = cookie_;
    address.pid_namespace = host_.pid_namespace;
    std::memcpy(into.data(), &address, sizeof address);
}

reachability cma_iface::check_reachable(std::span<const std::byte> address) const {
    const auto peer = sm::parse_cma_address(address);
    if (!peer) return {"its cma address is malformed or of another version"};
    if (peer->host != host_.host) return {"it runs on another host"};
    if (peer->pid_namespace == 0 || peer->pid_namespace != host_.pid_namespace) {
        return {
            "it is in another process id namespace, where its process id means another process"};
    }
    return {};
}

ucs::result<std::unique_ptr<ep>> cma_iface::create_ep(std::span<const std::byte> address) {
    const reachability answer = check_reachable(address);
    if (!answer.ok()) {
        ucs::log::error(cma_log, "no endpoint to a peer that cannot be reached: {}", answer.reason);
        return UCS_ERR_UNREACHABLE;
    }
    return std::unique_ptr<ep>(
        std::make_unique<cma_ep>(*this, *sm::parse_cma_address(address), limit_));
}

const ucs::config::table& config::options() {
    using ucs::config::between;
    using ucs::config::make_option;
    static const ucs::config::table table{
        "CMA single-copy transport",
        {
            make_option<&config::seg_size>(
                "CMA_SEG_SIZE", "1m",
                "Bytes that one system call copies at most. Longer operations take several.",
                ucs::config::at_least("4k").or_auto()),
            make_option<&config::allow_peers>(
                "CMA_ALLOW_PEERS", "n",
                "Where /proc/sys/kernel/yama/ptrace_scope is 1, let every process of the same "
                "user read and write the memory of this one. That is what the setting is meant to "
                "prevent, so it is off."),
            make_option<&config::latency>("CMA_LAT", "400ns",
                                          "Estimated time of a small copy, mostly the call.",
                                          between("0", "1s")),
            make_option<&config::bandwidth>("CMA_BW", "11g",
                                            "Estimated bytes per second of large copies.",
                                            between("1MBs", "1PBs").or_auto()),
            make_option<&config::overhead>("CMA_OVERHEAD", "400ns",
                                           "Estimated processor time of one operation.",
                                           between("0", "1s")),
        }};
    return table;
}

namespace {

class component_of_cma final : public component {
public:
    const char* name() const noexcept override { return "cma"; }
    std::vector<const ucs::config::table*> options() const override { return {&config::options()}; }

    listing query(const ucs::config::source& config_source) const override {
        const auto options = ucs::config::load<config>(config_source);
        return sm::list_memory(
            name(), options ? why_not_here(options->allow_peers) : "its options are not valid");
    }

    ucs::result<std::unique_ptr<iface>> open(const resource& where,
                                             const iface_params& params) const override {
        return cma_iface::open(where, params);
    }
};

}  // namespace

}  // namespace uct::cma

const uct::component& uct::cma_component() noexcept {
    static const cma::component_of_cma instance;
    return instance;
}
