#include "uct/cuda/base/address.hpp"

#include <unistd.h>

#include <atomic>
#include <mutex>

#include "ucs/random/random_bytes.hpp"
#include "ucs/wire/codec.hpp"
#include "uct/sm/base/host.hpp"

namespace uct::cuda {

std::uint64_t process_number() noexcept {
    static std::mutex lock;
    static pid_t owner = 0;
    static std::uint64_t number = 0;
    const std::lock_guard guard(lock);
    if (owner != ::getpid()) {
        owner = ::getpid();
        number = ucs::sys::random_id();
    }
    return number;
}

process_address process_address::next() noexcept {
    static std::atomic<std::uint32_t> last{0};
    const sm::host_identity host = sm::read_host_identity();
    process_address made;
    made.pid = static_cast<std::uint32_t>(::getpid());
    made.host = host.host;
    made.number = process_number();
    made.pid_namespace = host.pid_namespace;
    made.interface_number = ++last;
    return made;
}

std::optional<process_address> process_address::parse(std::span<const std::byte> from) noexcept {
    const auto read = ucs::wire::read<process_address>(from);
    const bool is_good = read && read->version == current_version && read->zero[0] == 0 &&
                         read->zero[1] == 0 && read->zero[2] == 0 && read->number != 0;
    return is_good ? read : std::nullopt;
}

}  // namespace uct::cuda
