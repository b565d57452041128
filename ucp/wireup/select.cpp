#include "ucp/wireup/select.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ucp::wireup {

namespace {

struct candidate {
    const local_interface* local = nullptr;
    const address::entry* remote = nullptr;

    [[nodiscard]] const uct::iface_attr& attr() const noexcept { return local->iface->attr(); }
    [[nodiscard]] double latency() const noexcept { return attr().latency + local->detour; }
    [[nodiscard]] bool comes_in_pairs() const noexcept { return attr().connection_length > 0; }
    [[nodiscard]] lane_choice choice() const { return {local->resource, remote->iface_address}; }
};

bool carries_messages(const uct::iface_attr& attr) {
    return attr.ops.has(uct::op::am_short) && attr.ops.has(uct::op::am_bcopy);
}

// Small messages decide: lower latency first, then higher bandwidth.
bool better_for_messages(const candidate& a, const candidate& b) {
    if (b.local == nullptr) return true;
    if (a.latency() != b.latency()) return a.latency() < b.latency();
    return a.attr().bandwidth > b.attr().bandwidth;
}

// Only where the processor that sends cannot do it itself is a device asked for it.
bool better_for_memory(const candidate& a, const candidate& b) {
    return b.local == nullptr || a.attr().reach < b.attr().reach;
}

std::string title(const local_interface& local) {
    return fmt::format("{}/{}", local.transport, local.device);
}

// Finds the remote entry that this interface reaches, the peer's quickest of several; notes why
// there is none.
const address::entry* reachable_entry(const local_interface& local,
                                      const address::worker_address& remote, std::string& why) {
    why = "the peer does not offer this transport";
    const address::entry* best = nullptr;
    for (const address::entry& entry : remote.entries) {
        if (entry.transport != local.transport) continue;
        if (best != nullptr && best->latency <= entry.latency) continue;
        uct::reachability answer = local.iface->check_reachable(entry.iface_address);
        if (answer.ok()) {
            best = &entry;
        } else {
            why = std::move(answer.why_not);
        }
    }
    return best;
}

// Who reaches the peer, and what for.
class selection {
public:
    selection(const address::worker_address& remote, pairs which)
        : theirs_only_connect_((remote.flags & network_only_connects) != 0), which_(which) {}

    void consider(const candidate& each) {
        usable_.push_back(each);
        if (!carries_messages(each.attr())) return;
        if (!each.comes_in_pairs() && better_for_messages(each, bootstrap_)) bootstrap_ = each;
    }

    // When all were considered: those that come in pairs need one that does not.
    lane_selection choose() {
        for (const candidate& each : usable_) {
            if (carries_messages(each.attr()) && why_no_lane(each).empty() &&
                better_for_messages(each, am_)) {
                am_ = each;
            }
        }
        for (const candidate& each : usable_) {
            // What needs keys has them for the lane of messages; others have theirs without.
            const bool reaches = each.attr().ops.has(uct::op::get_zcopy) &&
                                 (!each.attr().keyed || each.local == am_.local);
            if (reaches && why_no_lane(each).empty() && why_no_memory(each).empty() &&
                better_for_memory(each, rma_)) {
                rma_ = each;
            }
        }
        lane_selection chosen;
        for (const candidate& each : usable_)
            chosen.notes.push_back(fmt::format("{}: {}", title(*each.local), note_on(each)));
        if (am_.local == nullptr) return chosen;  // memory access alone is no connection
        chosen.am = am_.choice();
        if (rma_.local != nullptr) chosen.rma = rma_.choice();
        if (bootstrap_.local != nullptr) chosen.bootstrap = bootstrap_.choice();
        chosen.paired = am_.comes_in_pairs();
        return chosen;
    }

private:
    // Empty: it may become a lane.
    [[nodiscard]] std::string why_no_lane(const candidate& each) const {
        if (each.comes_in_pairs()) {
            if (which_ == pairs::excluded) return "the peer has chosen another one";
            return bootstrap_.local != nullptr
                       ? ""
                       : "nothing carries the data by which it is connected; tcp would";
        }
        if (each.local->only_connects) return "UCX_TLS or UCX_NET_DEVICES excludes it";
        const bool network = each.attr().reach == uct::scope::network;
        return network && theirs_only_connect_ ? "the peer uses it for connecting only" : "";
    }

