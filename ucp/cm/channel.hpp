// A channel: the connection over which a client and a server do their handshake.
#pragma once

#include <sys/types.h>

#include <memory>

#include "ucp/cm/frame_reader.hpp"
#include "uct/tcp/ip_address.hpp"

namespace ucp::cm {

// Carries frames to and from the other side, in order, without blocking: a TCP socket or queue
// pairs (tcp_channel.cpp, rdma_channel.cpp). Frames are few and short, so a frame that is not taken
// at once is an error; frames that the other side sent before can still be read then. The owner
// watches the descriptor. Owner context.
class channel {
public:
    virtual ~channel() = default;
    channel(const channel&) = delete;
    channel& operator=(const channel&) = delete;

    // While connecting: writable or readable when connect_error should be called. Later: readable
    // when data arrived, and, if the channel can tell, when sent data has arrived.
    [[nodiscard]] virtual int fd() const noexcept = 0;
    // To be called when the descriptor is ready. 0: the channel is connected. EINPROGRESS: not yet.
    // Other values: the errno of the failure.
    [[nodiscard]] virtual int connect_error() noexcept = 0;

    enum class input { nothing_yet, frame, key_handshake, malformed, end };
    // Reads the available part of a frame, or the beginning of a key handshake if the frame_reader
    // expects one.
    [[nodiscard]] input read(frame_reader& into) noexcept;

    // Sends and receives the data that a key handshake still needs, as key_handshake::advance().
    ucs::security::key_handshake::step advance(ucs::security::key_handshake& with,
                                               bool keeps_last = false) noexcept;

    [[nodiscard]] virtual bool send(std::span<const std::byte> frame) noexcept = 0;
    void send_refusal(wire::reason why) noexcept;
    void send_established() noexcept;
    // Final flush: drops input that was not read. Returns true if the last frames have arrived as
    // far as this side can tell, so that closing loses nothing.
    [[nodiscard]] virtual bool finish() noexcept = 0;
    // Probes whether a silent peer is still alive; if not, the channel ends.
    virtual void check() noexcept {}

    [[nodiscard]] virtual uct::tcp::socket_address local() const noexcept = 0;
    [[nodiscard]] virtual uct::tcp::socket_address remote() const noexcept = 0;

protected:
    channel() = default;

private:
    // Receives the next bytes into the buffer and returns their number. 0: there are none now. -1:
    // the channel has ended.
    [[nodiscard]] virtual ssize_t receive(std::span<std::byte> into) noexcept = 0;
};

}  // namespace ucp::cm
