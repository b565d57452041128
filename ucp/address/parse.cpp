// Parses packed worker addresses. The bytes come from peers and are untrusted.
#include <algorithm>
#include <string_view>
#include <utility>

#include "ucp/address/address.hpp"
#include "ucp/address/dictionary.hpp"
#include "ucp/address/text.hpp"
#include "ucp/address/wire.hpp"
#include "ucs/log/throttle.hpp"

namespace ucp::address {

namespace {

constinit ucs::log::component log_source("ucp.address");

using view = std::span<const std::byte>;

std::uint64_t little_endian(view bytes) noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
        value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
    return value;
}

// Destination of error messages: a throttle that limits and counts them, or the log itself if null.
using reports = ucs::log::throttle*;

template<class... Args>
void report(reports to, fmt::format_string<Args...> format, Args&&... args) noexcept {
    if (to != nullptr) {
        to->error(log_source, format, std::forward<Args>(args)...);
    } else {
        ucs::log::error(log_source, format, std::forward<Args>(args)...);
    }
}

ucs_status_t invalid(reports to, const char* reason, std::size_t position) noexcept {
    report(to, "invalid worker address: {} (byte {})", reason, position);
    return UCS_ERR_INVALID_ADDR;
}

// Reads values from the front of a packed address. The first missing or invalid value is reported;
// from then on every value reads as zero or empty.
class reader {
public:
    reader(view bytes, std::size_t begin, reports to) noexcept
        : bytes_(bytes), position_(begin), reports_(to) {}

    [[nodiscard]] bool ok() const noexcept { return ok_; }
    [[nodiscard]] std::size_t left() const noexcept { return bytes_.size() - position_; }

    void fail(const char* reason) noexcept {
        if (std::exchange(ok_, false)) static_cast<void>(invalid(reports_, reason, position_));
    }

    view take(std::size_t size, const char* description) noexcept {
        if (ok_ && size > left()) fail(description);
        if (!ok_) return {};
        position_ += size;
        return bytes_.subspan(position_ - size, size);
    }
    std::uint8_t u8(const char* description) noexcept {
        return static_cast<std::uint8_t>(little_endian(take(1, description)));
    }
    std::uint16_t u16(const char* description) noexcept {
        return static_cast<std::uint16_t>(little_endian(take(2, description)));
    }

    std::uint32_t variable(const char* description) noexcept {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 35; shift += 7) {
            const std::uint8_t part = u8(description);
            value |= std::uint64_t{part & 0x7fU} << shift;
            if ((part & 0x80) == 0) break;
            if (shift == 28) fail(description);
        }
        if (value > 0xffffffffU) fail(description);
        return static_cast<std::uint32_t>(value);
    }
    std::string_view text(std::size_t most, const char* description) noexcept {
        const std::size_t size = u8(description);
        if (size > most) fail(description);
        const view characters = take(size, description);
        return {reinterpret_cast<const char*>(characters.data()), characters.size()};
    }

private:
    view bytes_;
    std::size_t position_;
    reports reports_;
    bool ok_ = true;
};

using lookup = std::string_view (*)(std::uint8_t);

std::string read_resource(reader& in, std::uint8_t number, lookup name_of,
                          const char* description) {
    if (number != wire::literal_name) {
        const std::string_view known = name_of(number);
        if (known.empty()) in.fail(description);
        return std::string(known);
    }
    const std::string_view name = in.text(max_resource_name, description);
    if (!is_resource_name(name)) in.fail(description);
    return std::string(name);
}

float read_number(reader& in, const char* description) noexcept {
    const std::uint16_t bits = in.u16(description);
    if (bits > wire::largest_number) in.fail(description);
    return wire::decode_number(bits);
}

entry read_entry(reader& in) {
    entry into;
    const std::uint8_t first = in.u8("transport of an entry");
    const unsigned reach = first >> wire::scope_shift;
    if (reach > static_cast<unsigned>(uct::scope::network)) in.fail("unknown scope");
    into.scope = static_cast<uct::scope>(reach);
    into.transport = read_resource(in, first & wire::known_name_mask, dictionary::transport_name,
                                   "name of a transport");
    if (into.transport.empty()) in.fail("a transport without a name");
    const std::uint8_t device = in.u8("device of an entry");
    into.device = read_resource(in, device, dictionary::device_name, "name of a device");
    into.latency = read_number(in, "latency");
    into.bandwidth = read_number(in, "bandwidth");
    into.overhead = read_number(in, "overhead");
    const view address = in.take(in.u8("length of an interface address"), "interface address");
    into.iface_address.assign(address.begin(), address.end());
    return into;
}

