#include "ucp/wireup/select.hpp"

#include <fmt/format.h>

namespace ucp::wireup {

namespace {

struct candidate {
    const local_interface* local;
    const address::entry* remote;
};

bool carries_messages(const uct::iface_attr& attr) {
    return attr.ops.has(uct::op::am_short) && attr.ops.has(uct::op::am_bcopy) &&
           attr.connection_length == 0;
}

// Small messages decide: lower latency first, then higher bandwidth.
bool better_for_messages(const uct::iface_attr& a, const uct::iface_attr& b) {
    if (a.latency != b.latency) return a.latency < b.latency;
    return a.bandwidth > b.bandwidth;
}

std::string title(const local_interface& local) {
    return fmt::format("{}/{}", local.transport, local.device);
}

// Finds the remote entry that this interface reaches; notes why there is none.
const address::entry* reachable_entry(const local_interface& local,
                                      const address::worker_address& remote, std::string& why) {
    why = "the peer does not offer this transport";
    for (const address::entry& entry : remote.entries) {
        if (entry.transport != local.transport) continue;
        uct::reachability answer = local.iface->check_reachable(entry.iface_address);
        if (answer.ok()) return &entry;
        why = std::move(answer.why_not);
    }
    return nullptr;
}

}  // namespace

lane_selection select_lanes(std::span<const local_interface> local,
                            const address::worker_address& remote) {
    lane_selection chosen;
    const candidate none{nullptr, nullptr};
    candidate am = none;
    candidate rma = none;
    std::vector<candidate> usable;
    for (const local_interface& each : local) {
        std::string why;
        const address::entry* entry = reachable_entry(each, remote, why);
        if (each.failure != UCS_OK) {
            entry = nullptr;
            why = fmt::format("its connection to this peer failed: {}",
                              ucs_status_string(each.failure));
        }
        if (entry == nullptr) {
            chosen.notes.push_back(fmt::format("{}: not used, {}", title(each), why));
            continue;
        }
        usable.push_back({&each, entry});
        const uct::iface_attr& attr = each.iface->attr();
        if (carries_messages(attr) &&
            (am.local == nullptr || better_for_messages(attr, am.local->iface->attr()))) {
            am = usable.back();
        }
        if (attr.ops.has(uct::op::get_zcopy) && !attr.keyed &&
            (rma.local == nullptr || attr.reach < rma.local->iface->attr().reach)) {
            rma = usable.back();
        }
    }
    for (const candidate& each : usable) {
        const uct::iface_attr& attr = each.local->iface->attr();
        std::string note;
        if (each.local == am.local) {
            note = fmt::format("messages: lowest latency of all that reach the peer ({:.2f} us)",
                               attr.latency * 1e6);
        }
        if (each.local == rma.local) {
            if (!note.empty()) note += "; ";
            note += "memory access: reads and writes the peer's memory without its help";
        }
        if (note.empty() && carries_messages(attr)) {
            note = fmt::format("not used: reachable, but its latency is {:.2f} us against {:.2f}",
                               attr.latency * 1e6, am.local->iface->attr().latency * 1e6);
        }
        if (note.empty()) note = "not used: another one accesses memory over a shorter way";
        chosen.notes.push_back(fmt::format("{}: {}", title(*each.local), note));
    }
    const auto choice = [](const candidate& each) {
        return lane_choice{each.local->resource, each.remote->iface_address};
    };
    if (am.local != nullptr) chosen.am = choice(am);
    // Memory access alone is no connection.
    if (am.local != nullptr && rma.local != nullptr) chosen.rma = choice(rma);
    return chosen;
}

}  // namespace ucp::wireup
