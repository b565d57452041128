#include "uct/base/builtin.hpp"
#include "uct/ib/rc/verbs/iface.hpp"

namespace uct {

namespace {

class component_of_rc_verbs final : public component {
public:
    const char* name() const noexcept override { return "rc_verbs"; }
    std::vector<const ucs::config::table*> options() const override {
        return {&rc::settings::options(), &ib::settings::options()};
    }

    listing query(const ucs::config::source&) const override {
        listing found = ib::list_ports(name());
        for (resource& each : found.usable)
            each.paired = true;
        return found;
    }

    ucs::result<std::shared_ptr<memory_domain>> open_domain(
        const resource& where, const ucs::config::source& config) const override {
        const auto port = ib::port_name::parse(where.device);
        if (!port) return UCS_ERR_NO_DEVICE;
        auto made = ib::domain::open(port->device, config);
        if (!made) return made.status();
        return std::shared_ptr<memory_domain>(std::move(*made));
    }

    ucs::result<std::unique_ptr<iface>> open(const resource& where,
                                             const iface_params& params) const override {
        return rc::verbs_iface::open(where, params);
    }
};

}  // namespace

const component& rc_verbs_component() noexcept {
    static const component_of_rc_verbs instance;
    return instance;
}

}  // namespace uct
