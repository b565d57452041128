#include "ucp/cm/listener.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <new>

#include "ucp/cm/endpoint.hpp"
#include "ucp/core/log.hpp"
#include "ucp/core/worker.hpp"
#include "uct/tcp/socket.hpp"

namespace ucp::cm {

namespace {

ucs_status_t status_of(int error) noexcept {
    if (error == EADDRINUSE) return UCS_ERR_BUSY;
    if (error == EMFILE || error == ENFILE || error == ENOMEM) return UCS_ERR_NO_MEMORY;
    return UCS_ERR_UNREACHABLE;
}

}  // namespace

struct listener::visitor final : uct::tcp::acceptor::stranger {
    visitor(listener& where, ucs::unique_fd fd) noexcept : at(where), socket(std::move(fd)) {}

    void on_words() noexcept override { at.on_words(*this); }
    void on_end() noexcept override {
        if (step(phase::greeting, event::cancel).todo == action::refuse)
            socket.send_refusal(wire::reason::not_served);
    }

    listener& at;
    channel socket;
    inbox said;
};

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
    std::unique_ptr<listener> made(new listener(of, params, uct::tcp::local_address(socket.get())));
    std::vector<ucs::unique_fd> sockets;
    sockets.push_back(std::move(socket));
    const ucs_status_t status = made->acceptor_.open(std::move(sockets));
    if (status != UCS_OK) return status;
    return made;
}

listener::listener(manager& of, const listener_params& params, const uct::tcp::socket_address& at)
    : manager_(of),
      params_(params),
      address_(at),
      acceptor_(owner().events(), {.log = wireup_log,
                                   .rejected = owner().rejected(),
                                   .name = at.text(),
                                   .patience = of.patience(),
                                   .receive = [this](ucs::unique_fd fd) {
                                       return std::make_unique<visitor>(*this, std::move(fd));
                                   }}) {}

listener::~listener() {
    for (const auto& offer : offers_)
        offer->refuse(wire::reason::not_served);
}

void listener::on_words(visitor& who) noexcept {
    event what = event::end;
    switch (who.socket.read(who.said)) {
        case channel::input::nothing_yet:
            return;
        case channel::input::end:
            break;
        case channel::input::nonsense:
            what = event::nonsense;
            break;
        case channel::input::frame:
            what = who.said.header().kind == wire::kind::request   ? event::request
                   : who.said.header().kind == wire::kind::refusal ? event::refusal
                                                                   : event::established;
    }
    const transition taken = step(phase::greeting, what);
    if (taken.todo != action::offer) {
        const char* why = what == event::nonsense ? who.said.why_not()
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

void listener::on_request(visitor& who) {
    auto said = wire::parse_request(who.said.header(), who.said.body());
    const bool known = said && [&] {
        const auto address =
            address::parse(std::span<const std::byte>(said->address), &owner().rejected());
        return address.ok() && address->uid == said->uid;
    }();
    if (!known) return show_out(who, action::refuse, "sent a malformed request");
    auto offer = std::make_unique<conn_request>(channel(), std::move(*said),
                                                uct::tcp::remote_address(who.socket.fd()));
    offers_.push_back(std::move(offer));
    offers_.back()->give_socket(std::move(who.socket));
    acceptor_.remove(who);
    manager_.note(*this);
}

void listener::show_out(visitor& who, action how, const char* why) noexcept {
    if (how == action::refuse) {
        who.socket.send_refusal(why == nullptr ? wire::reason::not_served : who.said.answer());
    }
    acceptor_.show_out(who, why);
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
