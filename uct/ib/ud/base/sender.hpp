// The sending side of a connection, without any device.
#pragma once

#include <optional>

#include "ucs/type/status.h"
#include "uct/ib/ud/base/send_window.hpp"
#include "uct/ib/ud/base/wire.hpp"

namespace uct::ud {

// Connects, repeats packets, checks the peer, and gives up. The caller passes in received datagrams
// and the time, and asks which datagrams to send. So tests run it without a network and a clock.
// Owned by a connection; owner context.
//
//   idle --start--> connecting --reply--> connected --leave, all acknowledged, ended--> closed
//                                         |  ^ reply
//                       the peer lost it  v  |
//                                       resyncing
//   from any but closed: silence, the peer's end, or the device's --> failed
class sender {
public:
    enum class state : std::uint8_t { idle, connecting, connected, resyncing, closed, failed };

    struct setup {
        send_window::limits window{};
        ucs::time::nanoseconds timeout =
            30 * ucs::time::second;  // a peer that is silent for longer is lost
        psn first;
    };
    explicit sender(const setup& with) noexcept;

    [[nodiscard]] state current_state() const noexcept { return state_; }
    [[nodiscard]] ucs_status_t error() const noexcept { return error_; }
    // Returns true if so many packets may be added now. While the connection is established, only
    // packets that can be sent at once are accepted, so that none waits in a process that sleeps
    // until a reply comes.
    [[nodiscard]] bool can_accept(std::uint32_t count) const noexcept {
        if (!window.has_room(count)) return false;
        return state_ == state::connected ? window.can_send_now()
                                          : state_ == state::idle || state_ == state::connecting;
    }
    // The peer's id of the connection; 0: unknown.
    [[nodiscard]] std::uint64_t remote() const noexcept { return remote_; }
    [[nodiscard]] bool is_ended() const noexcept {
        return state_ == state::closed || state_ == state::failed;
    }
    [[nodiscard]] std::uint32_t resyncs() const noexcept { return resyncs_; }

    void start() noexcept;
    // No packet follows. The peer receives a goodbye when all have arrived.
    void close() noexcept;
    // Requests a reply, to find out whether the peer is still there.
    void check() noexcept;

    // The request that must be sent now, if any. Call `request_sent` after sending it.
    struct request {
        wire::kind type;
        psn number;
        std::uint32_t count;
    };
    [[nodiscard]] std::optional<request> pending_request() const noexcept;
    void request_sent(ucs::time::nanoseconds now) noexcept;
    // The packet that must be sent now, or nullptr. Call `note_sent` after sending it.
    [[nodiscard]] tx_packet* next_to_send() noexcept {
        return state_ == state::connected ? window.next_to_send() : nullptr;
    }
    void note_sent(tx_packet& note_sent, ucs::time::nanoseconds now) noexcept;

    // Messages of the peer. Acknowledged packets are moved to `done`, in order.
    void on_reply(const wire::welcome& welcome, psn expected, ucs::time::nanoseconds now,
                  packet_list& done) noexcept;
    void on_acknowledge(psn expected, std::uint64_t beyond, ucs::time::nanoseconds now,
                        packet_list& done) noexcept;
    void on_refuse(psn expected, ucs::time::nanoseconds now) noexcept;
    // The peer has no connection with that id.
    void on_unknown(std::uint64_t id, ucs::time::nanoseconds now) noexcept;

    // The time when on_time must be called; 0: never.
    [[nodiscard]] ucs::time::nanoseconds deadline() const noexcept;
    void on_time(ucs::time::nanoseconds now) noexcept;

    void fail(ucs_status_t status) noexcept;

    send_window window;

private:
    void ask(wire::kind type) noexcept;
    void resync() noexcept;
    [[nodiscard]] bool is_repetition_unsafe(ucs::time::nanoseconds now) const noexcept;
    void heard(ucs::time::nanoseconds now) noexcept;
    void wait_from(ucs::time::nanoseconds now) noexcept;
    void request_done() noexcept;

    const ucs::time::nanoseconds timeout_;
    std::uint64_t remote_ = 0;
    std::optional<wire::kind> request_;  // sent, or to be sent
    std::uint32_t request_number_ = 0;
    psn request_oldest_;                       // oldest packet when the request was made
    ucs::time::nanoseconds requested_at_ = 0;  // 0: must be sent
    ucs::time::nanoseconds silent_since_ = 0;  // 0: no reply is expected
    unsigned expired_timers_ = 0;              // timers that expired in a row
    std::uint32_t resyncs_ = 0;
    state state_ = state::idle;
    bool closing_ = false;
    ucs_status_t error_ = UCS_OK;
};

[[nodiscard]] const char* name(sender::state value) noexcept;

}  // namespace uct::ud
