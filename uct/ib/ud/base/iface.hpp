// Base of the interfaces of unreliable datagrams: connections to peers and from peers.
#pragma once

#include <array>
#include <vector>

#include "uct/ib/base/device/address_handles.hpp"
#include "uct/ib/base/iface.hpp"
#include "uct/ib/ud/base/connection.hpp"
#include "uct/ib/ud/base/faults.hpp"
#include "uct/ib/ud/base/lingering_connections.hpp"
#include "uct/ib/ud/base/pending_acknowledgements.hpp"
#include "uct/ib/ud/base/receiver.hpp"
#include "uct/ib/ud/base/transmitter.hpp"

namespace uct::ud {

// Implements everything but how endpoints turn messages into packets. Owned by the worker; owner
// context.
class iface : public ib::iface {
public:
    ~iface() override;

    unsigned progress() final;
    [[nodiscard]] bool has_work() const noexcept final;
    [[nodiscard]] ucs_status_t arm() noexcept final;
    void pack_address(std::span<std::byte> into) const final { own_.pack(into); }
    // Datagrams give no access to remote memory.
    [[nodiscard]] memory_domain* domain() noexcept final { return nullptr; }
    [[nodiscard]] reachability check_reachable(std::span<const std::byte> address) const final;
    [[nodiscard]] std::uint64_t connection_of(const peer_bytes& message) const noexcept final;
    bool end_connection(std::uint64_t number, ucs_status_t status) noexcept final;
    void append_connections(std::vector<std::uint64_t>& into) const final;
    void describe(ucs::vfs::directory& into) const override;

    // --- for endpoints ---
    ucs::result<std::unique_ptr<connection>> make_connection(const wire::address& peer);
    // Sends a filled packet. `flags` and `id` are those of its header.
    void submit(connection& conn, packet& fresh, am_id id, std::uint8_t flags) noexcept;
    // Returns how many packets a message of `length` bytes takes.
    [[nodiscard]] static std::uint32_t packets_of(const connection& conn,
                                                  std::size_t length) noexcept {
        const std::size_t each = conn.to().payload;
        return length <= each ? 1U : static_cast<std::uint32_t>((length + each - 1) / each);
    }
    void flush(connection& conn, flush_op& waiting) noexcept;
    void check(connection& conn) noexcept;
    // Takes over the connection of an endpoint that is destroyed. Accepted messages are still sent.
    // All operations of the endpoint have ended when this returns.
    void leave(std::unique_ptr<connection> left) noexcept;
    [[nodiscard]] transmitter& sends() noexcept { return transmitter_; }
    [[nodiscard]] std::size_t payload() const noexcept { return payload_; }
    [[nodiscard]] std::size_t longest_message() const noexcept { return longest_; }

protected:
    struct parts {
        ib::iface::parts port;
        settings options;
        ibv_mtu mtu;
        std::unique_ptr<ib::receive_pool> receives;
        queue_pair pair;
    };
    static ucs::result<parts> gather(const resource& where, const iface_params& params);
    iface(const resource& where, const iface_params& params, parts made);

private:
    struct arrival {
        ib::receive_buffer* buffer;
        std::uint32_t length;
        std::uint32_t from_pair;
        std::uint16_t from_lid;
        bool has_route;             // the device has written a route header
        unsigned overtaken_by = 0;  // datagrams that are handled first
    };

    // iface.cpp: the device, peers, sleep
    void on_broken_pair(const ib::device_event& event, ucs_status_t status) noexcept final;
    void fail_all(ucs_status_t status, completions then) noexcept final;
    [[nodiscard]] ib::receive_pool& pool() noexcept final { return *pool_; }
    std::shared_ptr<peer> find_peer(const wire::address& address);
    ucs_status_t resolve_address_handle(peer& to) noexcept;
    void watch_receivers() noexcept;
    void remove_silent() noexcept;

    // iface_receive.cpp: received datagrams
    unsigned receive() noexcept;
    void take(const arrival& received) noexcept;
    void take_with_faults(arrival received) noexcept;
    unsigned release_delayed(bool all) noexcept;
    bool handle(const arrival& received) noexcept;
    bool take_data(const wire::datagram& datagram, const arrival& from) noexcept;
    void take_turn(receiver& rx, const wire::datagram& datagram) noexcept;
    void deliver_message(const receiver& from, am_id id, std::span<std::byte> message) noexcept;
    void take_kept(receiver& rx) noexcept;
    void take_acknowledgement(const wire::datagram& datagram, std::uint32_t from_pair) noexcept;
    void receive_failed(ibv_wc_status status) noexcept;
    void malformed(std::uint32_t from_pair, const char* why) noexcept;
    [[nodiscard]] connection* find(std::uint64_t id, std::uint32_t from_pair) noexcept;

