// Memory that a simulated device knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

namespace uct::sim {

// What peers may do with a piece of memory, or want to. Atomic operations read and write.
struct peer_rights {
    bool reads;
    bool writes;
};

// Pieces of memory by their keys, and what peers may do with them. Shared by the domain, the
// interfaces on it and whoever keeps a piece; one thread.
class regions {
public:
    // False: that key is taken.
    bool add(std::uint32_t key, std::span<const std::byte> bytes, peer_rights allowed) {
        return known_.try_emplace(key, region{bytes, allowed}).second;
    }
    void remove(std::uint32_t key) noexcept { known_.erase(key); }
    [[nodiscard]] std::size_t count() const noexcept { return known_.size(); }

    // Whether peers may do that there.
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
