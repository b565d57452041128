#include "tools/perf/uct/resources.hpp"

#include <fmt/format.h>

#include "ucs/random/random_bytes.hpp"
#include "uct/components/components.hpp"

namespace tools::perf {
namespace {

std::string names_of(const std::vector<offer>& offers) {
    std::string names;
    for (const offer& one : offers) {
        names += names.empty() ? "" : ", ";
        names += one.name();
    }
    return names;
}

}  // namespace

std::vector<offer> all_offers(const ucs::config::source& config) {
    std::vector<offer> offers;
    for (const uct::component* one : uct::builtin_components()) {
        for (uct::resource& where : one->query(config).usable)
            offers.push_back({one, std::move(where)});
    }
    return offers;
}

const offer& choose(const std::vector<offer>& offers, std::string_view transport,
                    std::string_view device) {
    for (const offer& one : offers) {
        if (one.where.transport == transport && one.where.device == device) return one;
    }
    if (transport.empty() || device.empty()) {
        throw usage_error(
            fmt::format("a test of a transport needs -x transport and -d device; "
                        "there are {}",
                        names_of(offers)));
    }
    throw not_offered(
        fmt::format("-x {} -d {}: there are only {}", transport, device, names_of(offers)));
}

opened_interface open_interface(std::string_view transport, std::string_view device) {
    opened_interface opened;
    auto config = ucs::config::source::read("", "");
    require_ok(config.status(), "configuration");
    opened.config = std::make_unique<ucs::config::source>(std::move(*config));
    auto events = ucs::async::event_loop::create();
    require_ok(events.status(), "event loop");
    opened.events = std::move(*events);
    const std::vector<offer> offers = all_offers(*opened.config);
    const offer& chosen = choose(offers, transport, device);
    opened.name = chosen.name();
    auto iface = chosen.opens->open(
        chosen.where, {*opened.events, *opened.config, ucs::sys::random_id(), nullptr});
    require_ok(iface.status(), "opening " + opened.name);
    opened.iface = std::move(*iface);
    return opened;
}

}  // namespace tools::perf
