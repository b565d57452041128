// The simulated network: it runs in virtual time, inside one process.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "ucs/datastruct/event_queue.hpp"
#include "ucs/random/seeded.hpp"
#include "ucs/type/result.hpp"
#include "uct/sim/link.hpp"
#include "uct/sim/node.hpp"
#include "uct/sim/trace.hpp"

namespace uct::sim {

enum class action : std::uint8_t {
    connect,   // the link accepts operations from now on
    arrive,    // the first message on its wire reaches the receiver's queue
    access,    // a get or put touches memory
    complete,  // an operation ends at the sender
    fail,      // the link, or every link from `from` to `to`, fails with `status`
    die,       // all nodes of worker `worker_uid` die
    wake,      // only a reason to call progress
};

struct event {
    ucs::time::nanoseconds when = 0;
    std::uint64_t order = 0;  // breaks ties: random between links, never within a link
    action kind = action::wake;
    link_ptr conn{};
    operation_ptr op{};
    ucs_status_t status = UCS_OK;
    node_id from = 0;
    node_id to = 0;
    std::uint64_t worker_uid = 0;
};

// Connects the interfaces that are opened on it (see component.hpp), and decides from its seed what
// happens when. A test calls `step` to process the next event and `progress` of its workers in any
// order, or lets driver.hpp do both. The same seed and calls give the same run. While a fabric
// exists, its clock is the clock of the library; fabrics nest. Created and destroyed by the test,
// outlives everything that is opened on it. One thread only.
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
    [[nodiscard]] ucs::sys::random& dice() noexcept { return dice_; }
    // Decides at random whether the device refuses to register memory this time.
    [[nodiscard]] bool refuses_memory() {
        return dice_.chance(network_.paired.registration_failure);
    }

    // Advances time to the next event and processes it. Returns false if there is none.
    bool step();
    [[nodiscard]] std::size_t pending_events() const noexcept { return events_.size(); }
    // Advances time and processes all events until then. For timers of workers.
    void advance(ucs::time::nanoseconds duration);

    // Returns the node of the worker's n-th interface on this fabric.
    [[nodiscard]] std::optional<node_id> find_node(std::uint64_t worker_uid,
                                                   std::size_t nth = 0) const noexcept;

    // Drops everything between two nodes with paired endpoints.
    void break_path(node_id a, node_id b) { dead_paths_[std::minmax(a, b)] = true; }

    // get_zcopy and put_zcopy from one node to another return UCS_ERR_UNSUPPORTED.
    void refuse_rma(node_id from, node_id to) { refused_.insert({from, to}); }

    // The n-th operation (1: the next) that `from` posts to `to` makes its endpoint fail.
    void fail_at_operation(node_id from, node_id to, std::uint64_t nth);
    // All endpoints of `from` to `to` fail after that delay.
    void fail_after(node_id from, node_id to, ucs::time::nanoseconds delay);

    // The worker dies: its interfaces stop sending and receiving, the messages in flight are lost
    // from a random point on, and its peers' endpoints fail after parameters::detection_time. The
    // test must not run the worker any more, but may destroy it.
    void kill(std::uint64_t worker_uid);
    void kill_after(std::uint64_t worker_uid, ucs::time::nanoseconds delay);
    // Disconnects a living worker from the network: its endpoints and those of its peers fail, now
    // and later. A killed worker may be run again after this call, without its peers, so that its
    // operations end.
    void disconnect_worker(std::uint64_t worker_uid);

private:
    friend class sim_iface;
    friend class sim_ep;
    friend class paired_ep;

