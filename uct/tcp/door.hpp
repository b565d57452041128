// Where peers knock: the listening sockets, and who has not said yet who it is.
#pragma once

#include <list>

#include "ucs/async/event_loop.hpp"
#include "uct/tcp/connection.hpp"
#include "uct/tcp/settings.hpp"

namespace uct::tcp {

// Accepts sockets, reads their greeting with bounded patience and memory, and hands those of
// peers to the interface. Everybody who can reach the port may come. Part of the interface;
// driven by the worker's event loop.
class door {
public:
    // At most this many strangers at a time; others wait in the kernel's queue. When it is so many,
    // those who are silent for longer than `least_patience` make room.
    static constexpr std::size_t most_strangers = 256;
    static constexpr ucs::time::nanoseconds least_patience = 200 * ucs::time::millisecond;

    door(iface& owner, ucs::async::event_loop& events) noexcept : owner_(owner), events_(events) {}
    door(const door&) = delete;
    door& operator=(const door&) = delete;
    ~door();

    ucs_status_t open(const settings& options, listen_point& v4, listen_point& v6);

    void on_tick(ucs::time::nanoseconds now);
    [[nodiscard]] bool needs_ticks() const noexcept { return !strangers_.empty() || pausing_; }

private:
    struct stranger {
        ucs::unique_fd fd;
        ucs::time::nanoseconds since;
        ucs::time::nanoseconds due;  // until then it must have said who it is
        std::size_t have = 0;
        std::array<std::byte, wire::greeting_size> hello{};
        bool waits = false;  // for the end of an older connection
    };
    using strangers = std::list<stranger>;

    ucs_status_t open_one(const settings& options, listen_point& point);
    bool watch_listeners(bool on) noexcept;
    void on_knock(int listener);
    void on_accept_error(int error);
    void on_greeting(strangers::iterator who);
    void admit(ucs::unique_fd fd);
    void try_to_decide(strangers::iterator who, const wire::greeting& hello,
                       bool end_older) noexcept;
    void decide(strangers::iterator who, const wire::greeting& hello);
    void refuse(strangers::iterator who, const wire::greeting& hello, wire::refusal_reason reason);
    void let_in(strangers::iterator who, const wire::greeting& hello, connection& into);
    bool answer(const stranger& who, const wire::greeting& reply) const noexcept;
    void show_out(strangers::iterator who, const char* why);
    void make_room(ucs::time::nanoseconds now);
    ucs::unique_fd take(strangers::iterator who);

    iface& owner_;
    ucs::async::event_loop& events_;
    std::vector<ucs::unique_fd> listeners_;
    strangers strangers_;
    bool pausing_ = false;  // not accepting: no descriptors left, or too many strangers
    bool complained_ = false;
    bool crowded_ = false;  // and it was said
    ucs::time::nanoseconds resume_ = 0;
};

}  // namespace uct::tcp