    // Empty: it may access memory. The lane for messages, which carries the proof of the peer's
    // process, has been chosen.
    [[nodiscard]] std::string why_no_memory(const candidate& each) const {
        const bool is_proven = am_.local != nullptr && am_.attr().shows_processes;
        if (!each.attr().claims_process || is_proven) return "";
        return "it needs messages over posix, which prove the peer's process";
    }

    [[nodiscard]] std::string note_on(const candidate& each) const {
        std::string note;
        if (each.local == am_.local) {
            note = fmt::format("messages: lowest latency of all that reach the peer ({:.2f} us)",
                               each.latency() * 1e6);
        }
        const auto add = [&note](const char* more) {
            if (!note.empty()) note += "; ";
            note += more;
        };
        if (each.local == rma_.local)
            add("memory access: reads and writes the peer's memory without its help");
        if (am_.local != nullptr && am_.comes_in_pairs() && each.local == bootstrap_.local)
            add("carries the data by which the others are connected");
        if (!note.empty()) return note;
        if (const std::string why = why_no_lane(each); !why.empty()) return "not used: " + why;
        if (const std::string why = why_no_memory(each); !why.empty()) return "not used: " + why;
        if (!carries_messages(each.attr()))
            return "not used: another one accesses memory over a shorter way";
        return fmt::format("not used: reachable, but its latency is {:.2f} us against {:.2f}",
                           each.latency() * 1e6, am_.latency() * 1e6);
    }

    const bool theirs_only_connect_;
    const pairs which_;
    std::vector<candidate> usable_;
    candidate am_;
    candidate rma_;
    candidate bootstrap_;
};

// Other devices of the transport that carries messages and reaches memory by keys, each to one of
// the peer's that no other rail has.
void add_rails(lane_selection& chosen, std::span<const local_interface> local,
               const address::worker_address& remote, std::size_t most) {
    if (!chosen.paired || !chosen.rma || chosen.rma->resource != chosen.am->resource) return;
    const auto main = std::ranges::find(local, chosen.am->resource, &local_interface::resource);
    std::vector<const std::vector<std::byte>*> taken{&chosen.am->address};
    std::vector<const local_interface*> ours;
    for (const local_interface& each : local) {
        if (&each != &*main && each.transport == main->transport && each.failure == UCS_OK &&
            each.iface->attr().keyed)
            ours.push_back(&each);
    }
    std::vector<const address::entry*> theirs;
    for (const address::entry& entry : remote.entries)
        theirs.push_back(&entry);
    // Near ones first, at both ends.
    std::ranges::stable_sort(ours, {}, [](const local_interface* each) {
        return each->iface->attr().latency + each->detour;
    });
    std::ranges::stable_sort(theirs, {}, &address::entry::latency);
    for (const local_interface* const which : ours) {
        const local_interface& each = *which;
        if (taken.size() >= most) break;
        for (const address::entry* const at : theirs) {
            const address::entry& entry = *at;
            const auto same = [&](const std::vector<std::byte>* other) {
                return *other == entry.iface_address;
            };
            if (entry.transport != each.transport || std::ranges::any_of(taken, same) ||
                !each.iface->check_reachable(entry.iface_address).ok()) {
                continue;
            }
            taken.push_back(&entry.iface_address);
            chosen.more_rails.push_back({each.resource, entry.iface_address});
            const std::string name = title(each) + ": ";
            std::erase_if(chosen.notes,
                          [&](const std::string& note) { return note.starts_with(name); });
            chosen.notes.push_back(name + "memory access: another rail for long transfers");
            break;
        }
    }
}

}  // namespace

lane_selection select_lanes(std::span<const local_interface> local,
                            const address::worker_address& remote, pairs which,
                            std::size_t most_rails) {
    selection reachable(remote, which);
    std::vector<std::string> unreachable;
    for (const local_interface& each : local) {
        std::string why;
        const address::entry* entry = reachable_entry(each, remote, why);
        if (each.failure != UCS_OK) {
            entry = nullptr;
            why = fmt::format("its connection to this peer failed: {}",
                              ucs_status_string(each.failure));
        }
        if (entry == nullptr) {
            unreachable.push_back(fmt::format("{}: not used, {}", title(each), why));
        } else {
            reachable.consider({&each, entry});
        }
    }
    lane_selection chosen = reachable.choose();
    chosen.notes.insert(chosen.notes.begin(), unreachable.begin(), unreachable.end());
    add_rails(chosen, local, remote, most_rails);
    return chosen;
}

}  // namespace ucp::wireup
