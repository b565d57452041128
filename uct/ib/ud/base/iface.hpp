// Datagrams for one worker: connections to peers and from peers.
#pragma once

#include <array>
#include <vector>

#include "uct/ib/base/address_handles.hpp"
#include "uct/ib/base/iface.hpp"
#include "uct/ib/ud/base/connection.hpp"
#include "uct/ib/ud/base/faults.hpp"
#include "uct/ib/ud/base/lingering_connections.hpp"
#include "uct/ib/ud/base/owed_acknowledgements.hpp"
#include "uct/ib/ud/base/receiver.hpp"
#include "uct/ib/ud/base/transmitter.hpp"

namespace uct::ud {

// All of unreliable datagrams but how endpoints make their messages. Owned by the worker, owner
// context.
class iface : public ib::iface {
public:
    ~iface() override;

    unsigned progress() final;
    [[nodiscard]] bool has_work() const noexcept final;
    [[nodiscard]] ucs_status_t arm() noexcept final;
    void pack_address(std::span<std::byte> into) const final { own_.pack(into); }
    // Nobody reaches memory by datagrams.
    [[nodiscard]] memory_domain* domain() noexcept final { return nullptr; }
    [[nodiscard]] reachability check_reachable(std::span<const std::byte> address) const final;
    [[nodiscard]] std::uint64_t connection_of(const peer_bytes& message) const noexcept final;
    bool end_connection(std::uint64_t number, ucs_status_t status) noexcept final;
    void append_connections(std::vector<std::uint64_t>& into) const final;
    void describe(ucs::vfs::directory& into) const override;

    // --- for endpoints ---
    ucs::result<std::unique_ptr<connection>> make_connection(const wire::address& peer);
    // A packet that was filled: `flags` and `id` as in its header.
    void submit(connection& on, packet& fresh, am_id id, std::uint8_t flags) noexcept;
    // How many packets a message takes.
    [[nodiscard]] static std::uint32_t packets_of(const connection& on,
                                                  std::size_t length) noexcept {
        const std::size_t each = on.to().payload;
        return length <= each ? 1U : static_cast<std::uint32_t>((length + each - 1) / each);
    }
    void flush(connection& on, flush_op& waiting) noexcept;
    void check(connection& on) noexcept;
    // Its endpoint goes; what was accepted still goes out. Operations for the user have ended when
    // this returns.
    void leave(std::unique_ptr<connection> left) noexcept;
    [[nodiscard]] transmitter& sends() noexcept { return sends_out_; }
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
        bool has_route;             // the device has filled in the route header
        unsigned overtaken_by = 0;  // so many have to come first
    };

    // iface.cpp: the device, peers, sleeping
    void on_broken_pair(const ib::device_event& event, ucs_status_t status) noexcept final;
    void fail_all(ucs_status_t status, completions then) noexcept final;
    [[nodiscard]] ib::receive_pool& pool() noexcept final { return *pool_; }
    std::shared_ptr<peer> find_peer(const wire::address& who);
    ucs_status_t find_way(peer& to) noexcept;
    void watch_receivers() noexcept;
    void forget_silent() noexcept;

    // iface_receive.cpp: what arrives
    unsigned receive() noexcept;
    void take(const arrival& what) noexcept;
    void take_unreliably(arrival what) noexcept;
    unsigned release_overtaken(bool all) noexcept;
    bool handle(const arrival& what) noexcept;
    bool take_data(const wire::datagram& what, const arrival& from) noexcept;
    void take_turn(receiver& on, const wire::datagram& what) noexcept;
    void hand_out(const receiver& from, am_id id, std::span<std::byte> message) noexcept;
    void take_kept(receiver& on) noexcept;
    void take_acknowledgement(const wire::datagram& what, std::uint32_t from_pair) noexcept;
    void receive_failed(ibv_wc_status how) noexcept;
    void malformed(std::uint32_t from_pair, const char* why) noexcept;
    [[nodiscard]] connection* find(std::uint64_t id, std::uint32_t from_pair) noexcept;

