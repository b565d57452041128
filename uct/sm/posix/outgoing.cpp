#include "uct/sm/posix/outgoing.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <utility>

#include "ucs/descriptor/close_in_background.hpp"
#include "ucs/type/allocated.hpp"
#include "uct/base/log.hpp"

namespace uct::posix {
namespace {

// The receiver's queues are full, or this user has too many descriptors in flight (ETOOMANYREFS),
// which ends when peers accept.
bool is_full(int error) noexcept {
    return error == EAGAIN || error == EINTR || error == ETOOMANYREFS;
}

}  // namespace

outgoing::outgoing(segment memory, ucs::unique_fd memfd, ucs::unique_fd socket, const hello& said,
                   std::uint64_t own_socket_id, const listener_identity& receiver) noexcept
    : memory_(std::move(memory)),
      memfd_(std::move(memfd)),
      socket_(std::move(socket)),
      own_socket_id_(own_socket_id),
      receiver_(receiver),
      exchange_(
          receiver.secret.as_key(),
          connection_name{.receiver = receiver.socket_id, .sender = own_socket_id}.as_bytes()),
      hello_(said) {}

ucs::result<std::unique_ptr<outgoing>> outgoing::create(const ring_geometry& geometry,
                                                        std::uint64_t own_socket_id,
                                                        const listener_identity& receiver) {
    auto memory = segment::create(geometry.segment_size());
    if (!memory) return memory.status();
    ucs::unique_fd socket = make_socket();
    if (!socket) {
        const int error = errno;
        ucs::log::error(posix_log, "socket(AF_UNIX) failed: {}", std::strerror(error));
        return status_of_errno(error);
    }
    hello said;
    said.pid = static_cast<std::uint32_t>(::getpid());
    said.slots = geometry.slots;
    said.bulk_size = geometry.bulk_size;
    said.max_message = geometry.max_message;
    said.segment_size = geometry.segment_size();
    std::unique_ptr<outgoing> made(new (std::nothrow)
                                       outgoing(std::move(memory->memory), std::move(memory->fd),
                                                std::move(socket), said, own_socket_id, receiver));
    if (made != nullptr) return made;
    ucs::log::error(posix_log, "no connection to the abstract socket hawser-posix-{:016x}: {}",
                    receiver.socket_id, ucs_status_string(UCS_ERR_NO_MEMORY));
    return UCS_ERR_NO_MEMORY;
}

bool outgoing::add_flush(completion& done) noexcept {
    return ucs::allocated([&] { flushes_.push_back(&done); });
}

ucs_status_t outgoing::introduce() {
    ucs_status_t status = UCS_OK;
    if (step_ == step::connect) status = connect();
    if (status == UCS_OK && step_ == step::challenge) status = send_challenge();
    if (status == UCS_OK && step_ == step::reply) status = read_reply();
    if (status == UCS_OK && step_ == step::hello) status = greet();
    return status;
}

ucs_status_t outgoing::connect() {
    const int error = connect_to(socket_.get(), receiver_.socket_id);
    if (error == EAGAIN || error == EINTR) return UCS_INPROGRESS;  // its backlog is full
    if (error != 0) return failed("connect", error);
    const ucs_status_t status = check_listener();
    if (status == UCS_OK) step_ = step::challenge;
    return status;
}

ucs_status_t outgoing::check_reply() {
    if (step_ == step::connect) return note_full_queue();
    if (++silent_checks_ < max_silent_checks) return UCS_OK;
    ucs::log::warn(posix_log, "pid {}: does not accept the connection for too long", receiver_.pid);
    return UCS_ERR_ENDPOINT_TIMEOUT;
}

ucs_status_t outgoing::note_full_queue() {
    const bool has_ended = receiver_.has_our_pids &&
                           ::kill(static_cast<pid_t>(receiver_.pid), 0) != 0 && errno == ESRCH;
    if (has_ended) {
        ucs::log::warn(posix_log,
                       "pid {}: has ended, and another process has the name of its socket",
                       receiver_.pid);
        return UCS_ERR_UNREACHABLE;
    }
    if (++full_queue_checks_ < max_full_queue_checks) return UCS_OK;
    ucs::log::warn(posix_log, "pid {}: the queue of its socket is full for too long",
                   receiver_.pid);
    return UCS_ERR_ENDPOINT_TIMEOUT;
}

// Checks the listener before anything is sent. Root may own the listener on behalf of all users.
ucs_status_t outgoing::check_listener() {
    const auto found = peer_of(socket_.get());
    if (!found) return found.status();
    const bool has_user =
        found->is_own_user_or_root() || (receiver_.has_our_uids && found->uid == receiver_.uid);
    const bool has_pid = !receiver_.has_our_pids || found->pid == static_cast<pid_t>(receiver_.pid);
    if (has_user && has_pid) return UCS_OK;
    ucs::log::warn(posix_log,
                   "the abstract socket hawser-posix-{:016x} belongs to pid {} of user {} now, and "
                   "not to pid {}: the peer has ended, and nothing is sent",
                   receiver_.socket_id, found->pid, found->uid, receiver_.pid);
    ucs::sys::close_in_background(std::move(socket_));
    return UCS_ERR_UNREACHABLE;
}

ucs_status_t outgoing::send_challenge() {
    const challenge said{.reply_socket = own_socket_id_, .nonce = exchange_.challenge()};
    const int error = send_packet(socket_.get(), said);
    if (is_full(error)) return UCS_INPROGRESS;
    if (error != 0) return lost("sendmsg(challenge)", error);
    step_ = step::reply;
    return UCS_OK;
}

ucs_status_t outgoing::read_reply() {
    const packet got = receive_packet(socket_.get());
    if (got.type == packet::kind::nothing_yet) return UCS_INPROGRESS;
    if (got.type == packet::kind::message) return take_reply(got.content());
    ucs::log::diag(posix_log, "the abstract socket hawser-posix-{:016x} closed the connection",
                   receiver_.socket_id);
    return UCS_ERR_CONNECTION_RESET;
}

ucs_status_t outgoing::take_reply(std::span<const std::byte> received) {
    if (const auto goodbye = parse_goodbye(received)) return ended_by(*goodbye);
    const auto said = parse_reply(received);
    const auto proof = said.value ? exchange_.answer(said.value->content) : std::nullopt;
    if (!proof) {
        ucs::log::warn(posix_log,
                       "the abstract socket hawser-posix-{:016x} belongs to another process now: "
                       "it cannot prove that it is the peer, which has ended; no message is sent",
                       receiver_.socket_id);
        return UCS_ERR_UNREACHABLE;
    }
    hello_.proof = *proof;
    step_ = step::hello;
    return UCS_OK;
}

ucs_status_t outgoing::greet() {
    const int error = send_packet(socket_.get(), hello_, memfd_.get());
    if (is_full(error)) return UCS_INPROGRESS;
    if (error != 0) return lost("sendmsg(hello)", error);
    step_ = step::introduced;
    memfd_.reset();
    return UCS_OK;
}

ucs_status_t outgoing::ended_by(packet_kind goodbye) const {
    const bool in_order = goodbye == packet_kind::closing;
    ucs::log::log(posix_log, in_order ? ucs::log::level::debug : ucs::log::level::warn,
                  "the abstract socket hawser-posix-{:016x} {}", receiver_.socket_id,
                  in_order ? "is closing" : "refused the connection");
    return in_order ? UCS_ERR_NOT_CONNECTED : UCS_ERR_REJECTED;
}

// The receiver may have sent the reason before it closed.
ucs_status_t outgoing::lost(const char* call, int error) const {
    const packet got = receive_packet(socket_.get());
    if (const auto goodbye = parse_goodbye(got.content())) return ended_by(*goodbye);
    return failed(call, error);
}

ucs_status_t outgoing::failed(const char* call, int error) const {
    ucs::log::warn(posix_log, "{} to the abstract socket hawser-posix-{:016x} failed: {}", call,
                   receiver_.socket_id,
                   error == ECONNREFUSED ? "there is no listener, the peer has closed or died"
                                         : std::strerror(error));
    return status_of_errno(error);
}

}  // namespace uct::posix
