// Parses packed worker addresses. The bytes come from peers and are untrusted.
#include <algorithm>
#include <string_view>
#include <utility>

#include "ucp/address/address.hpp"
#include "ucp/address/dictionary.hpp"
#include "ucp/address/wire.hpp"
#include "ucs/log/throttle.hpp"
#include "ucs/wire/codec.hpp"

namespace ucp::address {

namespace {

constinit ucs::log::component log_source("ucp.address");

using ucs::wire::reader;
using ucs::wire::view;

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

using lookup = std::string_view (*)(std::uint8_t);

std::string read_resource(reader& in, std::uint8_t number, lookup name_of,
                          const char* description) {
    if (number != wire::literal_name) {
        const std::string_view known = name_of(number);
        if (known.empty()) in.fail(description);
        return std::string(known);
    }
    const std::string_view name = in.text8(description, max_resource_name);
    if (!is_resource_name(name)) in.fail(description);
    return std::string(name);
}

float read_number(reader& in, const char* description) noexcept {
    const std::uint16_t bits = in.get<std::uint16_t>(description);
    if (bits > wire::largest_number) in.fail(description);
    return wire::decode_number(bits);
}

entry read_entry(reader& in) {
    entry into;
    const std::uint8_t first = in.get<std::uint8_t>("transport of an entry");
    const unsigned reach = first >> wire::scope_shift;
    if (reach > static_cast<unsigned>(uct::scope::network)) in.fail("unknown scope");
    into.scope = static_cast<uct::scope>(reach);
    into.transport = read_resource(in, first & wire::known_name_mask, dictionary::transport_name,
                                   "name of a transport");
    if (into.transport.empty()) in.fail("a transport without a name");
    const std::uint8_t device = in.get<std::uint8_t>("device of an entry");
    into.device = read_resource(in, device, dictionary::device_name, "name of a device");
    into.latency = read_number(in, "latency");
    into.bandwidth = read_number(in, "bandwidth");
    into.overhead = read_number(in, "overhead");
    const auto length = in.get<std::uint8_t>("length of an interface address");
    const view address = in.bytes(length, "interface address");
    into.iface_address.assign(address.begin(), address.end());
    return into;
}

ucs::result<worker_address> read_body(view packed, reports to) {
    reader in(packed, wire::header_size);
    worker_address into;
    into.identity = in.get<ucs::security::public_key>("public key");
    if ((into.identity.back() & std::byte{0x80}) != std::byte{0}) in.fail("public key");
    into.flags = in.varint("flags");
    into.name = in.text8("name of the worker", max_name);
    if (std::any_of(into.name.begin(), into.name.end(), is_control)) in.fail("name of the worker");
    const std::size_t count = in.get<std::uint8_t>("number of entries");
    for (std::size_t i = 0; i < count && in.ok(); ++i)
        into.entries.push_back(read_entry(in));
    if (in.ok() && in.left() > 0) in.fail("bytes after the last entry");
    if (!in.ok()) return invalid(to, in.failed_field(), in.position());
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
    const std::size_t length = reader(header, wire::length_at).get<std::uint16_t>();
    if (length < wire::header_size || length > max_packed_size)
        return invalid(to, "impossible length", wire::length_at);
    if (length > size) return invalid(to, "cut", size);
    const view packed(start, length);
    if (reader(header, wire::crc_at).get<std::uint32_t>() != wire::checksum(packed))
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
    return reader(identity).get<std::uint64_t>();
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
