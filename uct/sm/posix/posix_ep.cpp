#include "uct/sm/posix/posix_ep.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include "uct/base/log.hpp"
#include "uct/sm/posix/posix_iface.hpp"

namespace uct::posix {

posix_ep::posix_ep(posix_iface& owner, const sm::posix_address& peer,
                   const listener_identity& receiver) noexcept
    : base_ep(owner),
      receiver_(receiver),
      reader_may_sleep_((peer.flags & sm::posix_address::may_sleep) != 0) {}

posix_ep::~posix_ep() {
    if (connection_ == nullptr) return;
    writer_.close();
    const auto canceled = connection_->take_flushes();
    owner().forget_flushes(canceled.size());
    if (connection_->introduced()) {
        drop_connection();
    } else {
        owner().forget_retry(*this);
        unwatch();
        owner().adopt(std::move(connection_));
    }
    for (completion* done : canceled)
        done->finish(UCS_ERR_CANCELED);
}

posix_iface& posix_ep::owner() noexcept {
    return static_cast<posix_iface&>(iface_);
}

const posix_iface& posix_ep::owner() const noexcept {
    return static_cast<const posix_iface&>(iface_);
}

ucs_status_t posix_ep::connect() noexcept {
    auto made = outgoing::create(owner().geometry(), owner().socket_id(), receiver_);
    if (!made) {
        owner().refuse_sender(receiver_.socket_id);
        fail(made.status());
        return error_;
    }
    connection_ = std::move(*made);
    const ucs_status_t status = go_on();
    if (status != UCS_OK && status != UCS_INPROGRESS) {
        fail(status);
        return error_;
    }
    if (status == UCS_INPROGRESS && !connection_->awaits_reply()) owner().add_retry(*this);
    writer_ = ring_writer{owner().geometry(), connection_->base(), reader_may_sleep_};
    return UCS_OK;
}

// Like outgoing::introduce. From the challenge on the event loop watches the socket.
ucs_status_t posix_ep::go_on() {
    const ucs_status_t status = connection_->introduce();
    if (status == UCS_OK) owner().finish_later(connection_->take_flushes(), UCS_OK);
    const bool wants_watch = connection_->introduced() || connection_->awaits_reply();
    if (wants_watch && !connection_->watched && watch() != UCS_OK) return UCS_ERR_NO_MEMORY;
    return status;
}

bool posix_ep::retry() {
    const ucs_status_t status = go_on();
    if (status == UCS_INPROGRESS) return connection_->awaits_reply();
    if (status != UCS_OK) fail(status);
    return true;
}

void posix_ep::check() noexcept {
    if (connection_ == nullptr || connection_->introduced()) return;
    const ucs_status_t status = connection_->check_reply();
    if (status != UCS_OK) fail(status);
}

ucs_status_t posix_ep::watch() {
    const ucs_status_t status = owner().events().add(connection_->socket(), EPOLLIN | EPOLLRDHUP,
                                                     [this](std::uint32_t) { on_socket_event(); });
    connection_->watched = status == UCS_OK;
    return status;
}

void posix_ep::unwatch() noexcept {
    if (connection_->watched) owner().events().remove(connection_->socket());
    connection_->watched = false;
}

void posix_ep::on_socket_event() noexcept {
    if (!connection_->introduced()) {
        if (!retry()) owner().add_retry(*this);
        return;
    }
    const packet got = receive_packet(connection_->socket());
    if (got.type == packet::kind::nothing_yet) return;
    if (is_wake_up_call(got.content()))
        return;  // there is room, and progress sends the queued messages
    on_goodbye(got);
}

void posix_ep::on_goodbye(const packet& got) noexcept {
    const auto reason =
        got.type == packet::kind::message ? parse_goodbye(got.content()) : std::nullopt;
    if (reason == packet_kind::closing) {
        ucs::log::debug(posix_log, "{}: closed its interface", peer_name());
        return fail(UCS_ERR_NOT_CONNECTED);
    }
    if (!reason) {
        ucs::log::diag(posix_log, "{}: has ended without a goodbye", peer_name());
    } else {
        ucs::log::warn(posix_log, "{}: {}", peer_name(),
                       reason == packet_kind::refused ? "refused the connection"
                                                      : "found garbage in the ring");
    }
    fail(reason == packet_kind::refused ? UCS_ERR_REJECTED : UCS_ERR_CONNECTION_RESET);
}

// The reader has set its mark, so it has the ring and the socket is connected.
void posix_ep::wake_reader() noexcept {
    send_wake_up_call(connection_->socket());
}

void posix_ep::fail(ucs_status_t status) {
    if (error_ != UCS_OK) return;
    error_ = status;
    writer_ = ring_writer{};
    if (connection_ != nullptr) {
        owner().finish_later(connection_->take_flushes(), status);
        drop_connection();
    }
    owner().endpoint_failed(*this);
}

void posix_ep::drop_connection() {
    unwatch();
    owner().forget_retry(*this);
    connection_.reset();
}

ucs_status_t posix_ep::flush(completion* done) {
    if (error_ != UCS_OK) return error_;
    if (connection_ == nullptr || connection_->introduced()) return UCS_OK;
    if (done == nullptr) return UCS_ERR_NO_RESOURCE;
    if (!connection_->add_flush(*done)) return UCS_ERR_NO_MEMORY;
    if (owner().expect_flush()) return UCS_INPROGRESS;
    connection_->drop_flush();
    return UCS_ERR_NO_MEMORY;
}

std::uint64_t posix_ep::received() const noexcept {
    return 1 + owner().received_from(receiver_.socket_id);
}

std::string posix_ep::peer_name() const {
    return fmt::format("pid {}", receiver_.pid);
}

void posix_ep::describe(ucs::vfs::directory& into) const {
    base_ep::describe(into);
    into.file("state", [this]() -> std::string {
        if (error_ != UCS_OK) return ucs_status_string(error_);
        if (connection_ == nullptr) return "idle";
        return connection_->introduced() ? "connected" : "connecting";
    });
}

}  // namespace uct::posix
