// The start of the control connection: both sides prove the job key, then send a hello.
#pragma once

#include "tools/perf/net/control.hpp"
#include "tools/perf/net/socket.hpp"
#include "ucs/security/key.hpp"

namespace tools::perf {

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
