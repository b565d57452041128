// Creates contexts of ucp that use the simulated transports of one network.
#pragma once

#include <memory>

#include "test/sim/choices.hpp"
#include "ucp/core/context.hpp"
#include "uct/sim/component.hpp"

namespace sim_test {

// Must outlive the contexts, and must not outlive the network.
class transports {
public:
    explicit transports(uct::sim::fabric& network) noexcept
        : component_(network), paired_component_(network) {}

    // `paired`: the context also gets the transport whose endpoints come in pairs.
    [[nodiscard]] std::unique_ptr<ucp::context> new_context(const options& list,
                                                            const ucp::context_params& params,
                                                            bool paired) const;

private:
    uct::sim::sim_component component_;
    uct::sim::paired_component paired_component_;
};

}  // namespace sim_test