    // For interfaces and endpoints.
    node& join(std::uint64_t worker_uid, bool paired);
    void leave(node& gone);
    [[nodiscard]] std::uint32_t checksum(const node& n) const noexcept;
    // The address of an interface of the same kind.
    [[nodiscard]] ucs::result<node_id> parse_address(const node& reader,
                                                     std::span<const std::byte> address) const;
    link_ptr connect(node& from, node_id to, sim_ep& owner);
    void disconnect(link& conn);
    [[nodiscard]] ucs_status_t admit(const link_ptr& conn);
    [[nodiscard]] bool rma_refused(node_id from, node_id to);
    void post(const link_ptr& conn, operation_ptr op);
    // Posts a message together with the write that is carried out before it.
    void post_both(const link_ptr& conn, operation_ptr write, operation_ptr message);
    void consumed_message(node& receiver);
    void record(event_kind kind, const link& conn, std::uint64_t detail = 0) noexcept;
    void record(event_kind kind, const node& n, std::uint64_t detail = 0) noexcept;

    // Paired endpoints.
    static constexpr std::size_t connection_length = 2 * sizeof(std::uint64_t);
    [[nodiscard]] std::uint64_t checksum(const link& conn) const noexcept;
    void pack_connection(const link& conn, std::span<std::byte> into) const;
    // Returns UCS_ERR_INVALID_ADDR if the data is malformed.
    ucs_status_t bind(const link_ptr& conn, std::span<const std::byte> data);
    void check(const link_ptr& conn);
    void abort(const link_ptr& conn) { fail_this_side(conn, UCS_ERR_CANCELED); }
    [[nodiscard]] bool path_is_dead(node_id a, node_id b);
    [[nodiscard]] link_ptr responding_partner(const link& conn);
    enum class reception : std::uint8_t { taken, later, never };
    [[nodiscard]] reception try_partner(const link_ptr& conn);
    void retransmit(event&& event_);
    [[nodiscard]] bool serve(const link_ptr& conn, const operation_ptr& op);
    void send_on_wire(const link_ptr& conn, operation_ptr op);
    void part(link& conn);
    void take_goodbye(const link& conn);

    // Events.
    void schedule(event event_);
    void happen(event& event_);
    void arrive(const link_ptr& conn);
    [[nodiscard]] bool arrives_at_partner(const link_ptr& conn);
    void access(const link_ptr& conn, const operation_ptr& op);
    void complete_soon(const link_ptr& conn, const operation_ptr& op);
    void complete(const link_ptr& conn, const operation_ptr& op);
    void fail_links(const event& event_);
    void fail(const link_ptr& conn, ucs_status_t status);
    // Ends the connection on the receiver's side: nothing more is delivered from it.
    void end(const link_ptr& conn, ucs_status_t status);
    // Fails the link without notifying the other side.
    void fail_this_side(const link_ptr& conn, ucs_status_t status);
    void fail_opposites(const link& conn);
    void lose_peers(node& gone);
    [[nodiscard]] bool is_cut(const node& from, node_id to) const noexcept;
    void lose_wire_tail(link& conn);
    [[nodiscard]] bool must_fail(const link& conn);
    [[nodiscard]] ucs::time::nanoseconds travel_time(const link& conn, std::size_t bytes);

    static ucs::time::nanoseconds virtual_now() noexcept;
    static inline fabric* current_ = nullptr;

    const std::uint64_t seed_;
    const parameters network_;
    ucs::sys::random dice_;
    trace history_;
    // Atomic because other threads read the time, too: requests for the object tree have a
    // deadline.
    std::atomic<ucs::time::nanoseconds> now_;
    fabric* const outer_;
    ucs::datastruct::event_queue<event> events_;
    std::uint64_t next_order_ = 0;
    std::uint64_t next_link_ = 0;
    std::vector<std::unique_ptr<node>> nodes_;

    using pair = std::pair<node_id, node_id>;
    std::set<pair> refused_;
    std::set<pair> rma_decided_;
    std::map<pair, std::uint64_t> failing_operation_;  // operations left until the failure
    std::map<pair, bool> dead_paths_;                  // paths whose fate is decided
    // Links of paired endpoints by number. The link of a destroyed endpoint stays until its goodbye
    // has arrived.
    std::map<std::uint64_t, link_ptr> pairs_;
};

}  // namespace uct::sim