ucs::result<worker_address> read_body(view packed, reports to) {
    reader in(packed, wire::header_size, to);
    worker_address into;
    const view identity = in.take(into.identity.size(), "public key");
    std::ranges::copy(identity, into.identity.begin());
    if ((into.identity.back() & std::byte{0x80}) != std::byte{0}) in.fail("public key");
    into.flags = in.variable("flags");
    into.name = in.text(max_name, "name of the worker");
    if (std::any_of(into.name.begin(), into.name.end(), is_control)) in.fail("name of the worker");
    const std::size_t count = in.u8("number of entries");
    for (std::size_t i = 0; i < count && in.ok(); ++i)
        into.entries.push_back(read_entry(in));
    if (in.ok() && in.left() > 0) in.fail("bytes after the last entry");
    if (!in.ok()) return UCS_ERR_INVALID_ADDR;
    return into;
}

// Returns exactly the bytes of the address that begins at `start`. At most `size` bytes may be
// read. Checks the header, length, checksum and version of the address.
ucs::result<view> delimit(const std::byte* start, std::size_t size, reports to) {
    if (start == nullptr) return invalid(to, "there is none", 0);
    for (std::size_t i = 0; i < sizeof wire::magic; ++i) {
        if (i >= size || start[i] != std::byte{wire::magic[i]})
            return invalid(to, "it does not begin like one", i);
    }
    if (size < wire::header_size) return invalid(to, "cut inside the header", size);
    const view header(start, wire::header_size);
    if (header[wire::check_at] != std::byte{wire::header_check(header)})
        return invalid(to, "the header is damaged", wire::check_at);
    const std::size_t length = little_endian(header.subspan(wire::length_at, 2));
    if (length < wire::header_size || length > max_packed_size)
        return invalid(to, "impossible length", wire::length_at);
    if (length > size) return invalid(to, "cut", size);
    const view packed(start, length);
    if (little_endian(header.subspan(wire::crc_at, 4)) != wire::checksum(packed))
        return invalid(to, "the checksum does not fit the contents", wire::crc_at);
    const unsigned version = std::to_integer<unsigned>(header[wire::version_at]);
    if (version > wire::version) {
        report(to, "worker address of version {}, newer than {}", version, unsigned{wire::version});
        return UCS_ERR_UNSUPPORTED;
    }
    if (version < wire::version) return invalid(to, "outdated version", wire::version_at);
    return packed;
}

ucs::result<worker_address> parse_some(const std::byte* start, std::size_t size, reports to) {
    const ucs::result<view> packed = delimit(start, size, to);
    if (!packed.ok()) return packed.status();
    return read_body(*packed, to);
}

}  // namespace

std::uint64_t uid_of(const ucs::security::public_key& identity) noexcept {
    return little_endian(view(identity).first(sizeof(std::uint64_t)));
}

std::optional<ucs::security::public_key> identity_in(std::span<const std::byte> packed) noexcept {
    ucs::security::public_key found;
    if (packed.size() < wire::header_size + found.size()) return std::nullopt;
    std::ranges::copy(packed.subspan(wire::header_size, found.size()), found.begin());
    return found;
}

ucs::result<worker_address> parse(const void* packed) {
    return parse_some(static_cast<const std::byte*>(packed), max_packed_size, nullptr);
}

ucs::result<worker_address> parse(std::span<const std::byte> bytes, ucs::log::throttle* to) {
    return parse_some(bytes.data(), bytes.size(), to);
}

ucs::result<std::size_t> packed_length(std::span<const std::byte> bytes, ucs::log::throttle* to) {
    const ucs::result<view> found = delimit(bytes.data(), bytes.size(), to);
    if (!found.ok()) return found.status();
    return (*found).size();
}

ucs::result<std::size_t> packed_length(const void* packed) {
    return packed_length(view(static_cast<const std::byte*>(packed), max_packed_size));
}

}  // namespace ucp::address
