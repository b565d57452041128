// The socket names by which ucx_vfs and the processes of its user find each other.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <string>
#include <string_view>

#include "ucs/type/unique_fd.hpp"

namespace ucs::vfs {

// Abstract socket names are not in a file system: they need no folder, leave nothing behind, and
// end with their socket. Any user may take a name, so both sides also check the user of the other
// end (ucs/descriptor/peer_credentials.hpp).
//
// Every process that ucx_vfs can show listens under a unique name with a common prefix, and the
// daemon connects to it. `key` is UCX_VFS_SOCK_PATH.
[[nodiscard]] std::string name_prefix(uid_t user, std::string_view key);
[[nodiscard]] std::string process_name(uid_t user,
                                       std::string_view key);  // random, different in each call
[[nodiscard]] std::string daemon_name(uid_t user, std::string_view key);

// The socket address of an abstract name.
struct abstract_address {
    explicit abstract_address(std::string_view name) noexcept;
    [[nodiscard]] const sockaddr* get() const noexcept {
        return reinterpret_cast<const sockaddr*>(&address);
    }
    sockaddr_un address{};
    socklen_t length = 0;
};

// Return a non-blocking packet socket that listens or is connected. If it is empty, errno has the
// reason.
[[nodiscard]] unique_fd listen_at(std::string_view name);
[[nodiscard]] unique_fd connect_to(std::string_view name);

}  // namespace ucs::vfs
