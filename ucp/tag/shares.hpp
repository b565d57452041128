// Counts the unexpected bytes of each connection once a receiver stores many.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "ucs/type/allocated.hpp"

namespace ucp {

// Counts bytes for each connection by its number (uct::iface::connection_of). Owned by
// unexpected_memory; owner context.
class connection_shares {
public:
    struct share {
        std::uint64_t connection = 0;
        std::size_t bytes = 0;
    };

    // Returns false if there is no memory; nothing is counted then.
    [[nodiscard]] bool add(std::uint64_t connection, std::size_t bytes) noexcept {
        return ucs::allocated([&] { bytes_[connection] += bytes; });
    }
    // Does nothing for a connection that was forgotten meanwhile.
    void take_back(std::uint64_t connection, std::size_t bytes) noexcept {
        const auto found = bytes_.find(connection);
        if (found == bytes_.end()) return;
        found->second -= std::min(found->second, bytes);
        if (found->second == 0) bytes_.erase(found);
    }
    void forget(std::uint64_t connection) noexcept { bytes_.erase(connection); }

    [[nodiscard]] share largest() const noexcept {
        share most;
        for (const auto& [connection, bytes] : bytes_)
            if (bytes > most.bytes) most = {connection, bytes};
        return most;
    }
    // Returns the sum of bytes over the connections for which `test(number)` is true.
    template<class Test>
    [[nodiscard]] std::size_t sum_of(const Test& test) const {
        std::size_t sum = 0;
        for (const auto& [connection, bytes] : bytes_)
            if (test(connection)) sum += bytes;
        return sum;
    }
    [[nodiscard]] std::size_t count() const noexcept { return bytes_.size(); }

private:
    std::unordered_map<std::uint64_t, std::size_t> bytes_;
};

}  // namespace ucp
