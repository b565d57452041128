#include "ucp/cm/listener.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "ucp/cm/endpoint.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "uct/tcp/socket.hpp"

namespace ucp::cm {

namespace {

ucs_status_t status_of(int error) noexcept {
    if (error == EADDRINUSE) return UCS_ERR_BUSY;
    if (error == EMFILE || error == ENFILE || error == ENOMEM) return UCS_ERR_NO_MEMORY;
    return UCS_ERR_UNREACHABLE;
}

// Time in which a client proves the job key in its next progress; a connection over RDMA is
// established after one progress as well. During this time further clients of the same origin wait;
// afterwards clients that do not continue are closed in favour of others.
constexpr ucs::time::nanoseconds time_for_proof = 250 * ucs::time::millisecond;
// The kernel takes longer if many queue pairs are made at the same time.
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

// With a key each client takes two turns of the event loop, which serves 64 descriptors in one: no
// more clients are accepted at once than can continue.
unsigned accepts_per_turn(bool has_rdma, bool has_key) noexcept {
    return has_rdma ? 8 : has_key ? 16 : 64;
}

constexpr int attempts_at_ports = 16;

// Limit on requests that the program has not seen yet. Progress offers 64 at a time.
constexpr std::size_t most_offers = 256;

// Returns whether RDMA cannot listen on this address at all, so that no other process can either.
bool is_absence(int error) noexcept {
    return error == ENODEV || error == EADDRNOTAVAIL || error == ENOENT || error == EACCES;
}

}  // namespace

struct listener::pending_client final : ucs::net::acceptor::pending {
    pending_client(listener& where, std::unique_ptr<channel> over)
        : pending(over->fd()), owner(where), connection(std::move(over)) {}
    // A channel over RDMA is made when it is the client's turn.
    pending_client(listener& where, std::unique_ptr<uct::rdmacm::request> from)
        : pending(-1), owner(where), rdma_request(std::move(from)), is_over_rdma(true) {}
    ~pending_client() override {
        if (connection != nullptr) owner.manager_.drain(std::move(connection));
    }

    [[nodiscard]] int on_turn() noexcept override {
        if (!is_over_rdma) return connection->fd();
        try {
            connection = owner.sockets_.accept(std::move(rdma_request));
        } catch (const std::bad_alloc&) {
        }
        if (connection == nullptr) return -1;
        owner.acceptor_.start_turn(*this, ucs::time::now() + time_for_rdma);
        return connection->fd();
    }
    void on_readable() noexcept override { owner.on_input(*this); }
    void on_shutdown() noexcept override {
        if (connection != nullptr && step(now, event::cancel).todo == action::refuse)
            connection->send_refusal(wire::reason::not_served);
    }
    [[nodiscard]] uct::tcp::socket_address remote() const noexcept override {
        return connection != nullptr     ? connection->remote()
               : rdma_request != nullptr ? rdma_request->remote()
                                         : uct::tcp::socket_address();
    }

    // The client has begun a key handshake. This side answers it, if only to say that it has no
    // key.
    void begin_handshake() noexcept {
        now = phase::unproven;
        handshake.emplace(ucs::security::key_handshake::role::server, owner.manager_.job_key(),
                          wire::handshake_purpose);
        const auto begun = input.beginning();
        std::copy(begun.begin(), begun.end(), handshake->space().begin());
        handshake->take(begun.size());
        input.clear();
    }

