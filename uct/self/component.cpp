#include "uct/base/builtin.hpp"
#include "uct/self/iface.hpp"

namespace uct {

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
