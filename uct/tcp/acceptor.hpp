// Connections that anybody may make, until each has said who it is.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "ucs/async/event_loop.hpp"
#include "ucs/log/throttle.hpp"
#include "ucs/time/clock.hpp"
#include "ucs/type/unique_fd.hpp"

namespace uct::tcp {

// Accepts from listening sockets with bounded patience and memory: peers of the transport, clients
// of a program's listener, and everybody else who can reach the port. What they have to say, and
// what becomes of those who said it, is the user's affair. Owner context; driven by the event loop.
class acceptor {
public:
    // At most so many that have not said who they are. When more come, those who are silent for
    // longest make room once they have had `least_patience`; till then others wait in the
    // kernel's queue.
    static constexpr std::size_t most_strangers = 256;
    static constexpr ucs::time::nanoseconds least_patience = 200 * ucs::time::millisecond;

    // Somebody who connected. Users derive from it what they have heard of one so far, and the
    // socket, which they own.
    class stranger {
    public:
        stranger() = default;
        stranger(const stranger&) = delete;
        stranger& operator=(const stranger&) = delete;
        virtual ~stranger() = default;

        // Said something, or ended; also called when it has just come. May remove this one.
        virtual void on_words() noexcept = 0;
        // From time to time while it is held. May remove this one.
        virtual void on_tick(ucs::time::nanoseconds) noexcept {}
        // The acceptor ends, and this one with it.
        virtual void on_end() noexcept {}

    private:
        friend class acceptor;
        std::list<std::unique_ptr<stranger>>::iterator place_;
        int fd_ = -1;
        ucs::time::nanoseconds since_ = 0;
        bool held_ = false;
    };

    struct terms {
        const ucs::log::component& log;
        ucs::log::throttle& rejected;
        std::string name;                 // where they come to, for people
        ucs::time::nanoseconds patience;  // until then one has to say who it is
        std::function<std::unique_ptr<stranger>(ucs::unique_fd)> receive;
    };

    acceptor(ucs::async::event_loop& events, terms given)
        : events_(events), terms_(std::move(given)) {}
    acceptor(const acceptor&) = delete;
    acceptor& operator=(const acceptor&) = delete;
    ~acceptor();

    // Takes who connects to these sockets from now on. Called once.
    ucs_status_t open(std::vector<ucs::unique_fd> listeners) noexcept;

    // It said who it is, and what becomes of it is decided later, by on_tick: it is not listened to
    // and need not hurry.
    void hold(stranger& who) noexcept;
    // It is none any more. Its socket is closed with it, unless it was taken before.
    void remove(stranger& who) noexcept;
    // Closes it, and tells why if that is worth a line: "somebody at 192.0.2.2:4242 `why`".
    void show_out(stranger& who, const char* why) noexcept;

    [[nodiscard]] std::size_t strangers() const noexcept { return strangers_.size(); }
    [[nodiscard]] std::uint64_t accepted() const noexcept { return accepted_; }

private:
    bool watch(bool on) noexcept;
    void on_knock(int listener) noexcept;
    bool admit(ucs::unique_fd fd) noexcept;
    bool make_room(ucs::time::nanoseconds now) noexcept;
    void wait_for_room() noexcept;
    void wait_for_means(int error) noexcept;
    void pause(ucs::time::nanoseconds how_long) noexcept;
    bool need_ticks() noexcept;
    void on_tick() noexcept;

    ucs::async::event_loop& events_;
    const terms terms_;
    std::vector<ucs::unique_fd> listeners_;
    std::list<std::unique_ptr<stranger>> strangers_;  // the longest waiting first
    std::uint64_t accepted_ = 0;
    ucs::async::event_loop::timer_id timer_ = 0;
    ucs::time::nanoseconds resume_ = 0;
    bool watched_ = false;
    bool complained_ = false;  // that others have to wait
};

}  // namespace uct::tcp
