// What an exchange goes over.
#pragma once

#include <sys/types.h>

#include <memory>

#include "ucp/cm/inbox.hpp"
#include "uct/tcp/ip_address.hpp"

namespace ucp::cm {

// Carries frames to and from the other side, in order, without blocking: a TCP socket or queue
// pairs (tcp_channel.cpp, rdma_channel.cpp). Frames are few and short, so what is not taken at once
// is an error; what the other side sent before can still be read then. Who owns it watches its
// descriptor. Owner context.
class channel {
public:
    virtual ~channel() = default;
    channel(const channel&) = delete;
    channel& operator=(const channel&) = delete;

    // Being connected: writable or readable when connect_error has news. Later: readable when
    // something arrived. Readable when what was sent has arrived, where that shows.
    [[nodiscard]] virtual int fd() const noexcept = 0;
    // Asked when the descriptor has news. 0: it is connected. EINPROGRESS: not yet. Else the errno
    // of why it never will be.
    [[nodiscard]] virtual int connect_error() noexcept = 0;

    enum class input { nothing_yet, frame, opening, nonsense, end };
    // Reads what there is of a frame, or the beginning of an opening where the inbox expects one.
    [[nodiscard]] input read(inbox& into) noexcept;

    // Sends and receives what an opening still needs, as opening::advance().
    ucs::security::opening::step advance(ucs::security::opening& with,
                                         bool keeps_last = false) noexcept;

    [[nodiscard]] virtual bool send(std::span<const std::byte> frame) noexcept = 0;
    void send_refusal(wire::reason why) noexcept;
    void send_established() noexcept;
    // Its last words are said: gives up what was not read. True: they have arrived as far as this
    // side can tell, and closing it loses nothing.
    [[nodiscard]] virtual bool finish() noexcept = 0;
    // Asks a peer that has nothing to say whether it is still there; if not, the channel ends.
    virtual void check() noexcept {}

    [[nodiscard]] virtual uct::tcp::socket_address local() const noexcept = 0;
    [[nodiscard]] virtual uct::tcp::socket_address remote() const noexcept = 0;

protected:
    channel() = default;

private:
    // How many of the next bytes were put there; 0: there are none now, -1: nor will there be.
    [[nodiscard]] virtual ssize_t receive(std::span<std::byte> into) noexcept = 0;
};

}  // namespace ucp::cm
