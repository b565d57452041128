// A peer whose messages the test composes itself: it can send any bytes to a worker.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ucp/address/address.hpp"
#include "ucp/am/wire.hpp"
#include "ucp/core/context.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/rndv/wire.hpp"
#include "ucp/wireup/pair_wire.hpp"
#include "ucp/wireup/wire.hpp"
#include "ucs/async/event_loop.hpp"
#include "ucs/security/key_pair.hpp"
#include "uct/sim/component.hpp"
#include "uct/sim/driver.hpp"

namespace ucp_test {

// Sends a message of a header and a body without any change.
void send_raw(uct::ep& lane, uct::am_id id, const void* header, std::size_t length,
              const std::vector<std::byte>& body);

// An interface on the simulated network without any protocol. It stores received messages.
class raw_peer {
public:
    explicit raw_peer(uct::sim::fabric& network);
    // Also makes the lane to the worker.
    raw_peer(uct::sim::fabric& network, const ucp::worker& to) : raw_peer(network) { reach(to); }

    [[nodiscard]] std::uint64_t uid() const noexcept { return uid_; }
    [[nodiscard]] std::vector<std::byte> address() const;
    // Returns the header of a connection message to the worker, about this peer's endpoint `ep`.
    [[nodiscard]] ucp::wire::wireup_header about(ucp::wire::wireup_type type, std::uint64_t ep,
                                                 std::uint64_t worker_ep_or_number) const {
        return {type, {}, uid_, reached_uid_, ep, worker_ep_or_number};
    }
    unsigned progress() { return iface_->progress(); }

    // Makes the lane to the worker.
    void reach(const ucp::worker& to);
    // Returns true if the lane works.
    [[nodiscard]] bool can_send() { return lane_->flush(nullptr) >= UCS_OK; }
    // Connection messages get a valid proof, like those of a worker.
    template<class Header>
    void send(uct::am_id id, const Header& header, const std::vector<std::byte>& body = {}) {
        if constexpr (std::is_same_v<Header, ucp::wire::wireup_header>) {
            send_as_it_is(sealed(header, body), body);
        } else {
            send_raw(*lane_, id, &header, sizeof header, body);
        }
    }
    // Sends a connection message with this peer's address.
    void send(ucp::wire::wireup_type type, std::uint64_t ep, std::uint64_t worker_ep_or_number) {
        send(ucp::wire::wireup, about(type, ep, worker_ep_or_number), address());
    }
    void send_as_it_is(const ucp::wire::wireup_header& header,
                       const std::vector<std::byte>& body = {}) {
        send_raw(*lane_, ucp::wire::wireup, &header, sizeof header, body);
    }
    // Adds receipt and proof, and a new number to a request, and masks endpoint ids as workers do.
    // A header that has a receipt or a number keeps it.
    [[nodiscard]] ucp::wire::wireup_header sealed(ucp::wire::wireup_header header,
                                                  const std::vector<std::byte>& body) const;
    [[nodiscard]] const ucs::security::key_pair& keys() const noexcept { return keys_; }
    // Returns the header with unmasked endpoint ids, which both keys mask. If they are unmasked
    // already, it masks them.
    [[nodiscard]] ucp::wire::wireup_header unmasked(ucp::wire::wireup_header header) const;
    // Returns the headers of all messages of this id received so far.
    template<class Header>
    [[nodiscard]] std::vector<Header> received(uct::am_id id) const {
        std::vector<Header> list = received_as_they_are<Header>(id);
        if constexpr (std::is_same_v<Header, ucp::wire::wireup_header>)
            for (Header& each : list)
                each = unmasked(each);
        return list;
    }
    // Likewise, and requires that there are so many.
    template<class Header>
    [[nodiscard]] std::vector<Header> received(uct::am_id id, std::size_t wanted) const {
        std::vector<Header> list = received<Header>(id);
        require_count(list.size(), wanted);
        return list;
    }
    [[nodiscard]] std::vector<ucp::wire::wireup_header> connection_messages() const {
        return received<ucp::wire::wireup_header>(ucp::wire::wireup);
    }
    [[nodiscard]] std::vector<ucp::wire::wireup_header> connection_messages(
        std::size_t wanted) const {
        return received<ucp::wire::wireup_header>(ucp::wire::wireup, wanted);
    }
    template<class Header>
    [[nodiscard]] std::vector<Header> received_as_they_are(uct::am_id id) const {
        std::vector<Header> list;
        for (const auto& [kind, bytes] : inbox_) {
            if (kind != id || bytes.size() < sizeof(Header)) continue;
            std::memcpy(&list.emplace_back(), bytes.data(), sizeof(Header));
        }
        return list;
    }
    // Returns the newest message, header and body.
    [[nodiscard]] const std::vector<std::byte>& last_received() const {
        return inbox_.back().second;
    }

private:
    static void require_count(std::size_t received, std::size_t wanted);

    struct slot {
        raw_peer* self;
        uct::am_id id;
    };

