// The endpoints to one peer.
#pragma once

#include "ucp/core/ep.hpp"
#include "ucs/datastruct/intrusive.hpp"

namespace ucp {

// Lists the endpoints by number. Each endpoint holds a reference to the peer. Owner context.
class peer_endpoints {
public:
    // Endpoints by socket address find each other by their ids, so they have a number range of
    // their own.
    static constexpr std::uint64_t first_socket_number = std::uint64_t{1} << 63;
    // So do the endpoints of private connections (ucp/capi/private_flags.hpp): the program's end
    // has an even number, and the other end, which no program adopts, has the odd number above.
    static constexpr std::uint64_t first_apart_number = std::uint64_t{1} << 62;
    [[nodiscard]] static constexpr bool is_apart(std::uint64_t number) noexcept {
        return number >= first_apart_number && number < first_socket_number;
    }

    explicit peer_endpoints(peer& of_peer) noexcept : peer_(of_peer) {}

    void attach(ep& user) noexcept;
    void detach(ep& user) noexcept;
    // Offers the endpoint, which a request of the peer made, to a later ucp_ep_create.
    void offer(ep& made) noexcept { unowned_.push_back(made); }
    // The offered endpoints that the program has not asked for yet.
    [[nodiscard]] auto& unowned() noexcept { return unowned_; }
    [[nodiscard]] std::uint64_t next_number() const noexcept { return next_number_; }
    // Returns the first and the last of the endpoints with this number.
    [[nodiscard]] auto with_number(std::uint64_t number) noexcept {
        return all_.equal_range(number);
    }

    [[nodiscard]] auto begin() noexcept { return all_.begin(); }
    [[nodiscard]] auto end() noexcept { return all_.end(); }

private:
    struct number_of {
        using type = std::uint64_t;
        type operator()(const ep& each) const noexcept { return each.number(); }
    };

    peer& peer_;
    ucs::datastruct::tree_multiset<ep, &ep::peer_hook, number_of> all_;
    ucs::datastruct::auto_list<ep, &ep::unwanted_hook> unowned_;
    std::uint64_t next_number_ = 0;
};

}  // namespace ucp
