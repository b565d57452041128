// Making channels.
#pragma once

#include "ucp/cm/carrier.hpp"
#include "ucp/cm/channel.hpp"
#include "ucs/type/unique_fd.hpp"
#include "uct/ib/rdmacm/connection.hpp"

namespace ucp::cm {

// Bytes of a frame, and of what one side sends at once: the end of an opening and a frame.
inline constexpr std::size_t longest_frame = wire::header_size + wire::max_body;
inline constexpr std::size_t longest_message =
    ucs::security::opening::longest_record + longest_frame;

// A channel that is being connected, from `from` unless that is empty; or why not.
struct attempt {
    std::unique_ptr<channel> made;
    int error = 0;    // of making it
    int refused = 0;  // of connecting it
};
// All of these may throw std::bad_alloc.
[[nodiscard]] attempt connect_tcp(const uct::tcp::socket_address& to,
                                  const uct::tcp::socket_address& from);
[[nodiscard]] attempt connect_rdma(const uct::tcp::socket_address& to,
                                   const uct::tcp::socket_address& from);
[[nodiscard]] inline attempt connect(carrier by, const uct::tcp::socket_address& to,
                                     const uct::tcp::socket_address& from) {
    return by == carrier::rdmacm ? connect_rdma(to, from) : connect_tcp(to, from);
}

// Of a client that a listener let in.
[[nodiscard]] std::unique_ptr<channel> tcp_channel(ucs::unique_fd socket);
[[nodiscard]] std::unique_ptr<channel> rdma_channel(
    std::unique_ptr<uct::rdmacm::connection> connection);

}  // namespace ucp::cm
