#include "uct/sm/posix/outgoing.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "uct/sm/posix/log.hpp"

namespace uct::posix {

outgoing::outgoing(segment memory, ucs::unique_fd memfd, ucs::unique_fd socket, const hello& said,
                   const listener_identity& receiver) noexcept
    : memory_(std::move(memory)),
      memfd_(std::move(memfd)),
      socket_(std::move(socket)),
      receiver_(receiver),
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
    said.answer_to = own_socket_id;
    said.pid = static_cast<std::uint32_t>(::getpid());
    said.slots = geometry.slots;
    said.bulk_size = geometry.bulk_size;
    said.max_message = geometry.max_message;
    said.segment_size = geometry.segment_size();
    std::unique_ptr<outgoing> made(new (std::nothrow) outgoing(
        std::move(memory->memory), std::move(memory->fd), std::move(socket), said, receiver));
    if (made != nullptr) return made;
    ucs::log::error(posix_log, "no connection to the abstract socket hawser-posix-{:016x}: {}",
                    receiver.socket_id, ucs_status_string(UCS_ERR_NO_MEMORY));
    return UCS_ERR_NO_MEMORY;
}

bool outgoing::add_flush(completion& done) noexcept {
    try {
        flushes_.push_back(&done);
    } catch (const std::bad_alloc&) {
        return false;
    }
    return true;
}

ucs_status_t outgoing::introduce() {
    ucs_status_t status = UCS_OK;
    if (step_ == step::connect) status = connect();
    if (status == UCS_OK && step_ == step::greet) status = greet();
    return status;
}

ucs_status_t outgoing::connect() {
    const int error = connect_to(socket_.get(), receiver_.socket_id);
    if (error == EAGAIN || error == EINTR) return UCS_INPROGRESS;  // its backlog is full
    if (error != 0) return failed("connect", error);
    const ucs_status_t status = check_listener();
    if (status == UCS_OK) step_ = step::greet;
    return status;
}

// Before anything is sent. Root may be the listener of everybody.
ucs_status_t outgoing::check_listener() const {
    const auto found = peer_of(socket_.get());
    if (!found) return found.status();
    const bool has_user =
        found->is_own_user_or_root() || (receiver_.uid && found->uid == *receiver_.uid);
    const bool has_pid = !receiver_.pid || found->pid == static_cast<pid_t>(*receiver_.pid);
    if (has_user && has_pid) return UCS_OK;
    ucs::log::warn(posix_log,
                   "the abstract socket hawser-posix-{:016x} belongs to pid {} of user {} now, and "
                   "not to pid {}: the peer has ended, and nothing is sent",
                   receiver_.socket_id, found->pid, found->uid, receiver_.pid.value_or(0));
    return UCS_ERR_UNREACHABLE;
}

ucs_status_t outgoing::greet() {
    const int error = send_hello(socket_.get(), hello_, memfd_.get());
    // ETOOMANYREFS: this user has too many descriptors on the way; it passes as peers accept.
    if (error == EAGAIN || error == EINTR || error == ETOOMANYREFS) return UCS_INPROGRESS;
    if (error != 0) return failed("sendmsg(hello)", error);
    step_ = step::introduced;
    memfd_.reset();
    return UCS_OK;
}

ucs_status_t outgoing::failed(const char* call, int error) const {
    ucs::log::warn(posix_log, "{} to the abstract socket hawser-posix-{:016x} failed: {}", call,
                   receiver_.socket_id,
                   error == ECONNREFUSED ? "nobody listens there, the peer has closed or died"
                                         : std::strerror(error));
    return status_of_errno(error);
}

}  // namespace uct::posix
