// How ucx_vfs and the processes of its user find each other.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <string>
#include <string_view>

#include "ucs/type/unique_fd.hpp"

namespace ucs::vfs {

// Abstract socket names: they are in no file system, so there is no folder to prepare, nothing is
// left behind, and each ends with its socket. Anybody may take a name, so both sides also ask the
// kernel which user the other end belongs to (ucs/sys/peer_credentials.hpp).
//
// Every process that can be looked at listens under a name of its own with a common beginning, and
// the daemon calls it. `key` is UCX_VFS_SOCK_PATH.
[[nodiscard]] std::string name_prefix(uid_t user, std::string_view key);
[[nodiscard]] std::string process_name(uid_t user, std::string_view key);  // another every time
[[nodiscard]] std::string daemon_name(uid_t user, std::string_view key);

// An abstract name as an address.
struct abstract_address {
    explicit abstract_address(std::string_view name) noexcept;
    [[nodiscard]] const sockaddr* get() const noexcept {
        return reinterpret_cast<const sockaddr*>(&address);
    }
    sockaddr_un address{};
    socklen_t length = 0;
};

// A socket for packets that listens or is connected, not blocking; none: errno says why.
[[nodiscard]] unique_fd listen_at(std::string_view name);
[[nodiscard]] unique_fd connect_to(std::string_view name);

}  // namespace ucs::vfs
