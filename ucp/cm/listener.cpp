#include "ucp/cm/listener.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <new>

#include "ucp/cm/endpoint.hpp"
#include "ucp/core/log.hpp"
#include "ucp/core/worker.hpp"
#include "uct/tcp/socket.hpp"

namespace ucp::cm {

namespace {

constexpr ucs::time::nanoseconds tick_interval = 50 * ucs::time::millisecond;
constexpr ucs::time::nanoseconds pause_without_descriptors = 100 * ucs::time::millisecond;
constexpr unsigned accepts_at_once = 64;

ucs_status_t status_of(int error) noexcept {
    if (error == EADDRINUSE) return UCS_ERR_BUSY;
    if (error == EMFILE || error == ENFILE || error == ENOMEM) return UCS_ERR_NO_MEMORY;
    return UCS_ERR_UNREACHABLE;
}

}  // namespace

ucs::result<std::unique_ptr<listener>> listener::open(manager& of, const listener_params& params) {
    ucs::unique_fd socket = uct::tcp::open_stream(params.at.data()->sa_family);
    const int yes = 1;
    // An address of connections that ended a moment ago is free.
    const bool listens =
        socket && ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        ::bind(socket.get(), params.at.data(), params.at.size()) == 0 &&
        ::listen(socket.get(), SOMAXCONN) == 0;
    if (!listens) {
        const int error = errno;
        ucs::log::error(wireup_log, "ucp_listener_create: cannot listen on {}: {}",
                        params.at.text(), uct::tcp::error_text(error));
        return status_of(error);
    }
    std::unique_ptr<listener> made(new listener(of, params, std::move(socket)));
    if (!made->watch(true)) return UCS_ERR_NO_MEMORY;
    return made;
}

listener::listener(manager& of, const listener_params& params, ucs::unique_fd socket)
    : manager_(of),
      params_(params),
      socket_(std::move(socket)),
      address_(uct::tcp::local_address(socket_.get())) {}

listener::~listener() {
    watch(false);
    while (!strangers_.empty())
        show_out(strangers_.begin(), step(phase::greeting, event::cancel).todo, nullptr);
    for (const auto& offer : offers_)
        offer->refuse(wire::reason::not_served);
    if (timer_ != 0) owner().events().remove_timer(timer_);
}

bool listener::watch(bool on) noexcept {
    if (on == watched_) return true;
    if (!on) {
        owner().events().remove(socket_.get());
    } else if (owner().events().add(socket_.get(), EPOLLIN,
                                    [this](std::uint32_t) { on_knock(); }) != UCS_OK) {
        return false;
    }
    watched_ = on;
    return true;
}

void listener::pause(ucs::time::nanoseconds how_long) noexcept {
    watch(false);
    resume_ = ucs::time::now() + how_long;
    need_ticks();
}

// Those who said nothing for long go, so that a crowd of them does not keep out who speaks.
bool listener::make_room(ucs::time::nanoseconds now) noexcept {
    if (strangers_.empty() || now < strangers_.front().since + least_patience) return false;
    show_out(strangers_.begin(), action::drop, nullptr);
    return true;
}

void listener::on_knock() noexcept {
    const ucs::time::nanoseconds now = ucs::time::now();
    for (unsigned i = 0; i < accepts_at_once; ++i) {
        if (strangers_.size() >= most_strangers && !make_room(now)) {
            if (!std::exchange(complained_, true)) {
                ucs::log::warn(wireup_log,
                               "{} connections to {} have not said who they are: others wait, and "
                               "the silent ones are closed",
                               strangers_.size(), address_.text());
            }
            return pause(tick_interval);
        }
        ucs::unique_fd fd(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (!fd && (errno == ECONNABORTED || errno == EINTR)) continue;
        if (!fd && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            if (strangers_.size() < most_strangers / 2) complained_ = false;
            return;
        }
        if (!fd) {
            const int error = errno;
            if (!std::exchange(complained_, true)) {
                ucs::log::warn(wireup_log, "accept() on {}: {}; clients have to wait",
                               address_.text(), uct::tcp::error_text(error));
            }
            if (!make_room(now)) return pause(pause_without_descriptors);
            continue;
        }
        try {
            admit(std::move(fd));
        } catch (const std::bad_alloc&) {
            return pause(pause_without_descriptors);
        }
    }
}

void listener::admit(ucs::unique_fd fd) {
    const auto who = strangers_.emplace(strangers_.end());
    ++accepted_;
    who->socket = channel(std::move(fd));
    who->since = ucs::time::now();
    need_ticks();
    if (owner().events().add(who->socket.fd(), EPOLLIN,
                             [this, who](std::uint32_t) { on_words(who); }) != UCS_OK) {
        strangers_.erase(who);
        return;
    }
    on_words(who);  // they are usually there already
}

void listener::on_words(strangers::iterator who) noexcept {
    event what = event::end;
    switch (who->socket.read(who->said)) {
        case channel::input::nothing_yet:
            return;
        case channel::input::end:
            break;
        case channel::input::nonsense:
            what = event::nonsense;
            break;
        case channel::input::frame:
            what = who->said.header().kind == wire::kind::request   ? event::request
                   : who->said.header().kind == wire::kind::refusal ? event::refusal
                                                                    : event::established;
    }
    const transition taken = step(phase::greeting, what);
    if (taken.todo != action::offer) {
        const char* why = what == event::nonsense ? who->said.why_not()
                          : what == event::end    ? nullptr
                                                  : "said something before its request";
        return show_out(who, taken.todo, why);
    }
    try {
        on_request(who);
    } catch (const std::bad_alloc&) {
        show_out(who, action::drop, "cannot be served, out of memory");
    }
}

void listener::on_request(strangers::iterator who) {
    auto said = wire::parse_request(who->said.header(), who->said.body());
    const bool known = said && [&] {
        const auto address =
            address::parse(std::span<const std::byte>(said->address), &owner().rejected());
        return address.ok() && address->uid == said->uid;
    }();
    if (!known) return show_out(who, action::refuse, "sent a malformed request");
    auto offer = std::make_unique<conn_request>(channel(), std::move(*said),
                                                uct::tcp::remote_address(who->socket.fd()));
    offers_.push_back(std::move(offer));
    owner().events().remove(who->socket.fd());
    offers_.back()->give_socket(std::move(who->socket));
    strangers_.erase(who);
    manager_.note(*this);
}

void listener::show_out(strangers::iterator who, action how, const char* why) noexcept {
    if (why != nullptr) {
        owner().rejected().warn(wireup_log, "{}: somebody at {} {}; its connection is closed",
                                address_.text(), uct::tcp::remote_address(who->socket.fd()).text(),
                                why);
    }
    if (how == action::refuse) {
        who->socket.send_refusal(why == nullptr ? wire::reason::not_served : who->said.answer());
    }
    owner().events().remove(who->socket.fd());
    strangers_.erase(who);
}

void listener::need_ticks() noexcept {
    if (timer_ == 0) timer_ = owner().events().add_timer(tick_interval, [this] { on_tick(); });
}

void listener::on_tick() noexcept {
    const ucs::time::nanoseconds now = ucs::time::now();
    while (!strangers_.empty() && now >= strangers_.front().since + manager_.patience())
        show_out(strangers_.begin(), step(phase::greeting, event::deadline).todo,
                 "connected and did not say who it is");
    if (!watched_ && now >= resume_) watch(true);
    if (!strangers_.empty() || !watched_) return;
    owner().events().remove_timer(timer_);
    timer_ = 0;
}

void listener::run() {
    if (offers_.empty()) return;
    std::unique_ptr<conn_request> offer = std::move(offers_.front());
    offers_.pop_front();
    if (!offers_.empty()) manager_.note(*this);
    hand_over(std::move(offer));  // the program may destroy this listener
}

void listener::hand_over(std::unique_ptr<conn_request> offer) {
    ++told_;
    if (params_.on_request.cb != nullptr) {
        conn_request& given = *offer.release();
        given.hand_over(manager_.requests());
        params_.on_request.cb(reinterpret_cast<ucp_conn_request_h>(&given), params_.on_request.arg);
        return;
    }
    auto made = accept(owner(), std::move(offer), {});
    if (made) {
        params_.on_endpoint.cb(reinterpret_cast<ucp_ep_h>(*made), params_.on_endpoint.arg);
    }
}

}  // namespace ucp::cm
