#include "ucs/vfs/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "ucs/descriptor/descriptor_passing.hpp"
#include "ucs/random/random_bytes.hpp"
#include "ucs/sys/process.hpp"

namespace ucs::vfs {
std::string name_prefix(uid_t user, std::string_view key) {
    return fmt::format("hawser-vfs-{}-{:016x}-", user, sys::hash_text(key));
}

std::string process_name(uid_t user, std::string_view key) {
    return name_prefix(user, key) + fmt::format("{:016x}", sys::random_id());
}

std::string daemon_name(uid_t user, std::string_view key) {
    return name_prefix(user, key) + "daemon";
}

abstract_address::abstract_address(std::string_view name) noexcept {
    address.sun_family = AF_UNIX;
    const std::size_t used = std::min(name.size(), sizeof address.sun_path - 1);
    std::memcpy(address.sun_path + 1, name.data(), used);
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + used);
}

unique_fd listen_at(std::string_view name) {
    const abstract_address address(name);
    unique_fd made = sys::make_local_socket();
    if (made && ::bind(made.get(), address.get(), address.length) == 0 &&
        ::listen(made.get(), 4) == 0) {
        return made;
    }
    return {};
}

unique_fd connect_to(std::string_view name) {
    const abstract_address address(name);
    unique_fd made = sys::make_local_socket();
    if (made && ::connect(made.get(), address.get(), address.length) == 0) return made;
    return {};
}

}  // namespace ucs::vfs
