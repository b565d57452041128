// How many endpoints peers may make here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ucp {

// Counts endpoints that requests of peers made and that the program has not asked for, of a peer or
// of all peers of a worker. Whoever makes one pays one message for it, and the worker pays memory
// as long as the peer likes. Plain value.
class uninvited_count {
public:
    // The limit of one peer. Programs in order have a few endpoints to a worker.
    static constexpr std::size_t most_of_one = 4096;
    // The limit of all peers. A peer that is alone with its endpoint takes about 16 KiB with its
    // lanes; together they may take what ucs::sys::most_for_peers says.
    [[nodiscard]] static constexpr std::size_t most_of_all(std::uint64_t bytes) noexcept {
        constexpr std::uint64_t bytes_of_one = 16 * 1024;
        return std::max<std::size_t>(most_of_one, bytes / bytes_of_one);
    }

    [[nodiscard]] std::size_t now() const noexcept { return now_; }
    void add() noexcept { ++now_; }
    void remove() noexcept { --now_; }

private:
    std::size_t now_ = 0;
};

}  // namespace ucp
