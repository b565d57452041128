// A connection between two interfaces: its socket and its state.
#pragma once

#include <sys/epoll.h>

#include <memory>
#include <optional>
#include <vector>

#include "ucs/datastruct/intrusive.hpp"
#include "ucs/net/silence_watch.hpp"
#include "ucs/time/clock.hpp"
#include "ucs/type/unique_fd.hpp"
#include "uct/base/connection_number.hpp"
#include "uct/tcp/connection_state.hpp"
#include "uct/tcp/encrypted_stream.hpp"
#include "uct/tcp/ep.hpp"
#include "uct/tcp/handshake.hpp"
#include "uct/tcp/receiver.hpp"
#include "uct/tcp/route.hpp"
#include "uct/tcp/send_queue.hpp"
#include "uct/tcp/unfinished_frames.hpp"
#include "uct/tcp/unused_connections.hpp"

namespace uct::tcp {

class iface;

// Identifies a peer by its interface id and the tag of its address. Neither is sufficient alone. An
// address may hold the id of another interface: addresses with the same id and different other
// contents share no connection, and only the address of the interface itself leads to an
// established connection. A connecting interface proves its id, but may show the tag of any
// address. If two interfaces show the same tag, their ids still keep their connections apart.
struct peer_key {
    std::uint64_t interface_id;  // as in uct/tcp/address.hpp
    address_tag address;         // of the whole address, see uct/tcp/credentials.hpp
    auto operator<=>(const peer_key&) const noexcept = default;
};

// Carries the messages of both directions between two interfaces. It connects on the first send,
// and may outlive its endpoints. Endpoints attach to it; the interface owns it. Operations never
// call back: settle(), which runs in progress, reports the failures. Owner context.
class connection final : private unfinished_frames::frame_owner {
public:
    connection(iface& owner, const peer_key& peer);
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    ~connection();

    // --- endpoints
    // `peer_address` is the key of the address that peer() names.
    void attach(ep& user, std::vector<reach::path> paths,
                const ucs::security::key& peer_address) noexcept;
    // Ends the operations of the endpoint. A message in progress is sent from a copy, so that the
    // caller may reuse its memory and its completions.
    void detach(ep& user) noexcept;
    [[nodiscard]] bool has_users() const noexcept { return !users_.empty(); }

    // --- sending; see ep.hpp for the statuses
    [[nodiscard]] bool can_send(std::size_t frame_bytes) const noexcept {
        return state_ == state::established && tx_.has_room(frame_bytes);
    }
    // Returns the status of an operation while can_send is false. Starts to connect if necessary.
    ucs_status_t blocked_status();
    // Sends a frame. The body of `length` bytes lies after space for the header and before space
    // for padding. Requires can_send.
    ucs_status_t send_frame(am_id id, std::byte* frame, std::size_t length);
    ucs_status_t send_zcopy(ep& user, am_id id, std::span<const std::byte> header,
                            std::span<const iov> payload, completion* done);
    ucs_status_t flush(ep& user, completion* done);

    // --- keep-alive; see ep::check
    void check_alive() noexcept;

    // --- progress
    // Reads the socket once. Returns the number of messages and other events.
    unsigned receive();
    unsigned on_socket(std::uint32_t epoll_events);
    // Runs work that was deferred to progress. Calls handlers and completions.
    unsigned settle();
    void on_tick(ucs::time::nanoseconds now);

    // --- greetings of the peer (see listener.hpp)
    enum class verdict { welcome, lost_race, stale, wait };
    [[nodiscard]] verdict check_greeting(const wire::greeting& hello) const noexcept;
    // `session` is the key of the handshake.
    void adopt(ucs::unique_fd socket, std::uint32_t peer_attempt,
               const ucs::security::key& session) noexcept;
    void give_up(ucs_status_t status) { fail_after_reading(status); }
    // Fails without reading what has arrived.
    void end_now(ucs_status_t status) { fail(status); }

    // --- closing the interface
    void say_goodbye();
    // Reads and drops unread bytes of the peer. If a socket is closed with unread bytes, the kernel
    // sends a reset, which may overtake the goodbye and the messages before it.
    void drop_unread() noexcept;
    [[nodiscard]] bool unsent() const noexcept;
    [[nodiscard]] int descriptor() const noexcept { return fd_.get(); }
    [[nodiscard]] bool is_watched() const noexcept { return watched_ != 0; }
    unsigned send_queued();

