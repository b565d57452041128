// Names of local sockets outside of any file system.
#pragma once

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>

namespace ucs::sys {

// An abstract address: it exists in a network namespace, and disappears with its socket. Any
// process may bind it, so it proves nothing about its owner. A value.
class abstract_name {
public:
    // "PREFIX-0123456789abcdef"; the prefix must be short.
    abstract_name(const char* prefix, std::uint64_t id) noexcept {
        address_.sun_family = AF_UNIX;
        // The leading zero byte makes the name abstract.
        const auto end = fmt::format_to_n(address_.sun_path + 1, sizeof address_.sun_path - 1,
                                          "{}-{:016x}", prefix, id);
        length_ = static_cast<socklen_t>(end.out - reinterpret_cast<char*>(&address_));
    }
    [[nodiscard]] const sockaddr* get() const noexcept {
        return reinterpret_cast<const sockaddr*>(&address_);
    }
    [[nodiscard]] socklen_t length() const noexcept { return length_; }

private:
    sockaddr_un address_{};
    socklen_t length_ = 0;
};

}  // namespace ucs::sys
