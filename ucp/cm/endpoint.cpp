#include "ucp/cm/endpoint.hpp"

#include <sys/epoll.h>

#include <cerrno>

#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/wireup/accept.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucp/wireup/lane_setup.hpp"
#include "ucs/random/random_bytes.hpp"
#include "uct/tcp/socket.hpp"

namespace ucp::cm {

namespace {

constexpr ucs::time::nanoseconds attempt_timeout = 2 * ucs::time::second;
constexpr ucs::time::nanoseconds check_interval = 20 * ucs::time::second;
constexpr std::uint64_t token_mask = (std::uint64_t{1} << 56) - 1;

// Returns the status that OpenUCX returns in the same case: a reset if no listener exists or the
// server is gone.
ucs_status_t status_of(int error) noexcept {
    switch (error) {
        case ECONNREFUSED:
        case ECONNRESET:
        case EPIPE:
            return UCS_ERR_CONNECTION_RESET;
        case ETIMEDOUT:
            return UCS_ERR_TIMED_OUT;
        case EMFILE:
        case ENFILE:
        case ENOMEM:
        case ENOBUFS:
            return UCS_ERR_NO_MEMORY;
        case EADDRINUSE:
            return UCS_ERR_BUSY;
        default:
            return UCS_ERR_UNREACHABLE;
    }
}

struct refusal_text {
    ucs_status_t status;
    const char* text;
};

refusal_text text_of(wire::reason why) noexcept {
    switch (why) {
        case wire::reason::rejected:
            return {UCS_ERR_REJECTED, "the server rejected the connection"};
        case wire::reason::not_served:
            return {UCS_ERR_REJECTED, "the server does not listen any more"};
        case wire::reason::unreachable:
            return {UCS_ERR_UNREACHABLE, "the server has no transport that leads here"};
        case wire::reason::malformed:
            return {UCS_ERR_REJECTED, "the server found the request malformed"};
        case wire::reason::other_version:
            return {UCS_ERR_REJECTED, "the server speaks another version"};
        case wire::reason::key_missing:
            return {UCS_ERR_UNREACHABLE,
                    "the server has a job key and this process has none; set the same UCX_JOB_KEY "
                    "or UCX_JOB_KEY_FILE in all processes of the job"};
        case wire::reason::none:
            break;
    }
    return {UCS_ERR_REJECTED, "the server refused the connection"};
}

// Keys that differ make the server unreachable, as over the tcp transport.
ucs_status_t status_of(ucs::security::handshake_failure failure) noexcept {
    using ucs::security::handshake_failure;
    switch (failure) {
        case handshake_failure::own_key_missing:
        case handshake_failure::peer_key_missing:
        case handshake_failure::keys_differ:
            return UCS_ERR_UNREACHABLE;
        case handshake_failure::interrupted:
            return UCS_ERR_CONNECTION_RESET;
        default:
            return UCS_ERR_REJECTED;
    }
}

// Completes the creation of an endpoint: it is used, or destroyed on failure.
ucs::result<ep*> use_if_started(ep& made, ucs_status_t started) {
    if (started != UCS_OK) {
        wireup::detach(made);
        made.owner().postponed().destroy_later(made);
        return started;
    }
    wireup::handle(made, wireup::event::use);
    return &made;
}

}  // namespace

ep_part::~ep_part() {
    close();
}

void ep_part::close() noexcept {
    phase_ = phase::over;
    manager_.remove_accepted(accepted_);
    drop_channel();
}

void ep_part::drop_channel() noexcept {
    if (timer_ != 0) manager_.owner().events().remove_timer(std::exchange(timer_, 0));
    handshake_.reset();
    if (channel_ == nullptr) return;
    manager_.owner().events().remove(channel_->fd());
    manager_.drain(std::move(channel_));
}

ucs_status_t ep_part::watch(std::uint32_t events) noexcept {
    return manager_.owner().events().add(channel_->fd(), events,
                                         [this](std::uint32_t) { manager_.note(*this); });
}

// All transports together have the time that the option allows. If others are left to try, a
// transport has only a few round trips: a host that does not answer over it may have no RDMA
// devices.
bool ep_part::set_deadline() noexcept {
    const ucs::time::nanoseconds left =
        std::max(give_up_at_ - ucs::time::now(), ucs::time::millisecond);
    timer_ = manager_.owner().events().add_timer(
        untried_.empty() ? left : std::min(left / 2, attempt_timeout),
        [this] {
            timer_ = 0;
            late_ = true;
            manager_.note(*this);
        },
        true);
    return timer_ != 0;
}

// While the other side's program decides, no frames are sent, and its host may be gone: checks it
// regularly.
bool ep_part::keep_checking() noexcept {
    timer_ = manager_.owner().events().add_timer(check_interval, [this] { check(); });
    return timer_ != 0;
}

// Time without progress on this side counts as one interval: the client's answer may have been
// waiting for it.
void ep_part::check() noexcept {
    channel_->check();
    if (phase_ != phase::accepted) return;
    checked_for_ += check_interval;
    if (checked_for_ >= manager_.time_to_answer()) give_up(UCS_ERR_TIMED_OUT);
}

void ep_part::give_up(ucs_status_t status) noexcept {
    given_up_ = status;
    manager_.note(*this);
}

int ep_part::try_next() {
    drop_channel();
    input_.clear();
    int error = ENODEV;
    while (!untried_.empty()) {
        const transport next = untried_.front();
        untried_.erase(untried_.begin());
        attempt begun = connect(next, remote_, from_);
        if (begun.made != nullptr) {
            channel_ = std::move(begun.made);
            phase_ = phase::connecting;
            refused_ = begun.refused;
            if (refused_ != 0) {
                // The program's error handler is called, as for hosts that take longer to refuse.
                manager_.note(*this);
                return 0;
            }
            return set_deadline() && watch(EPOLLIN | EPOLLOUT) == UCS_OK ? 0 : ENOMEM;
        }
        error = begun.error;
        ucs::log::debug(wireup_log, "no connection to {} over {}: {}", remote_.text(), name(next),
                        uct::tcp::error_text(error));
    }
    return error;
}

ucs_status_t ep_part::start_client(const client_params& params) {
    remote_ = params.to;
    from_ = params.from;
    shows_client_id_ = params.show_client_id;
    untried_ = manager_.transports("ucp_ep_create");
    if (untried_.empty()) return UCS_ERR_UNREACHABLE;
    give_up_at_ = ucs::time::now() + manager_.connect_timeout();
    const int error = try_next();
    if (error == 0) return UCS_OK;
    ucs::log::error(wireup_log, "ucp_ep_create: no connection to {}: {}", remote_.text(),
                    uct::tcp::error_text(error));
    return status_of(error);
}

ucs_status_t ep_part::start_server(std::unique_ptr<channel> over,
                                   const uct::tcp::socket_address& from) {
    channel_ = std::move(over);
    remote_ = from;
    local_ = channel_->local();
    phase_ = step(phase::offered, event::accept).next;
    if (!keep_checking()) return UCS_ERR_NO_MEMORY;
    const ucs_status_t status = manager_.add_accepted(accepted_, remote_);
    return status == UCS_OK ? watch(EPOLLIN) : status;
}

void ep_part::refuse() noexcept {
    if (channel_ != nullptr) channel_->send_refusal(wire::reason::unreachable);
    close();
}

// Sends the request in one message with the proof of the job key, if there is a key.
bool ep_part::send_request() {
    const worker& owner = manager_.owner();
    const wire::request request{.uid = owner.uid(),
                                .ep = whole_.id(),
                                .token = token(),
                                .client_id = shows_client_id_ ? owner.params().client_id : 0,
                                .shows_client_id = shows_client_id_,
                                .address = owner.identity().address(false)};
    std::vector<std::byte> message = request.pack();
    if (handshake_) {
        const auto proof = handshake_->output();
        message.insert(message.begin(), proof.begin(), proof.end());
        handshake_.reset();
    }
    return channel_->send(message);
}

// Feeds an event into the handshake's state machine. `status` is the error if the endpoint fails.
// The endpoint may be gone afterwards.
void ep_part::handle(event input, ucs_status_t status) noexcept {
    const transition taken = step(phase_, input);
    ucs::log::debug(wireup_log, "handshake of endpoint {:x} with {}: {} on {} -> {}", whole_.id(),
                    remote_.text(), name(phase_), name(input), name(taken.next));
    phase_ = taken.next;
    switch (taken.todo) {
        case action::open:
            return on_connected();
        case action::send_request:
            return on_agreed();
        case action::send_established:
            channel_->send_established();
            break;
        case action::refuse:
            channel_->send_refusal(wire::reason::not_served);
            break;
        case action::fail:
            close();
            wireup::handle(whole_, wireup::event::failure, status);
            return;
        case action::none:
        case action::offer:
        case action::drop:
            break;
    }
    if (phase_ == phase::over) close();
}

void ep_part::on_connected() noexcept {
    if (timer_ != 0) manager_.owner().events().remove_timer(std::exchange(timer_, 0));
    local_ = channel_->local();
    const bool listens = manager_.owner().events().modify(channel_->fd(), EPOLLIN) == UCS_OK;
    if (!listens || !keep_checking()) return handle(event::end, UCS_ERR_NO_MEMORY);
    const ucs::security::key* const key = manager_.job_key();
    if (key == nullptr) return handle(event::agreed, UCS_OK);
    handshake_.emplace(ucs::security::key_handshake::role::client, key, wire::handshake_purpose);
    advance_handshake();
}

// A server that makes no progress delays the client here, as it does later with its answer.
void ep_part::advance_handshake() noexcept {
    using ucs::security::key_handshake;
    const key_handshake::step now = channel_->advance(*handshake_, true);
    if (now == key_handshake::step::incomplete) return;
    if (now == key_handshake::step::agreed) return handle(event::agreed, UCS_OK);
    const auto failure = handshake_->failure();
    ucs::log::warn(wireup_log, "no connection with the server at {}: {}", remote_.text(),
                   explain(failure));
    handle(event::malformed, status_of(failure));
}

void ep_part::on_agreed() noexcept {
    bool sent = false;
    try {
        sent = send_request();
    } catch (const std::bad_alloc&) {
        return handle(event::end, UCS_ERR_NO_MEMORY);
    }
    if (sent) return;
    // The server may have refused and closed: its refusal matters more than the failed send.
    if (read_refusal()) return on_refusal();
    log_failure("it ended before it was established");
    handle(event::end, UCS_ERR_CONNECTION_RESET);
}

// Returns whether the server's refusal has arrived.
bool ep_part::read_refusal() noexcept {
    return channel_->read(input_) == channel::input::frame &&
           input_.header().kind == wire::kind::refusal;
}

void ep_part::on_refusal() noexcept {
    const refusal_text refusal = text_of(input_.header().reason);
    log_failure(refusal.text);
    handle(event::refusal, refusal.status);
}

void ep_part::run() {
    // The endpoint was closed by force before it was connected, so no answer will come.
    if (waits_for_bind() && wireup::state_of(whole_) == wireup::state::abandoned) {
        wireup::handle(whole_, wireup::event::failure, UCS_ERR_CANCELED);
        return;
    }
    if (channel_ == nullptr) return;
    if (phase_ == phase::connecting) return run_connecting();
    if (phase_ == phase::proving) return advance_handshake();
    if (phase_ == phase::accepted) return run_accepted();
    take_input();
}

void ep_part::run_accepted() {
    if (given_up_ == UCS_OK) return take_input();
    // The manager has logged one line for all clients that it ends at the same time.
    if (given_up_ == UCS_ERR_TIMED_OUT)
        log_failure("the client has not answered since it was accepted");
    handle(event::deadline, given_up_);
}

void ep_part::run_connecting() {
    const bool late = std::exchange(late_, false);
    const int error = late ? ETIMEDOUT : refused_ != 0 ? refused_ : channel_->connect_error();
    if (error == EINPROGRESS) return;
    if (error == 0) return handle(event::connected, UCS_OK);
    // The channel may have been connected, refused, and reset since the last progress.
    if (!late && refused_ == 0 && read_refusal()) return on_refusal();
    go_on_or_fail(error, late);
}

void ep_part::go_on_or_fail(int error, bool late) {
    if (!untried_.empty()) {
        ucs::log::debug(wireup_log, "trying another transport to {}: {}", remote_.text(),
                        uct::tcp::error_text(error));
        try {
            error = try_next();
        } catch (const std::bad_alloc&) {
            error = ENOMEM;
        }
        if (error == 0) return;
        late = false;
    }
    log_failure(late ? "no answer in time" : uct::tcp::error_text(error));
    handle(late ? event::deadline : event::end, status_of(error));
}

// A client's program asked for the connection, so its failure is always logged. Strangers can cause
// any number of failures at a server, so those go to the throttled log.
void ep_part::log_failure(std::string_view why) const noexcept {
    if (is_client()) {
        ucs::log::warn(wireup_log, "the connection to {} failed: {}", remote_.text(), why);
    } else {
        manager_.owner().log().rejected().warn(wireup_log, "the connection from {} failed: {}",
                                               remote_.text(), why);
    }
}

void ep_part::take_input() noexcept {
    switch (channel_->read(input_)) {
        case channel::input::nothing_yet:
            return;
        case channel::input::end:
            log_failure("it ended before it was established");
            return handle(event::end, UCS_ERR_CONNECTION_RESET);
        case channel::input::malformed:
            manager_.owner().log().rejected().warn(wireup_log, "{} {}", remote_.text(),
                                                   input_.why_not());
            return handle(event::malformed, UCS_ERR_REJECTED);
        case channel::input::key_handshake:
        case channel::input::frame:
            break;
    }
    if (input_.header().kind == wire::kind::refusal) return on_refusal();
    handle(input_.header().kind == wire::kind::established ? event::established : event::request,
           UCS_ERR_REJECTED);
}

void ep_part::on_state(wireup::state now) noexcept {
    switch (now) {
        case wireup::state::ready:
        case wireup::state::closing:  // the client answered after this side had closed
            return handle(event::ready, UCS_OK);
        case wireup::state::abandoned:
            if (!is_client()) return;  // the endpoint closes when the client has answered
            handle(event::cancel, UCS_OK);
            return manager_.note(*this);
        case wireup::state::failed:
        case wireup::state::closed:
            return handle(event::cancel, UCS_OK);
        default:
            return;
    }
}

ucs::result<ep*> connect(worker& owner, const client_params& to, const ep_params& params) {
    manager& parent = manager_of(owner);
    // A client does not know its server's worker yet. The placeholder's public key is all zeros,
    // which no worker has.
    peer& nobody = owner.peers().add_passing({}, {});
    const peer_use kept(nobody);
    ep* made = &ep::make(owner, nobody, parent.next_number());
    wireup::adopt(*made, params, std::string(params.name));
    auto part = std::make_unique<ep_part>(parent, *made, ep_part::side::client,
                                          ucs::sys::random_id() & token_mask);
    ep_part& client = *part;
    slot_of<wireup::ep_connection>(*made).socket = std::move(part);
    ucs_status_t started = UCS_ERR_NO_MEMORY;
    try {
        started = client.start_client(to);
    } catch (const std::bad_alloc&) {
    }
    return use_if_started(*made, started);
}

namespace {

// Returns the public key in the address that the client claims. Returns nothing if no worker can
// have both that address and the uid.
std::optional<ucs::security::public_key> claimed_identity(worker& owner, const conn_request& from) {
    const wire::request& request = from.request();
    const auto address = address::parse(request.address, &owner.log().rejected());
    if (!address) return std::nullopt;
    const auto packed =
        std::span<const std::byte>(request.address).first(*address::packed_length(request.address));
    if (wireup::is_false_own_address(owner, address->identity, packed)) {
        owner.log().rejected().warn(
            wireup_log,
            "a client at {} came with this worker's own key and an address that "
            "is neither of its two: refused",
            from.from().text());
        return std::nullopt;
    }
    if (address->uid() == request.uid && owner.identity().agree(address->identity))
        return address->identity;
    owner.log().rejected().warn(
        wireup_log, "a client at {} came as worker {:x} with the address of worker {:x}: refused",
        from.from().text(), request.uid, address->uid());
    return std::nullopt;
}

}  // namespace

ucs::result<ep*> accept(worker& owner, std::unique_ptr<conn_request> from,
                        const ep_params& params) {
    if (!from->alive()) return UCS_ERR_CONNECTION_RESET;
    const wire::request& request = from->request();
    manager& parent = manager_of(owner);
    const auto identity = claimed_identity(owner, *from);
    if (!identity) {
        from->refuse(wire::reason::malformed, parent);
        return UCS_ERR_INVALID_ADDR;
    }
    // The client's identity is not proven yet.
    peer* to = &owner.peers().intern(*identity, peer_identity::source::claimed, request.address);
    const peer_use kept(*to);
    if (const ucs_status_t status = slot_of<wireup::lane_setup>(*to).connect(); status != UCS_OK) {
        from->refuse(wire::reason::unreachable, parent);
        return status;
    }
    ep* made = &ep::make(owner, *to, parent.next_number());
    wireup::adopt(*made, params, std::string(params.name));
    made->set_remote_id(request.ep);
    auto part = std::make_unique<ep_part>(parent, *made, ep_part::side::server, request.token);
    ep_part& server = *part;
    slot_of<wireup::ep_connection>(*made).socket = std::move(part);
    return use_if_started(*made, server.start_server(from->take_channel(), from->from()));
}

}  // namespace ucp::cm
