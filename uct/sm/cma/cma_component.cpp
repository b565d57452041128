#include "uct/base/builtin.hpp"
#include "uct/sm/base/listing.hpp"
#include "uct/sm/cma/cma_iface.hpp"
#include "uct/sm/cma/permission.hpp"

namespace uct::cma {
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
