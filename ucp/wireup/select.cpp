#include "ucp/wireup/select.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ucp::wireup {

namespace {

struct candidate {
    const local_interface* local = nullptr;
    const address::entry* remote = nullptr;

    [[nodiscard]] const uct::iface_attr& attr() const noexcept { return local->iface->attr(); }
    [[nodiscard]] double latency() const noexcept { return attr().latency + local->extra_latency; }
    [[nodiscard]] bool comes_in_pairs() const noexcept { return attr().connection_length > 0; }
    [[nodiscard]] lane_choice choice() const { return {local->resource, remote->iface_address}; }
};

bool carries_messages(const uct::iface_attr& attr) {
    return attr.ops.has(uct::op::am_short) && attr.ops.has(uct::op::am_bcopy);
}

// Small messages matter most: lower latency first, then higher bandwidth.
bool better_for_messages(const candidate& a, const candidate& b) {
    if (b.local == nullptr) return true;
    if (a.latency() != b.latency()) return a.latency() < b.latency();
    return a.attr().bandwidth > b.attr().bandwidth;
}

// A device accesses memory only if the sending processor cannot do it itself.
bool better_for_memory(const candidate& a, const candidate& b) {
    return b.local == nullptr || a.attr().reach < b.attr().reach;
}

std::string title(const local_interface& local) {
    return fmt::format("{}/{}", local.transport, local.device);
}

// Finds the remote entry that this interface reaches, the one with the lowest latency of several.
// `why` is the reason if there is none.
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
            why = std::move(answer.reason);
        }
    }
    return best;
}

// Collects the interfaces that reach the peer, and selects lanes from them.
class selection {
public:
    selection(const address::worker_address& remote, pairs allowed_pairs)
        : remote_only_connects_((remote.flags & address::network_only_connects) != 0),
          pairs_(allowed_pairs) {}

    void consider(const candidate& each) {
        usable_.push_back(each);
        const bool reads_and_writes =
            each.attr().ops.has(uct::op::get_zcopy) && each.attr().ops.has(uct::op::put_zcopy);
        if (each.attr().reaches_only_devices() && reads_and_writes) device_ = each;
        if (!carries_messages(each.attr())) return;
        if (!each.comes_in_pairs() && better_for_messages(each, bootstrap_)) bootstrap_ = each;
    }

    // To be called when all were considered, because paired lanes need a bootstrap lane.
    lane_selection choose() {
        for (const candidate& each : usable_) {
            if (carries_messages(each.attr()) && why_no_lane(each).empty() &&
                better_for_messages(each, am_)) {
                am_ = each;
            }
        }
        for (const candidate& each : usable_) {
            // A lane that needs keys accesses memory only as the message lane; other lanes need no
            // keys.
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
        if (am_.local == nullptr)
            return chosen;  // a lane for memory access alone makes no connection
        chosen.am = am_.choice();
        if (rma_.local != nullptr) chosen.rma = rma_.choice();
        if (device_.local != nullptr) chosen.device = device_.choice();
        if (bootstrap_.local != nullptr) chosen.bootstrap = bootstrap_.choice();
        chosen.paired = am_.comes_in_pairs();
        return chosen;
    }

private:
    // Returns the reason why the candidate cannot become a lane; empty: it can.
    [[nodiscard]] std::string why_no_lane(const candidate& each) const {
        if (each.comes_in_pairs()) {
            if (pairs_ == pairs::excluded) return "the peer has chosen another one";
            return bootstrap_.local != nullptr
                       ? ""
                       : "nothing carries the data by which it is connected; tcp would";
        }
        if (each.local->only_connects) return "UCX_TLS or UCX_NET_DEVICES excludes it";
        const bool network = each.attr().reach == uct::scope::network;
        return network && remote_only_connects_ ? "the peer uses it for connecting only" : "";
    }

    // Returns the reason why the candidate cannot access memory; empty: it can. The message lane,
    // which carries the proof of the peer's process, has been chosen before.
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
        if (each.local == device_.local)
            add("memory of devices: reads and writes it without the peer's help");
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

    const bool remote_only_connects_;
    const pairs pairs_;
    std::vector<candidate> usable_;
    candidate am_;
    candidate rma_;
    candidate bootstrap_;
    candidate device_;
};

// Adds other devices of the message lane's transport, if it accesses memory by keys. Each rail
// reaches a device of the peer that no other rail reaches.
void add_rails(lane_selection& chosen, std::span<const local_interface> local,
               const address::worker_address& remote, std::size_t most) {
    if (!chosen.paired || !chosen.rma || chosen.rma->resource != chosen.am->resource) return;
    const auto main = std::ranges::find(local, chosen.am->resource, &local_interface::resource);
    std::vector<const std::vector<std::byte>*> taken{&chosen.am->address};
    std::vector<const local_interface*> local_interfaces;
    for (const local_interface& each : local) {
        if (&each != &*main && each.transport == main->transport && each.failure == UCS_OK &&
            each.iface->attr().keyed)
            local_interfaces.push_back(&each);
    }
    std::vector<const address::entry*> remote_entries;
    for (const address::entry& entry : remote.entries)
        remote_entries.push_back(&entry);
    // Devices with low latency come first, at both ends.
    std::ranges::stable_sort(local_interfaces, {}, [](const local_interface* each) {
        return each->iface->attr().latency + each->extra_latency;
    });
    std::ranges::stable_sort(remote_entries, {}, &address::entry::latency);
    for (const local_interface* const own : local_interfaces) {
        const local_interface& each = *own;
        if (taken.size() >= most) break;
        for (const address::entry* const remote_entry : remote_entries) {
            const address::entry& entry = *remote_entry;
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
                            const address::worker_address& remote, pairs allowed_pairs,
                            std::size_t most_rails) {
    selection reachable(remote, allowed_pairs);
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
