// A context of the library, which writes its log into memory.
#pragma once

#include <catch2/catch.hpp>
#include <memory>

#include "test/integration/exhaustion/log_file.hpp"

namespace exhaustion {

struct destroy {
    void operator()(ucp_context_h context) const noexcept { ucp_cleanup(context); }
    void operator()(ucp_worker_h worker) const noexcept { ucp_worker_destroy(worker); }
};
using owned_context = std::unique_ptr<ucp_context, destroy>;
using owned_worker = std::unique_ptr<ucp_worker, destroy>;

inline owned_context make_context(std::uint64_t features, const ucp_config_t* config = nullptr) {
    log_file::instance();
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = features;
    ucp_context_h context = nullptr;
    REQUIRE(ucp_init(&params, config, &context) == UCS_OK);
    return owned_context(context);
}

}  // namespace exhaustion