    [[nodiscard]] state current_state() const noexcept { return state_; }
    // The connection is ending: operations of endpoints only return its status.
    [[nodiscard]] bool has_ended() const noexcept {
        return state_ == state::draining || state_ == state::failed;
    }
    [[nodiscard]] const peer_key& peer() const noexcept { return peer_; }
    // See iface::connection_of.
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    [[nodiscard]] bool has_in_buffer(const std::byte* entry) const noexcept {
        return rx_.has_in_buffer(entry);
    }
    // Returns true if the peer has sent bytes after the greetings, read or unread.
    [[nodiscard]] bool has_received() const noexcept;
    void note_readable() noexcept { was_readable_ = true; }
    // See uct::ep::received.
    [[nodiscard]] std::uint64_t received() const noexcept;
    [[nodiscard]] bool is_removable() const noexcept;
    [[nodiscard]] bool needs_ticks() const noexcept;
    [[nodiscard]] std::string peer_name() const noexcept;

    ucs::datastruct::list_hook attended_hook;  // of the interface: a call of settle() is due

private:
    struct waiting_flush {
        std::uint64_t until;  // bytes sent
        completion* done;
        const ep* user;
    };

    bool move(event trigger);
    void fail(ucs_status_t status);
    void fail_after_reading(ucs_status_t status);
    void note_silence_in_greeting(ucs::time::nanoseconds now);
    void note_connected() noexcept;
    ucs_status_t fail_sending(int error);
    ucs_status_t fail_for_memory(const char* operation);
    void drop_unfinished_frame() noexcept override;

    // connection_setup.cpp
    void start();
    bool open_socket(const reach::path& path);
    void on_connected();
    void read_greeting_reply();
    void on_welcome();
    void on_refusal(wire::refusal_reason reason);
    void on_missing_proof();
    [[nodiscard]] bool send_greeting(const packed_greeting& greeting);
    void begin_encryption(const ucs::security::key& session, bool connected) noexcept;
    void attempt_failed(const char* operation, int error);
    void retry_after(ucs::time::nanoseconds pause);
    void close_socket() noexcept;

    // connection.cpp
    unsigned finish_failure();
    void read_what_arrived();
    void on_control(unsigned kinds);
    void on_close_request();
    void keep_as_unused() noexcept;
    void on_end_of_stream();
    void close_by_agreement();
    static std::array<std::byte, wire::frame_header_size> control_frame(wire::frame_kind kind);
    void send_control(wire::frame_kind kind);
    void watch(std::uint32_t events);

    // connection_encryption.cpp: like sendmsg() and readv(), errno included, on an encrypted
    // connection. Bytes that write_encrypted did not take must come first in its next call.
    ssize_t write_encrypted(std::span<const iovec> pieces) noexcept;
    ssize_t read_encrypted(std::span<const iovec> into) noexcept;
    ucs_status_t send_encrypted(std::byte* frame, std::size_t length);
    unsigned receive_encrypted();
    void on_broken_encryption();

    // connection_datapath.cpp
    unsigned take_received(ssize_t got);
    void fail_receiving(ucs_status_t status);
    ssize_t write_some() noexcept;
    ucs_status_t keep_rest(const std::byte* from, std::size_t count);
    // Ends flushes that wait for at most the first `sent` bytes; returns their number.
    unsigned finish_flushes(std::uint64_t sent);
    unsigned receive_later();
    void end_operations_of(const ep& user);
    void end_operations(ucs_status_t status);

    using user_list = ucs::datastruct::list<ep, &ep::connection_hook>;

    iface& owner_;
    const peer_key peer_;
    const std::uint64_t number_ = next_connection_number();
    ucs::unique_fd fd_;
    state state_ = state::idle;
    std::uint32_t watched_ = 0;
    receiver rx_;
    send_queue tx_;
    user_list users_;
    std::vector<waiting_flush> flushes_;
    const ep* zcopy_user_ = nullptr;  // the endpoint whose zero-copy message is in progress
    std::vector<reach::path> paths_;
    std::size_t path_ = 0;  // index of the path to try
    unsigned attempts_ = 0;
    std::uint32_t peer_attempt_ = 0;
    ucs::time::nanoseconds due_ = 0;  // deadline of the current state
    ucs_status_t failure_ = UCS_OK;
    bool failure_reported_ = false;
    bool was_readable_ = false;  // since the greetings
    bool close_denied_ =
        false;  // the peer refused to close; it will ask when it no longer needs the connection
    bool waits_for_memory_ = false;  // no memory to receive into
    std::optional<wire::frame_kind>
        queued_control_;  // control frame to send after the queued bytes
    ucs::net::silence_watch silence_;
    // Both are reset when a connection is established.
    unsigned lost_races_ = 0;
    unsigned silent_checks_ = 0;  // checks of a peer that has accepted and sends nothing
    ucs::time::nanoseconds silent_since_ = 0;
    std::unique_ptr<connecting_handshake> handshake_;  // in state greeting
    std::optional<ucs::security::key> peer_address_;   // set by the first endpoint
    std::unique_ptr<encrypted_streams> encrypted_;     // null: not encrypted
    std::optional<socket_address> connected_to_;       // for log lines
    unused_connections::entry unused_;
};

}  // namespace uct::tcp
