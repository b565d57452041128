// A connection between two interfaces: its socket and its state.
#pragma once

#include <sys/epoll.h>

#include <memory>
#include <optional>
#include <vector>

#include "ucs/datastruct/intrusive.hpp"
#include "ucs/net/reply_state.hpp"
#include "ucs/time/clock.hpp"
#include "ucs/type/unique_fd.hpp"
#include "uct/base/connection_number.hpp"
#include "uct/tcp/connection_state.hpp"
#include "uct/tcp/data/frame_writer.hpp"
#include "uct/tcp/data/receiver.hpp"
#include "uct/tcp/data/unfinished_frames.hpp"
#include "uct/tcp/ep.hpp"
#include "uct/tcp/setup/handshake.hpp"
#include "uct/tcp/setup/route.hpp"
#include "uct/tcp/setup/unused_connections.hpp"

namespace uct::tcp {

class iface;

// Identifies a peer by its interface id and the tag of its address. Neither is sufficient alone. An
// address may hold the id of another interface: addresses with the same id and different other
// contents share no connection, and only the address of the interface itself leads to an
// established connection. A connecting interface proves its id, but may show the tag of any
// address. If two interfaces show the same tag, their ids still keep their connections apart.
struct peer_key {
    std::uint64_t interface_id;  // as in uct/tcp/setup/address.hpp
    address_tag address;         // of the whole address, see uct/tcp/setup/credentials.hpp
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

    // --- sending; see also frame_writer.hpp
    [[nodiscard]] bool can_send(std::size_t frame_bytes) const noexcept {
        return state_ == state::established && writer.has_room(frame_bytes);
    }
    // Returns the status of an operation while can_send is false. Starts to connect if necessary.
    ucs_status_t blocked_status();

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

    // --- closing the interface
    void say_goodbye();

    [[nodiscard]] state current_state() const noexcept { return state_; }
    // Returns the final status once the connection has ended.
    [[nodiscard]] ucs_status_t failure() const noexcept { return failure_; }
    // Fails. If the peer may have sent a goodbye, what has arrived is read first.
    void fail_after_reading(ucs_status_t status);
    // Fails without reading what has arrived.
    void fail(ucs_status_t status);
    [[nodiscard]] bool is_removable() const noexcept;
    [[nodiscard]] bool needs_ticks() const noexcept;
    [[nodiscard]] std::string peer_name() const noexcept;

    const peer_key key;
    const std::uint64_t number = next_connection_number();  // see iface::connection_of
    frame_writer writer;
    receiver rx;
    ucs::datastruct::list_hook attended_hook;  // of the interface: a call of settle() is due

private:
    bool move(event trigger);
    void note_silence_in_greeting(ucs::time::nanoseconds now);
    void note_connected() noexcept;
    void drop_unfinished_frame() noexcept override;

    // setup/connection_setup.cpp
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

    // data/connection_receive.cpp
    unsigned take_received(ssize_t got);
    void fail_receiving(ucs_status_t status);
    unsigned receive_later();
    unsigned receive_encrypted();
    void on_broken_encryption();

    using user_list = ucs::datastruct::list<ep, &ep::connection_hook>;

    iface& owner_;
    state state_ = state::idle;
    user_list users_;
    std::vector<reach::path> paths_;
    std::size_t path_ = 0;  // index of the path to try
    unsigned attempts_ = 0;
    std::uint32_t peer_attempt_ = 0;
    ucs::time::nanoseconds due_ = 0;  // deadline of the current state
    ucs_status_t failure_ = UCS_OK;
    bool failure_reported_ = false;
    bool close_denied_ =
        false;  // the peer refused to close; it will ask when it no longer needs the connection
    bool waits_for_memory_ = false;  // no memory to receive into
    ucs::net::silence_watch silence_;
    // Both are reset when a connection is established.
    unsigned lost_races_ = 0;
    unsigned silent_checks_ = 0;  // checks of a peer that has accepted and sends nothing
    ucs::time::nanoseconds silent_since_ = 0;
    std::unique_ptr<connecting_handshake> handshake_;  // in state greeting
    std::optional<ucs::security::key> peer_address_;   // set by the first endpoint
    std::optional<socket_address> connected_to_;       // for log lines
    unused_connections::entry unused_;
};

// Logs that the operation finds no memory, and ends the connection. Returns its final status.
ucs_status_t fail_for_memory(connection& link, const char* operation);

}  // namespace uct::tcp
