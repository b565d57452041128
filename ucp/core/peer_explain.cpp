// Explains the choice of lanes and protocols to a peer: one text for the log, the print functions
// and the object tree.
#include <fmt/format.h>

#include <algorithm>

#include "ucp/core/peer.hpp"
#include "ucp/core/worker.hpp"
#include "ucs/log/printable.hpp"

namespace ucp {

std::vector<wireup::local_interface> peer::local_interfaces() const {
    std::vector<wireup::local_interface> list;
    const auto& resources = owner_.owner().resources();
    for (std::size_t i = 0; i < owner_.interface_count(); ++i) {
        if (owner_.interface(i) == nullptr) continue;
        const auto failed = std::find_if(excluded_.begin(), excluded_.end(),
                                         [i](const excluded& each) { return each.resource == i; });
        list.push_back({owner_.interface(i), resources[i].where.transport,
                        resources[i].where.device, i,
                        failed == excluded_.end() ? UCS_OK : failed->failure,
                        resources[i].only_connects, owner_.extra_latency(i)});
    }
    return list;
}

std::vector<std::string> peer::why_each(const wireup::lane_selection& chosen) const {
    std::vector<std::string> lines = chosen.notes;
    const auto add = [&lines](const std::string& transport, const std::string& device,
                              const std::string& reason) {
        lines.push_back(fmt::format("{}/{}: not used, {}", transport, device, reason));
    };
    const auto& resources = owner_.owner().resources();
    for (std::size_t i = 0; i < owner_.interface_count(); ++i) {
        if (owner_.interface(i) != nullptr) continue;
        add(resources[i].where.transport, resources[i].where.device,
            "it could not be opened: " + owner_.why_not_opened(i));
    }
    for (const refused_resource& each : owner_.owner().refused())
        add(each.transport, each.device, each.reason);
    return lines;
}

std::string peer::worker_name() const {
    if (packed_.empty()) return "not known yet";
    const auto remote = address::parse(std::span<const std::byte>(packed_));
    return remote ? ucs::log::printable(remote->name) : "unknown";
}

std::vector<peer::lane_in_use> peer::lanes_in_use() const {
    std::vector<lane_in_use> list;
    const auto& resources = owner_.owner().resources();
    const auto add = [&](const lane& each, const char* role) {
        if (each.endpoint == nullptr) return;
        list.push_back({list.size(), &resources[each.resource].where, each.resource, role,
                        each.endpoint.get()});
    };
    add(am_, shared_lane_ ? "am, rma" : "am");
    add(rma_, rma_state_ == rma_state::usable ? "rma" : "rma (not used)");
    for (const lane& each : more_rails_)
        add(each, "rma");
    if (pairing_ != nullptr) add(pairing_->bootstrap, "connects");
    return list;
}

std::string peer::explain_lanes() const {
    std::string text;
    for (const lane_in_use& each : lanes_in_use()) {
        text += fmt::format("#            lane[{}]: {}:{}/{} {}, {}\n", each.index, each.resource,
                            each.where->transport, each.where->device, each.role,
                            each.endpoint->peer_name());
        const uct::ep::traffic sent = each.endpoint->sent();
        text += fmt::format("#                     {} operations, {} bytes, {} queued\n",
                            sent.operations, sent.bytes, sent.queued);
    }
    return text;
}

std::string peer::explain_transports() const {
    if (packed_.empty()) return {};  // the client does not know its server's worker yet
    const auto remote = address::parse(std::span<const std::byte>(packed_));
    if (!remote) return {};
    std::string text = "# Why these transports:\n";
    for (const std::string& line : why_each(select_lanes_to(*remote, wireup::pairs::allowed)))
        text += fmt::format("#   {}\n", line);
    if (rma_state_ != rma_state::usable)
        text += fmt::format("#   memory access: {}\n", text_of(rma_state_));
    return text;
}

std::string peer::list_transports() const {
    const auto remote = address::parse(std::span<const std::byte>(packed_));
    if (!remote) return "its address is not known";
    return fmt::format("{}",
                       fmt::join(why_each(select_lanes_to(*remote, wireup::pairs::allowed)), "; "));
}

std::string peer::explain_protocols() const {
    if (protocols_ == nullptr) return {};
    return "# Protocols by message size:\n" + protocols_->explain(owner_.owner().params().features);
}

std::string peer::explain() const {
    std::string text = explain_lanes() + "#\n" + explain_transports();
    if (protocols_ != nullptr) text += "#\n" + explain_protocols();
    return text;
}

}  // namespace ucp
