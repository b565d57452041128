// Creates channels for clients and for accepted connections.
#pragma once

#include "ucp/cm/channel.hpp"
#include "ucp/core/sockaddr_transports.hpp"
#include "ucs/type/unique_fd.hpp"
#include "uct/ib/rdmacm/connection.hpp"

namespace ucp::cm {

// Bytes of a frame, and of the longest message that one side sends at once: the end of a key
// handshake and a frame.
inline constexpr std::size_t longest_frame = wire::header_size + wire::max_body;
inline constexpr std::size_t longest_message =
    ucs::security::key_handshake::longest_record + longest_frame;

// A channel that is being connected, bound to `from` unless that is empty; or the error.
struct attempt {
    std::unique_ptr<channel> made;
    int error = 0;    // error of creating the channel
    int refused = 0;  // error of connecting it
};
// These functions may throw std::bad_alloc.
[[nodiscard]] attempt connect_tcp(const uct::tcp::socket_address& to,
                                  const uct::tcp::socket_address& from);
[[nodiscard]] attempt connect_rdma(const uct::tcp::socket_address& to,
                                   const uct::tcp::socket_address& from);
[[nodiscard]] inline attempt connect(transport over, const uct::tcp::socket_address& to,
                                     const uct::tcp::socket_address& from) {
    return over == transport::rdmacm ? connect_rdma(to, from) : connect_tcp(to, from);
}

// Make the channel of a client that a listener accepted.
[[nodiscard]] std::unique_ptr<channel> tcp_channel(ucs::unique_fd socket);
[[nodiscard]] std::unique_ptr<channel> rdma_channel(
    std::unique_ptr<uct::rdmacm::connection> connection);

}  // namespace ucp::cm
