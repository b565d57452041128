// A limit on memory that all peers of a worker share.
#pragma once

#include <cstdint>

namespace ucp {

// Counts the bytes of a shared limit that one peer takes up. Plain value.
class limit_share {
public:
    [[nodiscard]] std::uint64_t used() const noexcept { return used_; }

private:
    friend class shared_limit;
    std::uint64_t used_ = 0;
};

// Counts the bytes that a worker keeps for its peers: for each one, and for all together. A single
// peer may use the whole limit; when the limit is exceeded, the peer with the largest share fails.
// Two other limits cannot be counted this way: connection_shares counts by connection, because
// eager messages name no endpoint and so no peer, and uninvited_peers counts endpoints and lanes,
// not bytes. Owner context.
class shared_limit {
public:
    explicit shared_limit(std::uint64_t most) noexcept : most_(most) {}

    // Changes how many bytes all peers may take up.
    void set_most(std::uint64_t bytes) noexcept { most_ = bytes; }

    void take(limit_share& user, std::uint64_t bytes) noexcept {
        user.used_ += bytes;
        used_ += bytes;
    }
    void give_back(limit_share& user, std::uint64_t bytes) noexcept {
        user.used_ -= bytes;
        used_ -= bytes;
    }

    [[nodiscard]] std::uint64_t used() const noexcept { return used_; }
    [[nodiscard]] bool is_passed() const noexcept { return used_ > most_; }
    // Returns whether so many more bytes may be taken.
    [[nodiscard]] bool has_room_for(std::uint64_t bytes) const noexcept {
        return !is_passed() && bytes <= most_ - used_;
    }

private:
    std::uint64_t used_ = 0;
    std::uint64_t most_;
};

}  // namespace ucp
