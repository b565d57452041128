#include "uct/self/iface.hpp"

#include <cstring>

#include "uct/base/builtin.hpp"
#include "uct/base/implemented_ops.hpp"

namespace uct {

namespace {
constexpr std::size_t ring_size = std::size_t{64} << 10U;
}

self_iface::self_iface(const resource& where, const iface_params& params)
    : base_iface(where, params), messages_(ring_size) {
    attr_.ops = implemented_ops<self_ep>();
    attr_.max_short = 256;
    attr_.max_bcopy = max_message;
    attr_.max_iov = 64;
    attr_.max_rma = ~std::size_t{0};
    attr_.address_length = sizeof(std::uint64_t);
    attr_.latency = 10e-9;
    attr_.bandwidth = 20e9;
    attr_.overhead = 10e-9;
    attr_.reach = scope::process;
}

unsigned self_iface::progress() {
    // Delivers only the messages that are queued now: handlers that send to themselves must not
    // keep the worker here.
    const std::size_t present = messages_.count();
    for (std::size_t i = 0; i < present; ++i) {
        message_ring::record& message = messages_.front();
        deliver(message.id, message.data(), message.length);
        messages_.pop();
    }
    return static_cast<unsigned>(present) + dispatch_waiting();
}

void self_iface::pack_address(std::span<std::byte> into) const {
    std::memcpy(into.data(), &worker_uid_, sizeof worker_uid_);
}

reachability self_iface::check_reachable(std::span<const std::byte> address) const {
    if (address.size() != sizeof worker_uid_) return {"its self address is malformed"};
    if (std::memcmp(address.data(), &worker_uid_, sizeof worker_uid_) != 0) {
        return {"it is another worker, and self reaches only the worker that owns it"};
    }
    return {};
}

ucs::result<std::unique_ptr<ep>> self_iface::create_ep(std::span<const std::byte> address) {
    if (const reachability answer = check_reachable(address); !answer.ok()) {
        ucs::log::error(uct_log, "self: create_ep: {}", answer.reason);
        return UCS_ERR_UNREACHABLE;
    }
    return std::unique_ptr<ep>(std::make_unique<self_ep>(*this));
}

namespace {

class component_of_self final : public component {
public:
    const char* name() const noexcept override { return "self"; }
    std::vector<const ucs::config::table*> options() const override { return {}; }

    listing query(const ucs::config::source&) const override {
        return {.usable = {{.transport = "self", .device = "memory", .type = device_type::self}},
                .unusable = {}};
    }

    ucs::result<std::unique_ptr<iface>> open(const resource& where,
                                             const iface_params& params) const override {
        return std::unique_ptr<iface>(std::make_unique<self_iface>(where, params));
    }
};

}  // namespace

const component& self_component() noexcept {
    static const component_of_self instance;
    return instance;
}

}  // namespace uct
