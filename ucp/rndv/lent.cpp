#include "ucp/rndv/lent.hpp"

#include <cstring>
#include <new>

#include "ucp/core/peer.hpp"

namespace ucp {

std::unique_ptr<lent_memory> lend(const peer& to, std::span<std::byte> bytes,
                                  uct::memory_access allowed) noexcept {
    uct::memory_domain* const domain = to.rma() != nullptr ? to.rma_domain() : nullptr;
    if (domain == nullptr) return nullptr;
    try {
        auto made = std::make_unique<lent_memory>();
        auto shared = domain->lend(bytes, allowed);
        if (!shared) return nullptr;
        made->shared = std::move(*shared);
        if (packed_key_length(*made) > longest_lent_key) return nullptr;
        return made;
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

std::size_t packed_key_length(const lent_memory& from) noexcept {
    return 2 + from.shared.key.size();
}

std::size_t pack_key(const peer& to, const lent_memory& from, std::byte* into) noexcept {
    const std::vector<std::byte>& key = from.shared.key;
    into[0] = std::byte{to.own_device()};
    into[1] = static_cast<std::byte>(key.size());
    std::memcpy(into + 2, key.data(), key.size());
    return packed_key_length(from);
}

std::unique_ptr<uct::remote_memory> take_key(const ep& from, std::span<const std::byte> key,
                                             uct::memory_access wanted) {
    const peer& of = from.remote();
    uct::memory_domain* const domain = of.rma() != nullptr ? of.rma_domain() : nullptr;
    if (domain == nullptr || key.size() < 2) return nullptr;
    const auto device = std::to_integer<std::uint8_t>(key[0]);
    const auto length = std::to_integer<std::size_t>(key[1]);
    if (device != of.rma_device() || length > key.size() - 2) return nullptr;
    auto made = domain->attach(key.subspan(2, length), wanted);
    return made ? std::move(*made) : nullptr;
}

}  // namespace ucp
