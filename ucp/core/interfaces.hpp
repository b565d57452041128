// The interfaces of a worker.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "uct/api/iface.hpp"

namespace ucp {

class peer;
class worker;

// Opens an interface for each resource of the context, and polls those in use. Part of the worker;
// owner context.
class interfaces {
public:
    explicit interfaces(worker& owner) noexcept : owner_(owner) {}

    ucs_status_t open();
    void close() noexcept { all_.clear(); }

    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
    // The interface of a resource; nullptr: it could not be opened.
    [[nodiscard]] uct::iface* at(std::size_t resource) const noexcept {
        return all_[resource].get();
    }
    // Returns the first resource of this transport whose interface is open; size() if there is
    // none.
    [[nodiscard]] std::size_t find(std::string_view transport) const noexcept;
    // The reason why it could not be opened.
    [[nodiscard]] const std::string& why_not_opened(std::size_t resource) const noexcept {
        return not_opened_[resource];
    }
    // Extra latency of the resource's device compared with one at this processor's own NUMA node,
    // in seconds.
    [[nodiscard]] double extra_latency(std::size_t resource) const noexcept {
        return extra_latencies_[resource];
    }

    // Registers the peer that a lane belongs to; nullptr: the lane is being closed.
    void track_lane(const uct::ep& lane, std::size_t resource, peer* to);
    // Polls the interface regularly from now on: it carries traffic that the slow polls would find
    // too late.
    void activate(std::size_t resource);
    // The interfaces that every progress polls, by memory loads.
    [[nodiscard]] const std::vector<uct::iface*>& fast() const noexcept { return fast_; }
    [[nodiscard]] bool is_any_polled() const noexcept { return !slow_.empty() || !fast_.empty(); }
    // Polls the interfaces in use that need a system call.
    unsigned poll_slow();
    unsigned poll_unused();

    // --- connections, see uct::iface::connection_of ---
    // Returns the connection of a message that is being delivered; 0: not known.
    [[nodiscard]] std::uint64_t connection_of(const uct::peer_bytes& message) const noexcept;
    // Returns the open connections of all interfaces, sorted. May throw std::bad_alloc.
    [[nodiscard]] std::vector<std::uint64_t> living_connections() const;
    // Ends a connection: nothing more is received over it, and the endpoints to its sender fail.
    // Must not be called within the progress of an interface.
    void end_connection(std::uint64_t connection, ucs_status_t status);

    // --- sleeping ---
    [[nodiscard]] ucs_status_t arm() noexcept;
    // Returns whether progress would find work, as far as memory loads show.
    [[nodiscard]] bool has_work() const noexcept;
    // Returns whether every progress finds the work, even one that does not look everywhere.
    [[nodiscard]] bool has_polled_work() const noexcept;

private:
    void set_turns();
    [[nodiscard]] bool is_home(std::size_t resource) const noexcept;
    [[nodiscard]] bool is_polled(const uct::iface& iface) const noexcept;

    std::vector<uct::iface*> slow_;  // in use, polled by a system call
    bool memory_lanes_ = false;      // lanes that are polled by memory loads are in use
    worker& owner_;
    std::vector<std::unique_ptr<uct::iface>> all_;  // by resource
    std::vector<std::string> not_opened_;
    std::vector<double> extra_latencies_;
    std::vector<std::size_t> lane_counts_;
    std::unordered_map<const uct::ep*, peer*> lanes_;
    std::vector<uct::iface*> fast_;  // in use, polled by memory loads; last, see worker
};

}  // namespace ucp
