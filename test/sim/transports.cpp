#include "test/sim/transports.hpp"

#include <span>

namespace sim_test {

std::unique_ptr<ucp::context> transports::new_context(const options& list,
                                                      const ucp::context_params& params,
                                                      bool paired) const {
    ucs::config::source source = ucs::config::source::empty();
    for (const auto& [option, value] : list)
        source.set(option, value);
    const uct::component* both[] = {&component_, &paired_component_};
    return std::move(
        *ucp::context::create(params, std::move(source), std::span(both, paired ? 2 : 1)));
}

}  // namespace sim_test
