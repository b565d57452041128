#include <algorithm>
#include <span>
#include <string_view>

#include "ucp/address/address.hpp"
#include "ucp/address/dictionary.hpp"
#include "ucp/address/wire.hpp"
#include "ucs/log/log.hpp"
#include "ucs/wire/codec.hpp"

namespace ucp::address {

namespace {

constinit ucs::log::component log_source("ucp.address");

using bytes = std::vector<std::byte>;

constexpr std::size_t longest_entry =
    1 + 1 + max_resource_name + 1 + 1 + max_resource_name + 6 + 1 + max_iface_address;

bytes pack_entry(const entry& from) {
    bytes packed(longest_entry);
    ucs::wire::writer out(packed);
    const std::uint8_t transport = dictionary::transport_number(from.transport);
    out.put(static_cast<std::uint8_t>(static_cast<unsigned>(from.scope) << wire::scope_shift |
                                      transport));
    if (transport == wire::literal_name) out.put_text8(from.transport);
    const std::uint8_t device = dictionary::device_number(from.device);
    out.put(device);
    if (device == wire::literal_name) out.put_text8(from.device);
    for (const float number : {from.latency, from.bandwidth, from.overhead})
        out.put(wire::encode_number(number));
    packed.resize(out.put_bytes8(from.iface_address).size());
    return packed;
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
    bytes packed(max_packed_size);
    ucs::wire::writer out{std::span(packed).subspan(wire::header_size)};
    out.put(from.identity).put_varint(from.flags).put_text8(clean_name(from.name));
    shrink(chosen, max_packed_size - wire::header_size - out.size() - 1);
    out.put(static_cast<std::uint8_t>(chosen.size()));
    for (const candidate& each : chosen)
        out.put_bytes(each.packed);
    packed.resize(wire::header_size + out.size());

    constexpr std::uint8_t no_check_yet = 0;
    ucs::wire::writer(packed)
        .put(wire::magic)
        .put(wire::version)
        .put(no_check_yet)
        .put(static_cast<std::uint16_t>(packed.size()));
    packed[wire::check_at] = std::byte{wire::header_check(packed)};
    ucs::wire::writer(std::span(packed).subspan(wire::crc_at)).put(wire::checksum(packed));
    return packed;
}

}  // namespace ucp::address
