// Memory that is registered with a simulated device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

namespace uct::sim {

// Access rights of peers to a piece of memory, or the rights that an access needs. Atomic
// operations read and write.
struct peer_rights {
    bool reads;
    bool writes;
};

// Registered memory by key, with the access rights of peers. Shared by the domain, the interfaces
// on it and the keepers; one thread.
class regions {
public:
    // Returns false if the key is in use.
    bool add(std::uint32_t key, std::span<const std::byte> bytes, peer_rights allowed) {
        return known_.try_emplace(key, region{bytes, allowed}).second;
    }
    void remove(std::uint32_t key) noexcept { known_.erase(key); }
    [[nodiscard]] std::size_t count() const noexcept { return known_.size(); }

    // Returns true if peers may access that range in that way.
    [[nodiscard]] bool allows(std::uint32_t key, std::uint64_t address, std::size_t length,
                              peer_rights wanted) const noexcept {
        const auto found = known_.find(key);
        if (found == known_.end()) return false;
        const auto& [bytes, allowed] = found->second;
        const std::uint64_t offset = address - reinterpret_cast<std::uint64_t>(bytes.data());
        return offset <= bytes.size() && length <= bytes.size() - offset &&
               (allowed.reads || !wanted.reads) && (allowed.writes || !wanted.writes);
    }

private:
    struct region {
        std::span<const std::byte> bytes;
        peer_rights allowed;
    };
    std::map<std::uint32_t, region> known_;
};

}  // namespace uct::sim
