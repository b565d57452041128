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
#include "uct/tcp/ip_address.hpp"

namespace uct::tcp {

// Lets in those who wait at listening descriptors, with bounded patience and memory: peers of the
// transport, clients of a program's listener, and everybody else who can reach the port. What they
// have to say, and what becomes of those who said it, is the user's affair. Owner context; driven
// by the event loop.
class acceptor {
public:
    // At most so many that have not said who they are. When more come, those who are silent for
    // longest make room once they have had `least_patience`; till then others wait in the
    // kernel's queue.
    static constexpr std::size_t most_strangers = 256;
    static constexpr ucs::time::nanoseconds least_patience = 200 * ucs::time::millisecond;

    // Somebody who connected. Users derive from it what they have heard of one so far, and the
    // connection, which they own and of which this is the descriptor.
    class stranger {
    public:
        explicit stranger(int fd) noexcept : fd_(fd) {}
        stranger(const stranger&) = delete;
        stranger& operator=(const stranger&) = delete;
        virtual ~stranger() = default;

        // Said something, or ended; also called when it has just come. May remove this one.
        virtual void on_words() noexcept = 0;
        // From time to time while it is held. May remove this one.
        virtual void on_tick(ucs::time::nanoseconds) noexcept {}
        // The acceptor ends, and this one with it.
        virtual void on_end() noexcept {}
        // The other end, for people.
        [[nodiscard]] virtual socket_address from() const noexcept;

    private:
        friend class acceptor;
        std::list<std::unique_ptr<stranger>>::iterator place_;
        const int fd_;
        ucs::time::nanoseconds since_ = 0;
        bool held_ = false;
    };

    struct terms {
        const ucs::log::component& log;
        ucs::log::throttle& rejected;
        std::string name;                 // where they come to, for people
        ucs::time::nanoseconds patience;  // until then one has to say who it is
        // Takes one of those who wait at a listening descriptor. nullptr: errno says why not, as
        // that of accept() does. May throw std::bad_alloc.
        std::function<std::unique_ptr<stranger>(int listener)> accept;
        // Where letting one in costs more than a socket does: so many that have not said who they
        // are, and so many let in at a time.
        std::size_t most = most_strangers;
        unsigned at_once = 64;
    };

    acceptor(ucs::async::event_loop& events, terms given)
        : events_(events), terms_(std::move(given)) {}
    acceptor(const acceptor&) = delete;
    acceptor& operator=(const acceptor&) = delete;
    ~acceptor();

    // Takes who comes to these descriptors from now on. They outlive it. Called once.
    ucs_status_t open(std::vector<int> listeners) noexcept;

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
    bool admit(std::unique_ptr<stranger> fresh) noexcept;
    bool make_room(ucs::time::nanoseconds now) noexcept;
    void wait_for_room() noexcept;
    void wait_for_means(int error) noexcept;
    void pause(ucs::time::nanoseconds how_long) noexcept;
    bool need_ticks() noexcept;
    void on_tick() noexcept;

    ucs::async::event_loop& events_;
    const terms terms_;
    std::vector<int> listeners_;
    std::list<std::unique_ptr<stranger>> strangers_;  // the longest waiting first
    std::uint64_t accepted_ = 0;
    ucs::async::event_loop::timer_id timer_ = 0;
    ucs::time::nanoseconds resume_ = 0;
    bool watched_ = false;
    bool complained_ = false;  // that others have to wait
};

// The next connection of a listening socket; empty: errno says why there is none.
[[nodiscard]] ucs::unique_fd accept_stream(int listener) noexcept;

}  // namespace uct::tcp
