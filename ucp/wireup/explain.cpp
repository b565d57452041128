#include "ucp/wireup/explain.hpp"

#include <fmt/format.h>

#include <atomic>
#include <string_view>

#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/proto/selection.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucp/wireup/lane_setup.hpp"
#include "ucs/config/once.hpp"
#include "ucs/type/allocated.hpp"

namespace ucp::wireup {

std::vector<std::string> explain_each(peer& to, const lane_selection& chosen) {
    std::vector<std::string> lines = chosen.notes;
    const auto add = [&lines](const std::string& transport, const std::string& device,
                              const std::string& reason) {
        lines.push_back(fmt::format("{}/{}: not used, {}", transport, device, reason));
    };
    const worker& owner = to.owner();
    const auto& resources = owner.owner().resources();
    for (std::size_t i = 0; i < owner.interfaces().size(); ++i) {
        if (owner.interfaces().at(i) != nullptr) continue;
        add(resources[i].where.transport, resources[i].where.device,
            "it could not be opened: " + owner.interfaces().why_not_opened(i));
    }
    for (const refused_resource& each : owner.owner().refused())
        add(each.transport, each.device, each.reason);
    return lines;
}

std::vector<lane_in_use> lanes_in_use(const peer& to) {
    std::vector<lane_in_use> list;
    const auto& resources = to.owner().owner().resources();
    const auto add = [&](const lane& each, const char* role) {
        if (!each.is_open()) return;
        list.push_back({list.size(), &resources[each.resource].where, each.resource, role,
                        each.endpoint.get()});
    };
    const peer_lanes& lanes = to.lanes();
    add(lanes.message, lanes.is_shared ? "am, rma" : "am");
    add(lanes.memory, lanes.state == rma_state::usable ? "rma" : "rma (not used)");
    for (const lane& each : lanes.more_rails)
        add(each, "rma");
    add(lanes.device, "device memory");
    add(lanes.bootstrap, "connects");
    return list;
}

std::string explain_lanes(const peer& to) {
    std::string text;
    for (const lane_in_use& each : lanes_in_use(to)) {
        text += fmt::format("#            lane[{}]: {}:{}/{} {}, {}\n", each.index, each.resource,
                            each.where->transport, each.where->device, each.role,
                            each.endpoint->peer_name());
        const uct::ep::traffic sent = each.endpoint->sent();
        text += fmt::format("#                     {} operations, {} bytes, {} queued\n",
                            sent.operations, sent.bytes, sent.queued);
    }
    return text;
}

std::string explain_transports(peer& to) {
    if (to.identity().packed().empty()) return {};
    const auto remote = to.identity().parse();
    if (!remote) return {};
    std::string text = "# Why these transports:\n";
    for (const std::string& line :
         explain_each(to, slot_of<lane_setup>(to).select(*remote, pairs::allowed)))
        text += fmt::format("#   {}\n", line);
    if (to.lanes().state != rma_state::usable)
        text += fmt::format("#   memory access: {}\n", text_of(to.lanes().state));
    return text;
}

std::string list_transports(peer& to) {
    const auto remote = to.identity().parse();
    if (!remote) return "its address is not known";
    return fmt::format(
        "{}",
        fmt::join(explain_each(to, slot_of<lane_setup>(to).select(*remote, pairs::allowed)), "; "));
}

std::string explain_protocols(peer& to) {
    const protocol_table* const chosen = slot_of<lane_setup>(to).protocols();
    if (chosen == nullptr) return {};
    return "# Protocols by message size:\n" + chosen->explain(to.owner().owner().params().features);
}

std::string explain(peer& to) {
    std::string text = explain_lanes(to) + "#\n" + explain_transports(to);
    if (slot_of<lane_setup>(to).protocols() != nullptr) text += "#\n" + explain_protocols(to);
    return text;
}

std::string explain(const ep& endpoint) {
    peer& to = endpoint.remote();
    std::string text = "#\n# UCP endpoint\n#\n";
    text += fmt::format("#               peer: worker {:x} ({}), {}\n", to.uid(),
                        to.identity().worker_name(), to.lanes().peer_name());
    text += fmt::format("#              state: {}\n", name(state_of(endpoint)));
    text += fmt::format("#     error handling: {}\n",
                        endpoint.program().handles_errors() ? "peer" : "none");
    text += explain(to);
    return text;
}

std::string line_of(const ep& endpoint) {
    const running_operations& operations = endpoint.operations();
    return fmt::format("#  endpoint {:x}: worker {:x}, {}, {} sends and {} receives running\n",
                       endpoint.id(), endpoint.remote().uid(), name(state_of(endpoint)),
                       operations.sends().size(), operations.receives().size());
}

namespace {

// Names the load that a lane of this role carries. Empty for lanes that carry no traffic of the
// program.
std::string_view load_of(std::string_view role) noexcept {
    if (role == "am") return "messages";
    if (role == "am, rma") return "messages and memory access";
    if (role == "rma") return "memory access";
    return {};
}

std::string lanes_text(const peer& connected) {
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

void log_configuration_once(const peer& connected) noexcept {
    if (!wireup_log.enabled(ucs::log::level::info)) return;
    if (!ucs::allocated([&] { log_once(lanes_text(connected)); }))
        ucs::log::debug(wireup_log, "out of memory: an endpoint configuration is not shown");
}

}  // namespace ucp::wireup
