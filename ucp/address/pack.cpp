#include <algorithm>
#include <string_view>
#include <utility>

#include "ucp/address/address.hpp"
#include "ucp/address/dictionary.hpp"
#include "ucp/address/text.hpp"
#include "ucp/address/wire.hpp"
#include "ucs/log/log.hpp"

namespace ucp::address {

namespace {

constinit ucs::log::component log_source("ucp.address");

using bytes = std::vector<std::byte>;

// Appends numbers and texts to a byte vector.
class writer {
public:
    void u8(std::uint64_t value) { out_.push_back(static_cast<std::byte>(value & 0xff)); }
    void u16(std::uint64_t value) { little_endian(value, 2); }
    void put(std::size_t offset, std::uint64_t value, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i)
            out_[offset + i] = static_cast<std::byte>((value >> (8 * i)) & 0xff);
    }
    void variable(std::uint32_t value) {
        for (; value >= 0x80; value >>= 7)
            u8(value | 0x80);
        u8(value);
    }
    void text(std::string_view value) {
        u8(value.size());
        for (const char c : value)
            out_.push_back(static_cast<std::byte>(c));
    }
    void raw(std::span<const std::byte> value) {
        // GCC 12 mistakes insert() at the end for a read past the end (-Wstringop-overread).
        extend(value.size());
        std::ranges::copy(value, out_.end() - static_cast<std::ptrdiff_t>(value.size()));
    }
    void extend(std::size_t size) { out_.resize(out_.size() + size); }

    bytes& out() { return out_; }

private:
    void little_endian(std::uint64_t value, std::size_t size) {
        extend(size);
        put(out_.size() - size, value, size);
    }

    bytes out_;
};

bytes pack_entry(const entry& from) {
    writer out;
    const std::uint8_t transport = dictionary::transport_number(from.transport);
    out.u8(static_cast<std::uint64_t>(from.scope) << wire::scope_shift | transport);
    if (transport == wire::literal_name) out.text(from.transport);
    const std::uint8_t device = dictionary::device_number(from.device);
    out.u8(device);
    if (device == wire::literal_name) out.text(from.device);
    for (const float number : {from.latency, from.bandwidth, from.overhead})
        out.u16(wire::encode_number(number));
    out.u8(from.iface_address.size());
    out.raw(from.iface_address);
    return std::move(out.out());
}

bool can_be_packed(const entry& candidate) {
    const bool fits = !candidate.transport.empty() &&
                      candidate.transport.size() <= max_resource_name &&
                      candidate.device.size() <= max_resource_name &&
                      candidate.iface_address.size() <= max_iface_address &&
                      is_resource_name(candidate.transport) && is_resource_name(candidate.device);
    if (!fits) {
        ucs::log::error(log_source,
                        "worker address: {}/{} is left out: names have up to {} printable "
                        "characters, its address ({} bytes) up to {}",
                        candidate.transport, candidate.device, max_resource_name,
                        candidate.iface_address.size(), max_iface_address);
    }
    return fits;
}

struct candidate {
    const entry* from;
    bytes packed;
};

// Returns the entry that peers need least. This is the slowest entry among those whose scope
// another entry has too, so that every reachable peer stays reachable. If there is none, it is the
// slowest entry of all.
std::vector<candidate>::iterator least_useful(std::vector<candidate>& all) {
    const auto is_spare = [&all](const candidate& one) {
        return std::count_if(all.begin(), all.end(), [&one](const candidate& other) {
                   return other.from->scope == one.from->scope;
               }) > 1;
    };
    return std::min_element(all.begin(), all.end(), [&](const candidate& a, const candidate& b) {
        const bool a_is_spare = is_spare(a);
        return a_is_spare != is_spare(b) ? a_is_spare : a.from->bandwidth < b.from->bandwidth;
    });
}

// Drops entries until the rest fits into `capacity` bytes and the entry counter.
void shrink(std::vector<candidate>& all, std::size_t capacity) {
    std::size_t size = 0;
    for (const candidate& each : all)
        size += each.packed.size();
    while (size > capacity || all.size() > 255) {
        const auto loser = least_useful(all);
        ucs::log::diag(log_source, "worker address: {}/{} is left out, {} bytes are the limit",
                       loser->from->transport, loser->from->device, max_packed_size);
        size -= loser->packed.size();
        all.erase(loser);
    }
}

std::string clean_name(std::string_view name) {
    std::string clean(name.substr(0, max_name));
    std::replace_if(clean.begin(), clean.end(), is_control, '_');
    return clean;
}

}  // namespace

float quantise(float value) noexcept {
    return wire::decode_number(wire::encode_number(value));
}

std::vector<std::byte> pack(const worker_address& from, bool net_only) {
    std::vector<candidate> chosen;
    for (const entry& each : from.entries) {
        if (net_only && each.scope != uct::scope::network) continue;
        if (can_be_packed(each)) chosen.push_back({&each, pack_entry(each)});
    }
    writer out;
    out.extend(wire::header_size);
    out.raw(from.identity);
    out.variable(from.flags);
    out.text(clean_name(from.name));
    shrink(chosen, max_packed_size - out.out().size() - 1);
    out.u8(chosen.size());
    for (const candidate& each : chosen)
        out.raw(each.packed);

    out.put(0, wire::magic[0], 1);
    out.put(1, wire::magic[1], 1);
    out.put(wire::version_at, wire::version, 1);
    out.put(wire::length_at, out.out().size(), 2);
    out.put(wire::check_at, wire::header_check(out.out()), 1);
    out.put(wire::crc_at, wire::checksum(out.out()), 4);
    return std::move(out.out());
}

}  // namespace ucp::address
