#include "uct/base/builtin.hpp"
#include "uct/tcp/iface.hpp"

namespace uct {

namespace {

class component_of_tcp final : public component {
public:
    const char* name() const noexcept override { return "tcp"; }
    std::vector<const ucs::config::table*> options() const override {
        return {&tcp::settings::options()};
    }

    listing query(const ucs::config::source& config) const override {
        const auto options = ucs::config::load<tcp::settings>(config);
        const bool use_bridges = !options || options->use_bridges;
        listing found;
        for (const tcp::device& device : tcp::list_devices()) {
            std::string reason = device.why_unusable(use_bridges);
            if (!options) reason = "its options are wrong";
            if (reason.empty()) {
                found.usable.push_back(
                    {name(), device.name, device_type::network, device.location});
            } else {
                found.unusable.push_back(
                    {name(), device.name, device_type::network, std::move(reason)});
            }
        }
        return found;
    }

    ucs::result<std::unique_ptr<iface>> open(const resource& where,
                                             const iface_params& params) const override {
        return tcp::iface::open(where, params);
    }
};

}  // namespace

const component& tcp_component() noexcept {
    static const component_of_tcp instance;
    return instance;
}

}  // namespace uct