    // iface_control.cpp: connections of peers
    void take_request(const wire::datagram& datagram, const arrival& from);
    void displace(receiver& rx) noexcept;
    void end_receiver(receiver& ended) noexcept;
    [[nodiscard]] bool forgets(const receiver& rx, const wire::datagram& datagram) noexcept;
    [[nodiscard]] datagram_source source_of(const arrival& arrived) const noexcept;
    [[nodiscard]] std::optional<wire::hello> parse_hello(const wire::datagram& datagram,
                                                         const datagram_source& source,
                                                         const char* title) noexcept;
    void take_goodbye(const wire::datagram& datagram, const arrival& from);
    void take_reply(const wire::datagram& datagram, const arrival& from) noexcept;
    void take_ended(const wire::datagram& datagram, const arrival& from) noexcept;
    void reply_unknown(std::uint64_t id, const datagram_source& source) noexcept;
    void send_ended(peer& sender, std::uint64_t source, std::uint64_t id) noexcept;
    void remove(receiver& gone) noexcept;
    void release_kept(receiver& rx) noexcept;

    // iface_send.cpp: sending
    void transmit(connection& conn, packet& packet, ucs::time::nanoseconds now) noexcept;
    void send_now(connection& conn) noexcept;
    bool send_request(connection& conn, ucs::time::nanoseconds now) noexcept;
    bool send_control(peer& to, wire::header head, std::span<const std::byte> body) noexcept;
    bool send_acknowledgement(receiver& to) noexcept;
    void acknowledge(bool all) noexcept;
    void fill_acknowledgement(wire::header& head, peer& to) noexcept;
    // To be called after any change of a connection's protocol.
    void update(connection& conn, packet_list& done) noexcept;
    void update(connection& conn) noexcept;
    void dismantle(connection& failed) noexcept;
    void queue_for_send(connection& conn) noexcept;
    void send_queued() noexcept;
    void on_time(ucs::time::nanoseconds now) noexcept;
    void schedule_timer(connection& conn) noexcept;
    unsigned reap_sends() noexcept;
    unsigned check_timers() noexcept;
    void send_failed(const ibv_wc& failed) noexcept;
    unsigned complete_ended() noexcept;
    void complete(direct& ended) noexcept;
    void complete(flush_op& ended) noexcept;
    void end_flushes(connection& conn, psn before, ucs_status_t status) noexcept;
    void report_if_done(connection& failed) noexcept;

    // iface_close.cpp: closing
    bool free_program_memory(connection& conn) noexcept;
    void complete_operations_of(connection& conn) noexcept;
    void remove_ended_connections() noexcept;
    void close() noexcept;
    void notify_peers_of_close() noexcept;
    void wait_for_device(ucs::time::nanoseconds most) noexcept;

    using timed_list = ucs::datastruct::auto_list<connection, &connection::timer_hook>;
    using send_queue = ucs::datastruct::auto_list<connection, &connection::send_queue_hook>;

    const settings options_;
    const std::size_t payload_;  // bytes of one datagram after its header
    const std::size_t longest_;  // bytes of the longest message
    std::unique_ptr<ib::receive_pool> pool_;
    ib::address_handles address_handles_;
    transmitter transmitter_;
    wire::address own_;
    peer_table peers_;
    ucs::datastruct::secret_id_table<connection*> connections_;
    receiver_table receivers_;
    // The connections that were ended last, by the interface and the id of their sender.
    struct ended_source {
        wire::address from;
        std::uint64_t connection = 0;
        friend bool operator==(const ended_source&, const ended_source&) = default;
    };
    std::array<ended_source, 64> ended_receivers_{};
    std::size_t ended_receivers_count_ = 0;
    struct {
        std::uint64_t connection = 0;
        std::span<const std::byte> message;
    } delivering_;
    timed_list timed_;
    ucs::time::nanoseconds next_time_ = 0;  // 0: no deadline
    send_queue send_queue_;
    pending_acknowledgements pending_acks_;
    flush_queue ended_flushes_;
    lingering_connections lingering_;
    faults faults_;
    std::vector<arrival> delayed_;
    ucs::async::event_loop::timer_id wake_timer_ = 0;
    ucs::async::event_loop::timer_id sweep_timer_ = 0;
    unsigned turn_ = 0;
    bool closing_ = false;
    struct {
        std::uint64_t messages = 0;
        std::uint64_t datagrams = 0;
        std::uint64_t again = 0;
        std::uint64_t early = 0;
        std::uint64_t dropped = 0;
        std::uint64_t unknown = 0;
        std::uint64_t malformed = 0;
        std::uint64_t acknowledgements = 0;
        std::uint64_t repeated_before = 0;  // of removed connections
        std::uint64_t resyncs = 0;
        std::uint64_t displaced = 0;
    } count_;
};

}  // namespace uct::ud
