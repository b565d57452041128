#include "ucp/cm/listener.hpp"

#include <sys/socket.h>

#include <algorithm>
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

// A client proves the job key in its next progress, and a connection over RDMA stands after one. As
// long as this takes, a crowd of the same origin waits; then clients that do not go on are closed
// for others.
constexpr ucs::time::nanoseconds time_for_proof = 250 * ucs::time::millisecond;
// The kernel takes longer where many queue pairs are made at once.
constexpr ucs::time::nanoseconds time_for_rdma = 2 * ucs::time::second;

ucs::net::admission_limits limits(ucs::time::nanoseconds time_to_prove, bool has_rdma,
                                  bool has_key) noexcept {
    if (!has_rdma && !has_key) return ucs::net::acceptor::default_limits(time_to_prove);
    auto chosen = ucs::net::acceptor::limits_with_turns(time_to_prove, time_for_proof);
    if (!has_rdma) return chosen;
    // A queue pair with its descriptors costs as much as three sockets.
    chosen.most /= 3;
    chosen.most_per_origin /= 3;
    chosen.most_waiting /= 3;
    return chosen;
}

// With a key each client takes two turns of the event loop, which serves 64 descriptors in one: of
// those that come at once no more are accepted than go on.
unsigned accepts_per_turn(bool has_rdma, bool has_key) noexcept {
    return has_rdma ? 8 : has_key ? 16 : 64;
}

constexpr int attempts_at_ports = 16;

// Requests that wait until the program is told of them. Progress tells of 64 at a time.
constexpr std::size_t most_offers = 256;

// There is no such door, but then nobody else has it either.
bool is_absence(int error) noexcept {
    return error == ENODEV || error == EADDRNOTAVAIL || error == ENOENT || error == EACCES;
}

}  // namespace

struct listener::visitor final : ucs::net::acceptor::pending {
    visitor(listener& where, std::unique_ptr<channel> by)
        : pending(by->fd()), at(where), words(std::move(by)) {}
    // Over RDMA the channel is made when it is the client's turn.
    visitor(listener& where, std::unique_ptr<uct::rdmacm::request> from)
        : pending(-1), at(where), asked(std::move(from)), is_over_rdma(true) {}
    ~visitor() override {
        if (words != nullptr) at.manager_.see_off(std::move(words));
    }

    [[nodiscard]] int on_turn() noexcept override {
        if (!is_over_rdma) return words->fd();
        try {
            words = at.doors_.accept(std::move(asked));
        } catch (const std::bad_alloc&) {
        }
        if (words == nullptr) return -1;
        at.acceptor_.start_turn(*this, ucs::time::now() + time_for_rdma);
        return words->fd();
    }
    void on_readable() noexcept override { at.on_words(*this); }
    void on_shutdown() noexcept override {
        if (words != nullptr && step(now, event::cancel).todo == action::refuse)
            words->send_refusal(wire::reason::not_served);
    }
    [[nodiscard]] uct::tcp::socket_address remote() const noexcept override {
        return words != nullptr   ? words->remote()
               : asked != nullptr ? asked->remote()
                                  : uct::tcp::socket_address();
    }

    // The client has begun an opening. This side answers it, also to say that it has no key.
    void begin_opening() noexcept {
        now = phase::unproven;
        proving.emplace(ucs::security::opening::role::server, at.manager_.job_key(),
                        wire::opening_purpose);
        const auto begun = said.beginning();
        std::copy(begun.begin(), begun.end(), proving->space().begin());
        proving->take(begun.size());
        said.clear();
    }

    listener& at;
    std::unique_ptr<uct::rdmacm::request> asked;  // over RDMA, until its turn
    const bool is_over_rdma = false;
    std::unique_ptr<channel> words;
    phase now = at.manager_.job_key() != nullptr ? phase::unproven : phase::greeting;
    inbox said{now == phase::unproven ? inbox::start::opening : inbox::start::frame_or_opening};
    std::optional<ucs::security::opening> proving{};  // from its first bytes until both agree
};

ucs::result<std::unique_ptr<listener>> listener::open(manager& of, const listener_params& params) {
    doors open;
    open.at = params.at;
    const ucs_status_t opened = open.open(of.carriers("ucp_listener_create"));
    if (opened != UCS_OK) return opened;
    std::unique_ptr<listener> made(new listener(of, params, std::move(open)));
    const ucs_status_t status = made->acceptor_.open(made->doors_.descriptors());
    if (status != UCS_OK) return status;
    return made;
}

listener::listener(manager& of, const listener_params& params, doors open)
    : manager_(of),
      params_(params),
      doors_(std::move(open)),
      acceptor_(
          owner().events(),
          {.log = wireup_log,
           .rejected = owner().rejected(),
           .name = doors_.at.text(),
           .limits = limits(of.patience(), doors_.rdma != nullptr, of.job_key() != nullptr),
           .accept = [this](int door) { return next_visitor(door); },
           .accepts_per_turn = accepts_per_turn(doors_.rdma != nullptr, of.job_key() != nullptr)}) {
}

