// Finds the transport and device that the options -x and -d of ucx_perftest name.
#pragma once

#include <string_view>

#include "tools/common/failure.hpp"
#include "uct/api/component.hpp"

namespace tools::perf {

// The requested feature does not exist on this machine or with this transport. A batch skips such a
// test.
class not_offered : public usage_error {
public:
    using usage_error::usage_error;
};

// A transport on a device, and the component that opens it.
struct offer {
    const uct::component* opens = nullptr;
    uct::resource where;

    [[nodiscard]] std::string name() const { return where.transport + '/' + where.device; }
};

// Returns the transports and devices of this machine: transports within a process first, then those
// within a host, then those of networks. Throws failure.
[[nodiscard]] std::vector<offer> all_offers(const ucs::config::source& config);

// Finds the offer with these names. Throws usage_error if a name is empty, not_offered if there is
// no such offer; the text of both lists all offers.
[[nodiscard]] const offer& choose(const std::vector<offer>& offers, std::string_view transport,
                                  std::string_view device);

// An open interface, and the objects that it uses. Only the thread that opened it uses it.
struct opened_interface {
    std::unique_ptr<ucs::config::source> config;
    std::unique_ptr<ucs::async::event_loop> events;
    std::string name;
    std::unique_ptr<uct::iface> iface;
};

// Throws not_offered or failure.
[[nodiscard]] opened_interface open_interface(std::string_view transport, std::string_view device);

}  // namespace tools::perf
