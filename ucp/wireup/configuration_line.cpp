#include "ucp/wireup/configuration_line.hpp"

#include <fmt/format.h>

#include <atomic>
#include <string>
#include <string_view>

#include "ucp/core/peer.hpp"
#include "ucp/log/log.hpp"
#include "ucp/wireup/explain.hpp"
#include "ucs/config/once.hpp"
#include "ucs/type/allocated.hpp"

namespace ucp::wireup {
namespace {

// Names the load that a lane of this role carries. Empty for lanes that carry no traffic of the
// program.
std::string_view load_of(std::string_view role) noexcept {
    if (role == "am") return "messages";
    if (role == "am, rma") return "messages and memory access";
    if (role == "rma") return "memory access";
    return {};
}

std::string lanes_text(peer& connected) {
    std::string text;
    for (const lane_in_use& lane : lanes_in_use(connected)) {
        const std::string_view load = load_of(lane.role);
        if (load.empty()) continue;
        text += fmt::format("{}lane[{}] {}/{} carries {}", text.empty() ? "" : ", ", lane.index,
                            lane.where->transport, lane.where->device, load);
    }
    return text;
}

void log_once(const std::string& lanes) {
    static std::atomic<unsigned> next{0};
    if (!ucs::config::first_time("endpoint configuration " + lanes)) return;
    ucs::log::info(wireup_log, "ep_cfg[{}]: {}", next.fetch_add(1), lanes);
}

}  // namespace

void log_configuration_once(peer& connected) noexcept {
    if (!wireup_log.enabled(ucs::log::level::info)) return;
    if (!ucs::allocated([&] { log_once(lanes_text(connected)); }))
        ucs::log::debug(wireup_log, "out of memory: an endpoint configuration is not shown");
}

}  // namespace ucp::wireup
