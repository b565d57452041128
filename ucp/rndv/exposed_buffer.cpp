#include "ucp/rndv/exposed_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "ucp/core/peer.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/proto/striped.hpp"
#include "ucs/type/allocated.hpp"
#include "uct/api/peer_bytes.hpp"

namespace ucp {

namespace {

// Returns this worker's memory domain for the lane that leads to this device of the peer, or
// nullptr if no lane does.
uct::memory_domain* domain_of_lane_to(const peer& remote, std::uint8_t device) noexcept {
    for (std::size_t i = 0; i < remote.lanes().rail_count(); ++i) {
        if (remote.lanes().rail(i).device == device) return remote.lanes().rail(i).domain();
    }
    const lane& devices = remote.lanes().device;
    if (device == mem::cuda_devices && devices.is_open()) return devices.domain();
    return nullptr;
}

}  // namespace

std::unique_ptr<exposed_buffer> expose(const peer& to, std::span<std::byte> bytes,
                                       uct::memory_access allowed) noexcept {
    if (to.lanes().rail_count() == 0) return nullptr;
    const std::size_t rails = rails_for(to, bytes.size());
    try {
        auto made = std::make_unique<exposed_buffer>();
        for (std::size_t i = 0; i < rails; ++i) {
            const lane& each = to.lanes().rail(i);
            auto shared = each.domain()->expose(bytes, allowed);
            if (shared) {
                made->shared.push_back({each.own_device, std::move(*shared)});
                if (packed_keys_length(*made) > longest_exposed_keys) made->shared.pop_back();
            }
            if (made->shared.empty()) return nullptr;
        }
        return made;
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

std::unique_ptr<exposed_buffer> expose_on_device(const peer& to,
                                                 std::span<std::byte> bytes) noexcept {
    std::unique_ptr<exposed_buffer> made;
    const bool is_made = ucs::allocated([&] {
        auto shared = to.lanes().device.domain()->expose(bytes, uct::memory_access::read);
        if (!shared) return;
        made = std::make_unique<exposed_buffer>();
        made->shared.push_back({mem::cuda_devices, std::move(*shared)});
        if (packed_keys_length(*made) > longest_exposed_keys) made.reset();
    });
    return is_made ? std::move(made) : nullptr;
}

std::size_t packed_keys_length(const exposed_buffer& from) noexcept {
    std::size_t length = 0;
    for (const mem::device_memory& each : from.shared)
        length += 2 + each.shared.key.size();
    return length;
}

std::size_t pack_keys(const exposed_buffer& from, std::byte* into) noexcept {
    for (const mem::device_memory& each : from.shared) {
        const std::vector<std::byte>& key = each.shared.key;
        into[0] = std::byte{each.device};
        into[1] = static_cast<std::byte>(key.size());
        std::memcpy(into + 2, key.data(), key.size());
        into += 2 + key.size();
    }
    return packed_keys_length(from);
}

// The keys are copied before they are parsed, because the message may be in shared memory that the
// peer can still change.
std::unique_ptr<mem::access_path> take_keys(const ep& from, std::span<const std::byte> from_peer,
                                            uct::memory_access wanted) noexcept try {
    const peer& remote = from.remote();
    const bool uses_keys = remote.lanes().rail_count() > 0 || remote.lanes().device.is_open();
    if (!uses_keys || from_peer.size() > longest_exposed_keys) return nullptr;
    const std::vector<std::byte> copy = uct::peer_bytes(from_peer.data(), from_peer.size()).copy();
    std::span<const std::byte> keys(copy);
    auto made = std::make_unique<mem::access_path>();
    while (keys.size() >= 2) {
        const auto device = std::to_integer<std::uint8_t>(keys[0]);
        const auto length = std::to_integer<std::size_t>(keys[1]);
        if (length > keys.size() - 2) break;
        uct::memory_domain* const domain = domain_of_lane_to(remote, device);
        if (domain != nullptr && made->key_for(device) == nullptr) {
            auto memory = domain->attach(keys.subspan(2, length), wanted);
            if (!memory) break;
            made->add(device, std::move(*memory));
        }
        keys = keys.subspan(2 + length);
    }
    const bool is_usable =
        made->key_for(mem::cuda_devices) != nullptr ||
        (remote.lanes().rail_count() > 0 && made->key_for(remote.lanes().rma_device()) != nullptr);
    return is_usable ? std::move(made) : nullptr;
} catch (const std::bad_alloc&) {
    return nullptr;
}

rts_info read_rts(const ep& from, const wire::rts_header& header,
                  std::span<const std::byte> keys) noexcept {
    rts_info message{header.total, header.request, header.address,
                     (header.flags & wire::rts_confirm) != 0,
                     take_keys(from, keys, uct::memory_access::read)};
    // A processor must not read memory of a device.
    const bool has_device_key =
        message.memory != nullptr && message.memory->key_for(mem::cuda_devices) != nullptr;
    if ((header.flags & wire::rts_on_device) != 0 && !has_device_key) message.address = 0;
    return message;
}

}  // namespace ucp
