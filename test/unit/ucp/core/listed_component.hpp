// A transport with the devices that the test gives it.
#pragma once

#include <utility>

#include "uct/api/component.hpp"

namespace ucp_test {

// Opening any of the devices fails with `failure`.
class listed_component final : public uct::component {
public:
    listed_component(const char* name, uct::listing found,
                     ucs_status_t failure = UCS_ERR_UNSUPPORTED)
        : name_(name), found_(std::move(found)), failure_(failure) {}
    const char* name() const noexcept override { return name_; }
    std::vector<const ucs::config::table*> options() const override { return {}; }
    uct::listing query(const ucs::config::source&) const override { return found_; }
    ucs::result<std::unique_ptr<uct::iface>> open(const uct::resource&,
                                                  const uct::iface_params&) const override {
        return failure_;
    }

private:
    const char* name_;
    uct::listing found_;
    ucs_status_t failure_;
};

}  // namespace ucp_test
