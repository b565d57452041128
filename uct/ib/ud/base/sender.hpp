// The sending side of a connection, without any device.
#pragma once

#include <optional>

#include "ucs/type/status.h"
#include "uct/ib/ud/base/send_window.hpp"
#include "uct/ib/ud/base/wire.hpp"

namespace uct::ud {

// Connects, repeats, asks again, gives up. It is told what arrives and what time it is, and asked
// what is to be sent; so tests run it without network and clock. Owned by a connection; owner
// context.
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
        ucs::time::nanoseconds patience = 30 * ucs::time::second;  // with a silent peer
        psn first;
    };
    explicit sender(const setup& with) noexcept;

    [[nodiscard]] state at() const noexcept { return at_; }
    [[nodiscard]] ucs_status_t error() const noexcept { return error_; }
    [[nodiscard]] send_window& window() noexcept { return window_; }
    [[nodiscard]] const send_window& window() const noexcept { return window_; }
    // Whether so many packets may be added now. Once the connection stands only what can go at
    // once is taken, so that nothing waits for a process that sleeps until somebody answers.
    [[nodiscard]] bool takes(std::uint32_t count) const noexcept {
        if (!window_.has_room(count)) return false;
        return at_ == state::connected ? window_.flows()
                                       : at_ == state::idle || at_ == state::connecting;
    }
    // The peer's id; 0: it is not known.
    [[nodiscard]] std::uint64_t remote() const noexcept { return remote_; }
    [[nodiscard]] bool ended() const noexcept {
        return at_ == state::closed || at_ == state::failed;
    }
    [[nodiscard]] std::uint32_t resyncs() const noexcept { return resyncs_; }

    void start() noexcept;
    // No packet will be added any more. The peer is told when all have arrived.
    void leave() noexcept;
    // Whether the peer still is there is to be found out.
    void check() noexcept;

    // What is to be sent now beside packets; then `asked`.
    struct question {
        wire::kind what;
        psn number;
        std::uint32_t count;
    };
    [[nodiscard]] std::optional<question> to_ask() const noexcept;
    void asked(ucs::time::nanoseconds now) noexcept;
    // A packet that is to be sent now, or nullptr; then `sent`.
    [[nodiscard]] tx_packet* to_send() noexcept {
        return at_ == state::connected ? window_.to_send() : nullptr;
    }
    void sent(tx_packet& which, ucs::time::nanoseconds now) noexcept;

    // What the peer says. Packets that are acknowledged go to `done`, in order.
    void welcomed(const wire::welcome& by, psn expected, ucs::time::nanoseconds now,
                  packet_list& done) noexcept;
    void acknowledged(psn expected, std::uint64_t beyond, ucs::time::nanoseconds now,
                      packet_list& done) noexcept;
    void refused(psn expected, ucs::time::nanoseconds now) noexcept;
    // It knows no connection of that id.
    void unknown(std::uint64_t id, ucs::time::nanoseconds now) noexcept;
    // It goes.
    void left() noexcept { fail(UCS_ERR_NOT_CONNECTED); }

    // When on_time has something to do; 0: never.
    [[nodiscard]] ucs::time::nanoseconds deadline() const noexcept;
    void on_time(ucs::time::nanoseconds now) noexcept;

    void fail(ucs_status_t status) noexcept;

private:
    void ask(wire::kind what) noexcept;
    void resync() noexcept;
    [[nodiscard]] bool forgotten_too_late(ucs::time::nanoseconds now) const noexcept;
    void heard(ucs::time::nanoseconds now) noexcept;
    void wait_from(ucs::time::nanoseconds now) noexcept;
    void answered() noexcept;

    const ucs::time::nanoseconds patience_;
    send_window window_;
    std::uint64_t remote_ = 0;
    std::optional<wire::kind> question_;  // under way, or to be asked
    std::uint32_t question_count_ = 0;
    psn asked_about_;                          // oldest packet when it was asked first
    ucs::time::nanoseconds asked_at_ = 0;      // 0: to be asked
    ucs::time::nanoseconds silent_since_ = 0;  // 0: nothing is waited for
    unsigned unanswered_ = 0;                  // timers in a row that ran out
    std::uint32_t resyncs_ = 0;
    state at_ = state::idle;
    bool leaves_ = false;
    ucs_status_t error_ = UCS_OK;
};

[[nodiscard]] const char* name(sender::state which) noexcept;

}  // namespace uct::ud
