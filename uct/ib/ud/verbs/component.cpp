#include "uct/base/builtin.hpp"
#include "uct/ib/ud/verbs/iface.hpp"

namespace uct {

namespace {

class component_of_ud_verbs final : public component {
public:
    const char* name() const noexcept override { return "ud_verbs"; }
    std::vector<const ucs::config::table*> options() const override {
        return {&ud::settings::options(), &ib::settings::options()};
    }

    listing query(const ucs::config::source&) const override { return ib::list_ports(name()); }

    ucs::result<std::unique_ptr<iface>> open(const resource& where,
                                             const iface_params& params) const override {
        return ud::verbs_iface::open(where, params);
    }
};

}  // namespace

const component& ud_verbs_component() noexcept {
    static const component_of_ud_verbs instance;
    return instance;
}

}  // namespace uct
