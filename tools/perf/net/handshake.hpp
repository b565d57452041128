// The beginning of the control connection: both sides prove the job key, then say hello.
#pragma once

#include <cstdint>
#include <string>

#include "tools/perf/net/control.hpp"
#include "tools/perf/net/socket.hpp"
#include "ucs/security/key.hpp"

namespace tools::perf {

// Names the kind of connection to the opening (ucs/security/opening.hpp).
inline constexpr std::string_view opening_purpose = "ucx_perftest";

// Server: waits, as long as it takes, for a client that has proven the job key, or has none as
// this side, and has said hello. `shared` is the key; null: there is none. Whoever connects
// meanwhile and does neither is closed after a while, or when too many have come, and costs one
// small record. Throws failure.
[[nodiscard]] accepted accept_client(const ucs::unique_fd& listener,
                                     const ucs::security::key* shared);

// Client: opens a connected socket within `limit`; the caller says hello. Throws failure, with the
// reason if the keys do not fit.
void open_connection(int fd, const ucs::security::key* shared, std::chrono::milliseconds limit);

}  // namespace tools::perf