    listener& owner;
    std::unique_ptr<uct::rdmacm::request> rdma_request;  // over RDMA, until its turn
    const bool is_over_rdma = false;
    std::unique_ptr<channel> connection;
    phase now = owner.manager_.job_key() != nullptr ? phase::unproven : phase::awaiting_request;
    frame_reader input{now == phase::unproven ? frame_reader::start::key_handshake
                                              : frame_reader::start::frame_or_handshake};
    std::optional<ucs::security::key_handshake>
        handshake{};  // from its first bytes until both agree
};

ucs::result<std::unique_ptr<listener>> listener::open(manager& parent,
                                                      const listener_params& params) {
    listening_sockets open;
    open.address = params.address;
    const ucs_status_t opened = open.open(parent.transports("ucp_listener_create"));
    if (opened != UCS_OK) return opened;
    std::unique_ptr<listener> made(new listener(parent, params, std::move(open)));
    const ucs_status_t status = made->acceptor_.open(made->sockets_.descriptors());
    if (status != UCS_OK) return status;
    return made;
}

listener::listener(manager& parent, const listener_params& params, listening_sockets open)
    : manager_(parent),
      params_(params),
      sockets_(std::move(open)),
      acceptor_(owner().events(),
                {.log = wireup_log,
                 .rejected = owner().log().rejected(),
                 .name = sockets_.address.text(),
                 .limits = limits(parent.connect_timeout(), sockets_.rdma != nullptr,
                                  parent.job_key() != nullptr),
                 .accept = [this](int descriptor) { return accept_client(descriptor); },
                 .accepts_per_turn =
                     accepts_per_turn(sockets_.rdma != nullptr, parent.job_key() != nullptr)}) {}

// Opens a listening socket for each transport, at one port, because clients use the transports that
// they have. Sockets and RDMA have separate port spaces, so a port that is free for sockets may be
// in use over RDMA.
ucs_status_t listener::listening_sockets::open(const std::vector<transport>& transports) {
    const auto has = [&transports](transport wanted) {
        return std::find(transports.begin(), transports.end(), wanted) != transports.end();
    };
    if (transports.empty()) return UCS_ERR_UNREACHABLE;
    const bool by_socket = has(transport::tcp);
    const uct::tcp::socket_address wanted = address;
    for (int left = attempts_at_ports;; --left) {
        address = wanted;
        const ucs_status_t status = by_socket ? open_socket() : UCS_OK;
        if (status != UCS_OK || !has(transport::rdmacm)) return status;
        const int error = open_rdma();
        if (error == EADDRINUSE && by_socket && wanted.port() == 0 && left > 1) continue;
        if (error == 0 || (by_socket && is_absence(error))) return UCS_OK;
        ucs::log::error(wireup_log, "ucp_listener_create: cannot listen on {} over RDMA: {}",
                        address.text(), uct::tcp::error_text(error));
        return status_of(error);
    }
}

ucs_status_t listener::listening_sockets::open_socket() {
    socket = ucs::net::listen_at(address);
    if (!socket) {
        const int error = errno;
        ucs::log::error(wireup_log, "ucp_listener_create: cannot listen on {}: {}", address.text(),
                        uct::tcp::error_text(error));
        return status_of(error);
    }
    address = uct::tcp::local_address(socket.get());
    return UCS_OK;
}

// 0 or an errno.
int listener::listening_sockets::open_rdma() {
    auto opened = uct::rdmacm::listener::open(address, longest_message);
    if (opened.made == nullptr) {
        ucs::log::debug(wireup_log, "cannot listen on {} over RDMA: {}", address.text(),
                        uct::tcp::error_text(opened.error));
        return opened.error;
    }
    rdma = std::move(opened.made);
    if (!socket) address = rdma->address();
    return 0;
}

std::vector<int> listener::listening_sockets::descriptors() const {
    std::vector<int> all;
    if (socket) all.push_back(socket.get());
    if (rdma != nullptr) all.push_back(rdma->fd());
    return all;
}

std::unique_ptr<channel> listener::listening_sockets::accept(
    std::unique_ptr<uct::rdmacm::request> from) const {
    auto accepted = rdma->accept(std::move(from));
    return accepted.made != nullptr ? rdma_channel(std::move(accepted.made)) : nullptr;
}

// Serves as acceptor::settings::accept.
std::unique_ptr<ucs::net::acceptor::pending> listener::accept_client(int descriptor) {
    if (descriptor == sockets_.socket.get()) {
        ucs::unique_fd client = ucs::net::accept_stream(descriptor);
        if (!client) return nullptr;
        return std::make_unique<pending_client>(*this, tcp_channel(std::move(client)));
    }
    auto rdma_request = sockets_.rdma->next();
    errno = rdma_request.error;
    if (rdma_request.made == nullptr) return nullptr;
    return std::make_unique<pending_client>(*this, std::move(rdma_request.made));
}

listener::~listener() {
    for (const auto& offer : offers_)
        offer->refuse(wire::reason::not_served, manager_);
}

void listener::on_input(pending_client& client) noexcept {
    // The client's device has answered ours, so its address is genuine.
    if (client.is_over_rdma && client.connection->connect_error() == 0) acceptor_.prefer(client);
    if (client.handshake) {
        static_cast<void>(client.connection->advance(*client.handshake));
        if (!acceptor_.has_agreed(client, *client.handshake)) return;
        client.now = step(client.now, event::agreed).next;
        client.handshake.reset();
    }
    event input = event::end;
    switch (client.connection->read(client.input)) {
        case channel::input::nothing_yet:
            return;
        case channel::input::key_handshake:
            client.begin_handshake();
            return on_input(client);  // from now on only frames are valid
        case channel::input::end:
            break;
        case channel::input::malformed:
            input = event::malformed;
            break;
        case channel::input::frame:
            input = client.input.header().kind == wire::kind::request   ? event::request
                    : client.input.header().kind == wire::kind::refusal ? event::refusal
                                                                        : event::established;
    }
    const transition taken = step(client.now, input);
    if (taken.todo != action::offer) {
        const char* why = input == event::malformed ? client.input.why_not()
                          : input == event::end     ? nullptr
                                                    : "sent another frame before its request";
        return reject(client, taken.todo, why);
    }
    try {
        on_request(client);
    } catch (const std::bad_alloc&) {
        reject(client, action::drop, "cannot be served, out of memory");
    }
}

void listener::on_request(pending_client& client) {
    auto request = wire::parse_request(client.input.header(), client.input.body());
    const bool known = request && [&] {
        const auto address =
            address::parse(std::span<const std::byte>(request->address), &owner().log().rejected());
        return address.ok() && address->uid() == request->uid;
    }();
    if (!known) return reject(client, action::refuse, "sent a malformed request");
    offers_.push_back(std::make_unique<conn_request>(std::move(*request), client.remote()));
    std::unique_ptr<channel> connection = std::move(client.connection);
    acceptor_.remove(client);
    offers_.back()->give_channel(std::move(connection));
    if (offers_.size() >= most_offers) hold_clients();
    manager_.note(*this);
}

// Stops accepting: clients come faster than the program is offered their requests.
void listener::hold_clients() noexcept {
    acceptor_.hold(true);
    if (std::exchange(has_reported_backlog_, true)) return;
    owner().log().rejected().warn(
        wireup_log,
        "{}: {} clients wait until the program handles their requests; further "
        "clients are not accepted until it does",
        sockets_.address.text(), offers_.size());
}

void listener::reject(pending_client& client, action todo, const char* why) noexcept {
    if (todo == action::refuse) {
        client.connection->send_refusal(why == nullptr ? wire::reason::not_served
                                                       : client.input.answer());
    }
    acceptor_.reject(client, why);
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
    ++offered_;
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
