#include "uct/ib/ud/base/wire.hpp"

#include <array>
#include <cstring>
#include <type_traits>

#include "uct/api/types.hpp"

namespace uct::ud::wire {
namespace {

constexpr std::uint32_t most_pair = (1U << 24) - 1;
constexpr std::uint32_t most_key = (1U << 31) - 1;  // higher values are privileged keys

template<class Packed>
bool read(std::span<const std::byte> from, Packed& into) noexcept {
    static_assert(std::has_unique_object_representations_v<Packed>);
    if (from.size() != sizeof into) return false;
    std::memcpy(&into, from.data(), sizeof into);
    return true;
}

struct address_end {
    std::uint32_t pair;
    std::uint32_t key;
};
struct hello_end {
    std::uint64_t connection;
    std::uint32_t request_number;
    std::uint32_t timeout;
};
struct packed_welcome {
    std::uint64_t connection;
    std::uint32_t request_number;
    std::uint32_t zero;
};
static_assert(sizeof(packed_welcome) == welcome::size);

// Returns true if the body has the right length for the datagram's type.
bool fits(const header& head, std::size_t body) noexcept {
    switch (head.type) {
        case kind::data:
            return head.to != 0 && head.id < am_id_count;
        case kind::ack:
            return head.acknowledges != 0 && body == sizeof(std::uint64_t);
        case kind::request:
        case kind::resync:
            return body == hello::size;
        case kind::reply:
            return head.to != 0 && body == welcome::size;
        case kind::goodbye:
            return head.to != 0 && body == hello::size;
        case kind::refuse:
            return head.to != 0 && body == 0;
        case kind::ended:
            return body == sizeof(std::uint64_t);
    }
    return false;
}

}  // namespace

std::optional<datagram> parse(std::span<std::byte> bytes) noexcept {
    datagram found{};
    if (bytes.size() < header_size) return std::nullopt;
    std::memcpy(&found.head, bytes.data(), header_size);
    found.body = bytes.subspan(header_size);
    if (found.head.version != version || found.head.zero != 0) return std::nullopt;
    if (!fits(found.head, found.body.size())) return std::nullopt;
    return found;
}

std::uint64_t u64_in(std::span<const std::byte> body) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, body.data(), sizeof word);
    return word;
}

void address::pack(std::span<std::byte> into) const noexcept {
    port.pack(into);
    const address_end end{pair, key};
    std::memcpy(into.data() + ib::address::size, &end, sizeof end);
}

std::optional<address> address::parse(std::span<const std::byte> from) noexcept {
    if (from.size() != size) return std::nullopt;
    const auto port = ib::address::parse(from.first(ib::address::size));
    address_end end{};
    if (!port || !read(from.subspan(ib::address::size), end)) return std::nullopt;
    if (end.pair == 0 || end.pair > most_pair || end.key > most_key) return std::nullopt;
    return address{*port, end.pair, end.key};
}

std::size_t address_hash::operator()(const address& hashed) const noexcept {
    std::array<std::byte, address::size> bytes;
    hashed.pack(bytes);
    std::array<std::uint64_t, address::size / sizeof(std::uint64_t)> words;
    static_assert(sizeof words == address::size);
    std::memcpy(words.data(), bytes.data(), sizeof words);
    std::uint64_t sum = 0;
    for (const std::uint64_t word : words)
        sum = ucs::sys::siphash(secret_, sum ^ word);
    return sum;
}

void hello::pack(std::span<std::byte> into) const noexcept {
    from.pack(into);
    const hello_end end{connection, request_number, timeout};
    std::memcpy(into.data() + address::size, &end, sizeof end);
}

std::optional<hello> hello::parse(std::span<const std::byte> from) noexcept {
    if (from.size() != size) return std::nullopt;
    const auto from_address = address::parse(from.first(address::size));
    hello_end end{};
    if (!from_address || !read(from.subspan(address::size), end)) return std::nullopt;
    if (end.connection == 0 || end.timeout > max_timeout) return std::nullopt;
    return hello{*from_address, end.connection, end.request_number, end.timeout};
}

void welcome::pack(std::span<std::byte> into) const noexcept {
    const packed_welcome made{connection, request_number, 0};
    std::memcpy(into.data(), &made, sizeof made);
}

std::optional<welcome> welcome::parse(std::span<const std::byte> from) noexcept {
    packed_welcome found{};
    if (!read(from, found) || found.connection == 0 || found.zero != 0) return std::nullopt;
    return welcome{found.connection, found.request_number};
}

}  // namespace uct::ud::wire