// Clients use what they have: a door is opened for each, at one port. The two kinds have ports of
// their own, so one that is free for sockets may be somebody's over RDMA.
ucs_status_t listener::doors::open(const std::vector<carrier>& by) {
    const auto has = [&by](carrier which) {
        return std::find(by.begin(), by.end(), which) != by.end();
    };
    if (by.empty()) return UCS_ERR_UNREACHABLE;
    const bool by_socket = has(carrier::tcp);
    const uct::tcp::socket_address wanted = at;
    for (int left = attempts_at_ports;; --left) {
        at = wanted;
        const ucs_status_t status = by_socket ? open_socket() : UCS_OK;
        if (status != UCS_OK || !has(carrier::rdmacm)) return status;
        const int error = open_rdma();
        if (error == EADDRINUSE && by_socket && wanted.port() == 0 && left > 1) continue;
        if (error == 0 || (by_socket && is_absence(error))) return UCS_OK;
        ucs::log::error(wireup_log, "ucp_listener_create: cannot listen on {} over RDMA: {}",
                        at.text(), uct::tcp::error_text(error));
        return status_of(error);
    }
}

ucs_status_t listener::doors::open_socket() {
    socket = uct::tcp::open_stream(at.data()->sa_family);
    const int yes = 1;
    // An address of connections that ended a moment ago is free.
    const bool listens =
        socket && ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        ::bind(socket.get(), at.data(), at.size()) == 0 && ::listen(socket.get(), SOMAXCONN) == 0;
    if (!listens) {
        const int error = errno;
        ucs::log::error(wireup_log, "ucp_listener_create: cannot listen on {}: {}", at.text(),
                        uct::tcp::error_text(error));
        return status_of(error);
    }
    at = uct::tcp::local_address(socket.get());
    return UCS_OK;
}

// 0 or an errno.
int listener::doors::open_rdma() {
    auto opened = uct::rdmacm::door::open(at, longest_message);
    if (opened.made == nullptr) {
        ucs::log::debug(wireup_log, "{} is not listened to over RDMA: {}", at.text(),
                        uct::tcp::error_text(opened.error));
        return opened.error;
    }
    rdma = std::move(opened.made);
    if (!socket) at = rdma->address();
    return 0;
}

std::vector<int> listener::doors::descriptors() const {
    std::vector<int> all;
    if (socket) all.push_back(socket.get());
    if (rdma != nullptr) all.push_back(rdma->fd());
    return all;
}

std::unique_ptr<channel> listener::doors::accept(std::unique_ptr<uct::rdmacm::request> from) const {
    auto accepted = rdma->accept(std::move(from));
    return accepted.made != nullptr ? rdma_channel(std::move(accepted.made)) : nullptr;
}

// Serves as acceptor::settings::accept.
std::unique_ptr<ucs::net::acceptor::pending> listener::next_visitor(int door) {
    if (door == doors_.socket.get()) {
        ucs::unique_fd client = ucs::net::accept_stream(door);
        if (!client) return nullptr;
        return std::make_unique<visitor>(*this, tcp_channel(std::move(client)));
    }
    auto asked = doors_.rdma->next();
    errno = asked.error;
    if (asked.made == nullptr) return nullptr;
    return std::make_unique<visitor>(*this, std::move(asked.made));
}

listener::~listener() {
    for (const auto& offer : offers_)
        offer->refuse(wire::reason::not_served, manager_);
}

void listener::on_words(visitor& who) noexcept {
    // Its device has answered ours. Before, the address may be an invented one.
    if (who.is_over_rdma && who.words->connect_error() == 0) acceptor_.prefer(who);
    if (who.proving) {
        static_cast<void>(who.words->advance(*who.proving));
        if (!acceptor_.has_agreed(who, *who.proving)) return;
        who.now = step(who.now, event::agreed).next;
        who.proving.reset();
    }
    event what = event::end;
    switch (who.words->read(who.said)) {
        case channel::input::nothing_yet:
            return;
        case channel::input::opening:
            who.begin_opening();
            return on_words(who);  // frames only from then on
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
    const transition taken = step(who.now, what);
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
        return address.ok() && address->uid() == said->uid;
    }();
    if (!known) return show_out(who, action::refuse, "sent a malformed request");
    offers_.push_back(std::make_unique<conn_request>(std::move(*said), who.remote()));
    std::unique_ptr<channel> words = std::move(who.words);
    acceptor_.remove(who);
    offers_.back()->give_channel(std::move(words));
    if (offers_.size() >= most_offers) hold_clients();
    manager_.note(*this);
}

// Clients that come faster than the program is told of them wait to be accepted.
void listener::hold_clients() noexcept {
    acceptor_.hold(true);
    if (std::exchange(has_reported_backlog_, true)) return;
    owner().rejected().warn(wireup_log,
                            "{}: {} clients wait until the program is told of them; others have "
                            "to wait to be accepted",
                            doors_.at.text(), offers_.size());
}

void listener::show_out(visitor& who, action how, const char* why) noexcept {
    if (how == action::refuse) {
        who.words->send_refusal(why == nullptr ? wire::reason::not_served : who.said.answer());
    }
    acceptor_.reject(who, why);
}

void listener::run() {
    if (offers_.empty()) return;
    std::unique_ptr<conn_request> offer = std::move(offers_.front());
    offers_.pop_front();
    if (offers_.size() < most_offers / 2) {
        acceptor_.hold(false);
        has_reported_backlog_ = false;
    }
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
