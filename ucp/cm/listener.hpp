// A server's door for clients that know its socket address only.
#pragma once

#include <deque>
#include <list>

#include "ucp/api/ucp.h"
#include "ucp/cm/conn_request.hpp"
#include "ucs/async/event_loop.hpp"
#include "ucs/type/result.hpp"
#include "ucs/vfs/directory.hpp"

namespace ucp::cm {

// What ucp_listener_create was asked for.
struct listener_params {
    uct::tcp::socket_address at;
    ucp_listener_conn_handler_t on_request{nullptr, nullptr};
    ucp_listener_accept_handler_t on_endpoint{nullptr, nullptr};
};

// Accepts sockets, reads who it is with bounded patience and memory, and tells the program.
// Everybody who can reach the port may come. Owned by the manager; owner context.
class listener final : public task, public ucs::vfs::object {
public:
    // At most so many that have not said who they are. When more come, those who are silent for
    // longest make room once they have had `least_patience`; till then others wait in the
    // kernel's queue.
    static constexpr std::size_t most_strangers = 256;
    static constexpr ucs::time::nanoseconds least_patience = 200 * ucs::time::millisecond;

    static ucs::result<std::unique_ptr<listener>> open(manager& of, const listener_params& params);
    ~listener() override;

    [[nodiscard]] const uct::tcp::socket_address& address() const noexcept { return address_; }
    [[nodiscard]] worker& owner() const noexcept { return manager_.owner(); }

    // Tells the program of one client.
    void run() override;

    void describe(ucs::vfs::directory& into) const override;

private:
    struct stranger {
        channel socket;
        inbox said;
        ucs::time::nanoseconds since;
    };
    using strangers = std::list<stranger>;

    listener(manager& of, const listener_params& params, ucs::unique_fd socket);
    bool watch(bool on) noexcept;
    void on_knock() noexcept;
    void admit(ucs::unique_fd fd);
    void pause(ucs::time::nanoseconds how_long) noexcept;
    bool make_room(ucs::time::nanoseconds now) noexcept;
    void on_words(strangers::iterator who) noexcept;
    void on_request(strangers::iterator who);
    void show_out(strangers::iterator who, action how, const char* why) noexcept;
    void need_ticks() noexcept;
    void on_tick() noexcept;
    void hand_over(std::unique_ptr<conn_request> offer);

    manager& manager_;
    const listener_params params_;
    ucs::unique_fd socket_;
    uct::tcp::socket_address address_;
    strangers strangers_;                               // the longest waiting first
    std::deque<std::unique_ptr<conn_request>> offers_;  // the program has not been told of them
    std::uint64_t accepted_ = 0;
    std::uint64_t told_ = 0;
    ucs::async::event_loop::timer_id timer_ = 0;
    ucs::time::nanoseconds resume_ = 0;
    bool watched_ = false;
    bool complained_ = false;
};

}  // namespace ucp::cm