    // iface_control.cpp: connections of peers
    void take_request(const wire::datagram& what, const arrival& from) noexcept;
    void displace(receiver& on) noexcept;
    void cut_off(receiver& ended) noexcept;
    [[nodiscard]] bool forgets(const receiver& on, const wire::datagram& what) noexcept;
    [[nodiscard]] datagram_source source_of(const arrival& arrived) const noexcept;
    [[nodiscard]] std::optional<wire::hello> hello_in(const wire::datagram& what,
                                                      const datagram_source& source,
                                                      const char* title) noexcept;
    void take_goodbye(const wire::datagram& what, const arrival& from) noexcept;
    void take_reply(const wire::datagram& what, const arrival& from) noexcept;
    void take_ended(const wire::datagram& what, const arrival& from) noexcept;
    void answer_unknown(std::uint64_t id, const datagram_source& source) noexcept;
    void tell_end(peer& sender, std::uint64_t source, std::uint64_t id) noexcept;
    void remove(receiver& gone) noexcept;
    void release_kept(receiver& of) noexcept;

    // iface_send.cpp: what goes out
    void transmit(connection& on, packet& which, ucs::time::nanoseconds now) noexcept;
    void send_now(connection& on) noexcept;
    bool send_question(connection& on, ucs::time::nanoseconds now) noexcept;
    bool send_control(peer& to, wire::header head, std::span<const std::byte> body) noexcept;
    bool send_acknowledgement(receiver& to) noexcept;
    void acknowledge(bool all) noexcept;
    void fill_acknowledgement(wire::header& head, peer& to) noexcept;
    // After anything has changed in a connection's protocol.
    void look_after(connection& which, packet_list& done) noexcept;
    void look_after(connection& which) noexcept;
    void dismantle(connection& failed) noexcept;
    void attend_to(connection& which) noexcept;
    void attend() noexcept;
    void on_time(ucs::time::nanoseconds now) noexcept;
    void keep_time(connection& which) noexcept;
    unsigned reap_sends() noexcept;
    unsigned look_at_time() noexcept;
    void send_failed(const ibv_wc& how) noexcept;
    unsigned tell_ended() noexcept;
    void tell(direct& ended) noexcept;
    void tell(flush_op& ended) noexcept;
    void end_flushes(connection& of, psn before, ucs_status_t status) noexcept;
    void report_if_done(connection& failed) noexcept;

    // iface_close.cpp: ends
    bool free_program_memory(connection& of) noexcept;
    void tell_ended_of(connection& which) noexcept;
    void bury() noexcept;
    void close() noexcept;
    void say_goodbye() noexcept;
    void wait_for_device(ucs::time::nanoseconds most) noexcept;

    using timed_list = ucs::datastruct::auto_list<connection, &connection::timer_hook>;
    using attention_list = ucs::datastruct::auto_list<connection, &connection::attention_hook>;

    const settings options_;
    const std::size_t payload_;  // of one datagram, behind its header
    const std::size_t longest_;  // message
    std::unique_ptr<ib::receive_pool> pool_;
    ib::address_handles ways_;
    transmitter sends_out_;
    wire::address own_;
    peer_table peers_;
    ucs::datastruct::secret_id_table<connection*> connections_;
    receiver_table receivers_;
    // The connections that were ended last, by who made them.
    struct cut_off_source {
        wire::address from;
        std::uint64_t connection = 0;
        friend bool operator==(const cut_off_source&, const cut_off_source&) = default;
    };
    std::array<cut_off_source, 64> cut_off_{};
    std::size_t cut_off_count_ = 0;
    struct {
        std::uint64_t connection = 0;
        std::span<const std::byte> message;
    } delivering_;
    timed_list timed_;
    ucs::time::nanoseconds next_time_ = 0;  // 0: nothing waits
    attention_list attention_;
    owed_acknowledgements owed_;
    flush_queue ended_flushes_;
    lingering_connections lingering_;
    faults faults_;
    std::vector<arrival> overtaken_;
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
        std::uint64_t repeated_before = 0;  // of connections that are gone
        std::uint64_t resyncs = 0;
        std::uint64_t displaced = 0;
    } count_;
};

}  // namespace uct::ud
