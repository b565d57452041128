// Ways to peers, as the device knows them.
#pragma once

#include <memory>
#include <unordered_map>

#include "uct/ib/base/domain.hpp"
#include "uct/ib/base/path.hpp"

namespace uct::ib {

// Address handles of one port: one for each peer port, however many endpoints or interfaces of that
// peer it leads to. Making one may ask the network for the peer's hardware address, so some that
// nobody uses are kept. Owned by an interface, before all users; owner context.
class address_handles {
public:
    static constexpr std::size_t most_unused = 64;

    address_handles(domain& on, const path_setup& from) noexcept : domain_(on), from_(from) {}

    // UCS_ERR_UNREACHABLE: the device knows no way. Not logged: who asks may be a stranger. May
    // throw std::bad_alloc.
    ucs::result<std::shared_ptr<ibv_ah>> get(const address& peer);
    [[nodiscard]] std::size_t size() const noexcept { return handles_.size(); }

private:
    struct key {
        raw_gid gid;
        std::uint16_t lid;
        friend bool operator==(const key&, const key&) = default;
    };
    struct hash {
        std::size_t operator()(const key& of) const noexcept;
    };
    void drop_unused() noexcept;

    domain& domain_;
    const path_setup from_;
    std::unordered_map<key, std::shared_ptr<ibv_ah>, hash> handles_;
};

}  // namespace uct::ib
