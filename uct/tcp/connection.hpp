// One socket between a pair of interfaces, and what surrounds it.
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

// Names a peer: its interface, and the address by which that is reached. Neither is enough alone.
// An address may hold the id of another interface: addresses with the same id and different rest
// share no connection, and only the one of the interface itself gets one that stands. An interface
// that connects proves its id, and may show the tag of any address: a tag that another interface
// shows as well leads it to no connection of that interface.
struct peer_key {
    std::uint64_t interface_id;  // as in uct/tcp/address.hpp
    address_tag address;         // of the whole address, see uct/tcp/credentials.hpp
    auto operator<=>(const peer_key&) const noexcept = default;
};

// Carries the messages of both directions between two interfaces, connects on the first send and
// lives on when endpoints come and go. Endpoints attach to it; the interface owns it. Operations
// never call back: what they find is told by settle(), from progress. Owner context.
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
    // Sends what the endpoint has under way from a copy: its memory and its completions are the
    // caller's again.
    void detach(ep& user) noexcept;
    [[nodiscard]] bool has_users() const noexcept { return !users_.empty(); }

    // --- sending; see ep.hpp for the statuses
    [[nodiscard]] bool can_send(std::size_t frame_bytes) const noexcept {
        return state_ == state::established && tx_.has_room(frame_bytes);
    }
    // Why can_send is false, as the status of an operation. Connects when nobody has yet.
    ucs_status_t why_not();
    // Sends a frame whose body of `length` bytes lies behind room for the header and before room
    // for padding. Needs can_send.
    ucs_status_t send_frame(am_id id, std::byte* frame, std::size_t length);
    ucs_status_t send_zcopy(ep& user, am_id id, std::span<const std::byte> header,
                            std::span<const iov> payload, completion* done);
    ucs_status_t flush(ep& user, completion* done);

    // --- keep-alive; see ep::check
    void look_for_answer() noexcept;

    // --- progress
    // One read; returns the number of messages, or of other things that happened.
    unsigned receive();
    unsigned on_socket(std::uint32_t epoll_events);
    // Does what could not be done where it was noticed. Handlers and completions run in here.
    unsigned settle();
    void on_tick(ucs::time::nanoseconds now);

    // --- greetings of the peer (see door.hpp)
    enum class verdict { welcome, lost_race, stale, wait };
    [[nodiscard]] verdict judge(const wire::greeting& hello) const noexcept;
    // `session` is the key of the handshake.
    void adopt(ucs::unique_fd socket, std::uint32_t peer_attempt,
               const ucs::security::key& session) noexcept;
    void give_up(ucs_status_t status) { fail_after_reading(status); }
    // Fails without reading what has arrived.
    void cut_off(ucs_status_t status) { fail(status); }

    // --- closing the interface
    void say_goodbye();
    // Drops what the peer sent and this side has not read: the kernel answers closing a socket with
    // unread bytes by a reset, which may overtake the goodbye and what was sent before it.
    void drop_unread() noexcept;
    [[nodiscard]] bool unsent() const noexcept;
    [[nodiscard]] int descriptor() const noexcept { return fd_.get(); }
    [[nodiscard]] bool is_watched() const noexcept { return watched_ != 0; }
    unsigned send_queued();

    [[nodiscard]] state where() const noexcept { return state_; }
    // Endpoints get a status from it, and nothing else any more.
    [[nodiscard]] bool has_ended() const noexcept {
        return state_ == state::draining || state_ == state::failed;
    }
    [[nodiscard]] const peer_key& peer() const noexcept { return peer_; }
    // See iface::connection_of.
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    [[nodiscard]] bool has_in_buffer(const std::byte* place) const noexcept {
        return rx_.has_in_buffer(place);
    }
    // The peer has sent something after the greetings, or there is something to read.
    [[nodiscard]] bool has_spoken() const noexcept;
    void note_readable() noexcept { was_readable_ = true; }
    // See uct::ep::received.
    [[nodiscard]] std::uint64_t received() const noexcept;
    [[nodiscard]] bool is_removable() const noexcept;
    [[nodiscard]] bool needs_ticks() const noexcept;
    [[nodiscard]] std::string peer_name() const noexcept;

    ucs::datastruct::list_hook attended_hook;  // of the interface: waits for settle()

private:
    struct waiting_flush {
        std::uint64_t until;  // bytes sent
        completion* done;
        const ep* user;
    };

    bool move(event what);
    void fail(ucs_status_t status);
    void fail_after_reading(ucs_status_t status);
    void note_silence_in_greeting(ucs::time::nanoseconds now);
    void note_connected() noexcept;
    ucs_status_t fail_sending(int error);
    ucs_status_t fail_for_memory(const char* what);
    void drop_unfinished_frame() noexcept override;

    // connection_setup.cpp
    void start();
    bool open_socket(const reach::path& way);
    void on_connected();
    void read_answer();
    void on_welcome();
    void on_refusal(wire::refusal_reason reason);
    void on_missing_proof();
    [[nodiscard]] bool send_greeting(const packed_greeting& greeting);
    void begin_encryption(const ucs::security::key& session, bool connected) noexcept;
    void attempt_failed(const char* what, int error);
    void retry_after(ucs::time::nanoseconds pause);
    void close_socket() noexcept;

    // connection.cpp
    unsigned finish_failure();
    void read_what_arrived();
    void on_control(unsigned kinds);
    void on_part();
    void keep_as_unused() noexcept;
    void on_end_of_stream();
    void part_now();
    static std::array<std::byte, wire::frame_header_size> control_frame(wire::frame_kind kind);
    void send_control(wire::frame_kind kind);
    void watch(std::uint32_t events);

    // connection_encryption.cpp: the connection's socket, where it is encrypted; like sendmsg() and
    // readv(), errno included. What write_encrypted did not take has to come first in its next
    // call.
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
    // Ends those that wait for the first `sent` bytes at most; returns how many.
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
    const ep* zcopy_user_ = nullptr;  // whose message is under way
    std::vector<reach::path> paths_;
    std::size_t path_ = 0;  // the one to try
    unsigned attempts_ = 0;
    std::uint32_t peer_attempt_ = 0;
    ucs::time::nanoseconds due_ = 0;  // of the timer of the state
    ucs_status_t failure_ = UCS_OK;
    bool failure_told_ = false;
    bool was_readable_ = false;      // since the greetings
    bool part_denied_ = false;       // the peer will ask when it has no use for the connection
    bool waits_for_memory_ = false;  // to receive into
    std::optional<wire::frame_kind> owed_;  // control frame to send behind what is under way
    ucs::net::silence_watch silence_;
    // Both are counted until a connection stands.
    unsigned lost_races_ = 0;
    unsigned silent_looks_ = 0;  // at a peer that has accepted and says nothing
    ucs::time::nanoseconds silent_since_ = 0;
    std::unique_ptr<connecting_handshake> handshake_;  // in state greeting
    std::optional<ucs::security::key> peer_address_;   // as soon as an endpoint has told it
    std::unique_ptr<encrypted_streams> encrypted_;     // null: bytes are sent as they are
    std::optional<socket_address> connected_to_;       // for people
    unused_connections::place unused_;
};

}  // namespace uct::tcp
