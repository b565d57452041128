#include <cerrno>

#include "uct/tcp/connection.hpp"
#include "uct/tcp/iface.hpp"

namespace uct::tcp {

// Received bytes stay in the kernel until there is memory for them.
unsigned connection::receive_later() {
    if (!std::exchange(waits_for_memory_, true)) {
        ucs::log::error(log, "out of memory: messages of {} have to wait", peer_name());
    }
    return 0;
}

// `status` comes from the receiver.
void connection::fail_receiving(ucs_status_t status) {
    switch (status) {
        case UCS_ERR_NO_MEMORY:
            fail_for_memory(*this, "a message could not be received");
            break;
        case UCS_ERR_EXCEEDS_LIMIT:
            drop_unfinished_frame();
            break;
        default:
            owner_.rejected().error(log, "{} sent an invalid frame; the connection is closed",
                                    peer_name());
            fail(UCS_ERR_CONNECTION_RESET);
    }
}

void connection::on_broken_encryption() {
    owner_.rejected().error(log,
                            "the data from {} was changed in transit, or is not from the peer; "
                            "the connection is closed",
                            peer_name());
    fail(UCS_ERR_CONNECTION_RESET);
}

// Handles the result of a read of the socket. Inline, because receiving a message calls it once.
inline unsigned connection::take_received(ssize_t got) {
    unsigned events = 0;
    if (got > 0) [[likely]] {
        owner_.note_reading(*this);
        const ucs_status_t status = rx.consume(static_cast<std::size_t>(got), events);
        if (status != UCS_OK) [[unlikely]] {
            fail_receiving(status);
            return events + 1;
        }
        if (const unsigned kinds = rx.take_control(); kinds != 0) [[unlikely]] {
            on_control(kinds);
            ++events;
        }
        rx.rest();
        return events + (events == 0 ? 1U : 0U);
    }
    if (got < 0 && would_block(errno)) {
        rx.rest();
        return 0;
    }
    if (got < 0) {
        const int error = errno;
        if (error == EBADMSG) {
            on_broken_encryption();
            return 1;
        }
        ucs::log::diag(log, "recv() from {}: {}", peer_name(), error_text(error));
        fail(status_of_loss(error));
    } else {
        on_end_of_stream();
    }
    return 1;
}

unsigned connection::receive() {
    if (writer.socket.is_encrypted()) [[unlikely]]
        return receive_encrypted();
    const std::span<iovec> space = rx.space();
    if (space.empty()) [[unlikely]]
        return receive_later();
    return take_received(writer.socket.read_plain(space));
}

// Handles everything that one
// read of the socket brought, because no event of the socket would announce the rest.
unsigned connection::receive_encrypted() {
    unsigned events = 0;
    do {
        const std::span<iovec> space = rx.space();
        if (space.empty()) {
            fail_for_memory(*this, "a message could not be received");
            return events + 1;
        }
        events += take_received(writer.socket.read_encrypted(space));
    } while (!has_ended(state_) && writer.socket.has_decrypted());
    return events;
}

}  // namespace uct::tcp