    const ucs::security::key_pair keys_;
    const std::uint64_t uid_;
    std::vector<std::byte> reached_;  // address of the worker at the other end
    std::uint64_t reached_uid_ = 0;
    std::optional<ucs::security::key> shared_;  // key shared with that worker
    mutable std::uint64_t requests_ = 0;
    uct::sim::sim_component component_;
    std::unique_ptr<ucs::async::event_loop> events_;
    ucs::config::source config_;
    std::unique_ptr<uct::iface> iface_;
    std::unique_ptr<uct::ep> lane_;
    std::vector<slot> slots_;
    std::vector<std::pair<uct::am_id, std::vector<std::byte>>> inbox_;
};

// Returns the RTS of a message with tag 1 to an endpoint; the sender allows the receiver to read
// the data.
[[nodiscard]] ucp::wire::rts_header rts_of(const std::vector<std::byte>& data, std::uint64_t ep,
                                           std::uint32_t flags = 0);

// Parameters of an operation that reports nothing.
inline const ucp_request_param_t plain{};

[[nodiscard]] ucp::address::worker_address parsed(const std::vector<std::byte>& address);
// Returns the address with another public key.
[[nodiscard]] std::vector<std::byte> with_key(const std::vector<std::byte>& address,
                                              const ucs::security::public_key& identity);
// Returns the body of a connection message with this address. The sender of a pair request has
// these lanes.
[[nodiscard]] std::vector<std::byte> body_of(ucp::wire::wireup_type type,
                                             const std::vector<std::byte>& address,
                                             const std::vector<ucp::wireup::pair_lane>& lanes = {});

using settings = std::vector<std::pair<std::string, std::string>>;

[[nodiscard]] std::unique_ptr<ucp::context> make_context(
    const std::vector<const uct::component*>& components, const settings& options,
    std::uint64_t features = UCP_FEATURE_TAG);
[[nodiscard]] std::unique_ptr<ucp::worker> make_worker(const ucp::context& context);

// A worker, a raw peer, and a connected endpoint of the worker to it.
class raw_world {
public:
    // `others` are the worker's components in addition to the simulated network.
    explicit raw_world(const settings& options, const uct::sim::parameters& network = {},
                       const std::vector<const uct::component*>& others = {});
    ~raw_world();

    // Adds a participant; `progress` returns the number of its events.
    void drive(std::function<unsigned()> progress) { driver_.add(std::move(progress)); }
    // Runs until no more events can happen.
    void settle();
    // The worker looks at everything that it watches, and all events happen.
    void turn();
    // Likewise after each of so many seconds.
    void pass_seconds(int count);
    // The peer sends a message, and all events happen.
    template<class Header>
    void deliver(uct::am_id id, const Header& header, const std::vector<std::byte>& body = {}) {
        peer.send(id, header, body);
        settle();
    }
    // Likewise a connection message of the peer, about its endpoint `peers` and the worker's `own`.
    // The body is the peer's address unless another one is given.
    void deliver(ucp::wire::wireup_type type, std::uint64_t peers, std::uint64_t own) {
        deliver(type, peers, own, peer.address());
    }
    void deliver(ucp::wire::wireup_type type, std::uint64_t peers, std::uint64_t own,
                 const std::vector<std::byte>& body) {
        deliver(ucp::wire::wireup, peer.about(type, peers, own), body);
    }
    // Likewise a connection message without any change.
    void deliver_as_it_is(const ucp::wire::wireup_header& header,
                          const std::vector<std::byte>& body = {}) {
        peer.send_as_it_is(header, body);
        settle();
    }
    // The worker handles arrived messages; operations that it starts then do not continue.
    void handle_arrivals();

    [[nodiscard]] ucp::ep& ep() const noexcept { return *ep_; }
    [[nodiscard]] std::uint64_t ep_id() const noexcept { return ep_id_; }
    [[nodiscard]] ucp_worker_h worker_handle() const noexcept;
    [[nodiscard]] ucp_ep_h ep_handle() const noexcept;
    // Starts a synchronous send, which waits until the peer acknowledges it.
    void send_sync(const std::vector<std::byte>& data, struct completion_record& sent) const;
    // Starts a receive of any message, and returns its request.
    void* post_receive(std::vector<std::byte>& into, struct completion_record& received) const;
    void close_by_force();
    static void close_by_force(ucp_ep_h endpoint);
    // Makes another endpoint to the peer's address.
    [[nodiscard]] ucp_ep_h make_ep() const;
    // Makes an endpoint to an address.
    [[nodiscard]] ucp::ep& ep_to(const std::vector<std::byte>& address) const;
    // Uses an endpoint, so that it connects, and runs until no more events can happen.
    void use(ucp::ep& which);
    // The peer closes its endpoint, and the worker receives the message.
    void peer_closes();

    uct::sim::fabric network;
    uct::sim::sim_component component;
    std::unique_ptr<ucp::context> context;
    std::unique_ptr<ucp::worker> worker;
    raw_peer peer;

    static constexpr std::uint64_t peer_ep = 77;  // the peer's id of its endpoint

private:
    uct::sim::driver driver_;
    ucp::ep* ep_ = nullptr;
    std::uint64_t ep_id_ = 0;
};

// Records the completion of an operation.
struct completion_record {
    int times = 0;
    ucs_status_t status = UCS_INPROGRESS;
    // Parameters by which the operation reports its completion here. They are valid until the next
    // call.
    [[nodiscard]] ucp_request_param_t* on_send();
    [[nodiscard]] ucp_request_param_t* on_recv();

    ucp_request_param_t params{};
};

}  // namespace ucp_test
