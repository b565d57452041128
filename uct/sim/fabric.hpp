// A network in virtual time, inside one process.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "ucs/type/result.hpp"
#include "uct/sim/event_queue.hpp"
#include "uct/sim/node.hpp"
#include "uct/sim/random.hpp"
#include "uct/sim/trace.hpp"

namespace uct::sim {

// Connects the interfaces that are opened on it (see component.hpp) and decides, from its seed,
// what happens when. A test calls `step` to make the next event happen and the `progress` of its
// workers in any order (or lets driver.hpp do both); the same seed and calls give the same run.
// Installs its clock as the clock of the library while it lives; fabrics nest. Created and
// destroyed by the test, outlives everything opened on it. One thread only.
class fabric {
public:
    explicit fabric(std::uint64_t seed, const parameters& network = {});
    ~fabric();
    fabric(const fabric&) = delete;
    fabric& operator=(const fabric&) = delete;

    [[nodiscard]] ucs::time::nanoseconds now() const noexcept { return now_; }
    [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
    [[nodiscard]] const parameters& network() const noexcept { return network_; }
    [[nodiscard]] const trace& history() const noexcept { return history_; }
    [[nodiscard]] random& dice() noexcept { return dice_; }
    // Whether memory is out of a device's reach, this time.
    [[nodiscard]] bool refuses_memory() {
        return dice_.chance(network_.paired.registration_failure);
    }

    // Lets time pass to the next event and makes it happen; false when there is none.
    bool step();
    [[nodiscard]] std::size_t pending_events() const noexcept { return events_.size(); }
    // Lets time pass, with all that happens meanwhile. For timers of workers.
    void advance(ucs::time::nanoseconds duration);

    // Which node a worker's n-th interface on this fabric is.
    [[nodiscard]] std::optional<node_id> find_node(std::uint64_t worker_uid,
                                                   std::size_t nth = 0) const noexcept;

    // Nothing gets through between two nodes whose endpoints come in pairs.
    void break_path(node_id one, node_id other) { dead_paths_[std::minmax(one, other)] = true; }

    // get_zcopy and put_zcopy from one node to another return UCS_ERR_UNSUPPORTED.
    void refuse_rma(node_id from, node_id to) { refused_.insert({from, to}); }

    // The n-th operation (1: the next) that `from` posts to `to` makes its endpoint fail.
    void fail_at_operation(node_id from, node_id to, std::uint64_t nth);
    // Every endpoint of `from` to `to` fails at that time, counted from now.
    void fail_after(node_id from, node_id to, ucs::time::nanoseconds delay);

    // The worker dies: its interfaces neither send nor receive from then on, messages on their way
    // are lost from some point on, and its peers' endpoints fail after parameters::detection_time.
    // The test must not run the worker any more, but may destroy it.
    void kill(std::uint64_t worker_uid);
    void kill_after(std::uint64_t worker_uid, ucs::time::nanoseconds delay);
    // The worker lives, but nothing reaches it or leaves it any more: its endpoints and those of
    // its peers fail, now and later. One that was killed may be run again then, alone, so that what
    // it has begun comes to an end.
    void cut_off(std::uint64_t worker_uid);

private:
    friend class sim_iface;
    friend class sim_ep;
    friend class paired_ep;

    // For interfaces and endpoints.
    node& join(std::uint64_t worker_uid, bool paired);
    void leave(node& which);
    [[nodiscard]] std::uint32_t check_word(const node& of) const noexcept;
    // Of an interface of the same kind.
    [[nodiscard]] ucs::result<node_id> parse_address(const node& reader,
                                                     std::span<const std::byte> address) const;
    link_ptr connect(node& from, node_id to, sim_ep& owner);
    void disconnect(link& which);
    [[nodiscard]] ucs_status_t admit(const link_ptr& on);
    [[nodiscard]] bool rma_refused(node_id from, node_id to);
    void post(const link_ptr& on, operation_ptr what);
    // Of a message and the write that goes before it.
    void post_both(const link_ptr& on, operation_ptr write, operation_ptr message);
    void consumed_message(node& at);
    void record(event_kind kind, const link& on, std::uint64_t detail = 0) noexcept;
    void record(event_kind kind, const node& at, std::uint64_t detail = 0) noexcept;

    // Endpoints in pairs.
    static constexpr std::size_t connection_length = 2 * sizeof(std::uint64_t);
    [[nodiscard]] std::uint64_t check_word(const link& of) const noexcept;
    void pack_connection(const link& of, std::span<std::byte> into) const;
    // UCS_ERR_INVALID_ADDR: malformed.
    ucs_status_t bind(const link_ptr& which, std::span<const std::byte> theirs);
    void look(const link_ptr& on);
    void abort(const link_ptr& on) { fail_alone(on, UCS_ERR_CANCELED); }
    [[nodiscard]] bool path_is_dead(node_id one, node_id other);
    [[nodiscard]] link_ptr listening_partner(const link& of);
    enum class reception : std::uint8_t { taken, later, never };
    [[nodiscard]] reception reach_partner(const link_ptr& on);
    void repeat(event&& what);
    [[nodiscard]] bool serve(const link_ptr& on, const operation_ptr& which);
    void send_on_wire(const link_ptr& on, operation_ptr what);
    void part(link& which);
    void arrived_goodbye(const link& of);

    // Events.
    void schedule(event what);
    void happen(event& what);
    void arrive(const link_ptr& on);
    [[nodiscard]] bool arrives_at_partner(const link_ptr& on);
    void access(const link_ptr& on, const operation_ptr& which);
    void complete_soon(const link_ptr& on, const operation_ptr& which);
    void complete(const link_ptr& on, const operation_ptr& which);
    void fail_links(const event& what);
    void fail(const link_ptr& on, ucs_status_t status);
    // The receiver ends the connection: nothing more is delivered from it.
    void end(const link_ptr& on, ucs_status_t status);
    // Without a word to the other side.
    void fail_alone(const link_ptr& on, ucs_status_t status);
    void fail_opposites(const link& of);
    void lose_peers(node& gone);
    [[nodiscard]] bool is_cut(const node& from, node_id to) const noexcept;
    void lose_wire_tail(link& on);
    [[nodiscard]] bool must_fail(const link& on);
    [[nodiscard]] ucs::time::nanoseconds travel_time(const link& on, std::size_t bytes);

    static ucs::time::nanoseconds virtual_now() noexcept;
    static inline fabric* current_ = nullptr;

    const std::uint64_t seed_;
    const parameters network_;
    random dice_;
    trace history_;
    // Other threads read the time as well: those that ask for the object tree have a deadline.
    std::atomic<ucs::time::nanoseconds> now_;
    fabric* const outer_;
    event_queue events_;
    std::uint64_t next_order_ = 0;
    std::uint64_t next_link_ = 0;
    std::vector<std::unique_ptr<node>> nodes_;

    using pair = std::pair<node_id, node_id>;
    std::set<pair> refused_;
    std::set<pair> rma_decided_;
    std::map<pair, std::uint64_t> failing_operation_;  // operations left until the failure
    std::map<pair, bool> dead_paths_;                  // what was decided
    // Links of endpoints that come in pairs, by number; of those that are gone, until they have
    // said all.
    std::map<std::uint64_t, link_ptr> pairs_;
};

}  // namespace uct::sim
