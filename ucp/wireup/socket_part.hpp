// The part of an endpoint by socket address that the wireup uses; ucp/cm has the rest.
#pragma once

#include <cstdint>

#include "ucp/wireup/state.hpp"

namespace ucp::wireup {

// Owned by its endpoint; owner context.
class socket_part {
public:
    enum class side : std::uint8_t { client, server };

    socket_part(side own_side, std::uint64_t token) noexcept : side_(own_side), token_(token) {}
    virtual ~socket_part() = default;

    // The endpoint's connection state changed; see ucp/wireup/state.hpp. Calls no callback of the
    // program.
    virtual void on_state(state now) noexcept = 0;

    [[nodiscard]] bool is_client() const noexcept { return side_ == side::client; }
    // The client's random number, by which it recognizes its server's bind.
    [[nodiscard]] std::uint64_t token() const noexcept { return token_; }
    // Returns whether this is a client without its server's bind; it has no peer yet.
    [[nodiscard]] bool waits_for_bind() const noexcept { return is_client() && !bound_; }
    void bind() noexcept { bound_ = true; }

private:
    const side side_;
    bool bound_ = false;
    const std::uint64_t token_;
};

}  // namespace ucp::wireup
