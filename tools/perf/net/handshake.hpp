// The start of the control connection: its sockets, and the handshake, in which both sides prove
// the job key and send a hello.
#pragma once

#include "tools/perf/net/control.hpp"
#include "ucs/security/key.hpp"

namespace tools::perf {

struct accepted {
    ucs::unique_fd fd;
    std::string peer;  // "127.0.0.1:40000"
};

// Each function throws failure with the system's reason. Sockets are non-blocking, detect a dead
// peer by keepalive within about 15 seconds, and send small frames at once.
[[nodiscard]] ucs::unique_fd listen_on(std::uint16_t port, bool ipv6);
// Prepares a socket that accept() returned.
void make_control_socket(int fd);
[[nodiscard]] ucs::unique_fd connect_to(const std::string& host, std::uint16_t port, bool ipv6);

// The purpose of the connection for the handshake (ucs/security/key_handshake.hpp).
inline constexpr std::string_view handshake_purpose = "ucx_perftest";

// Server: waits without limit for a client that proves the job key (or has none, like this side)
// and sends a hello. `shared` is the key; null: there is none. Other connections are closed after a
// while, or when there are too many, and cost one small record each. Throws failure.
[[nodiscard]] accepted accept_client(const ucs::unique_fd& listener,
                                     const ucs::security::key* shared);

// Client: performs the handshake on a connected socket within `limit`; the caller then sends the
// hello. Throws failure, with the reason if the keys differ.
void open_connection(int fd, const ucs::security::key* shared, std::chrono::milliseconds limit);

}  // namespace tools::perf
