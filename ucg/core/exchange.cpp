#include "ucg/core/exchange.hpp"

#include <utility>

#include "ucg/algo/table.hpp"
#include "ucg/core/group.hpp"
#include "ucs/time/clock.hpp"

namespace ucg {

std::shared_ptr<net::lookup_address_book> oob_exchange::publish(
    std::span<const std::byte> address) {
    std::uint64_t number = 0;
    if (oob_.publish == nullptr ||
        oob_.publish(oob_.arg, address.data(), address.size(), &number) != UCS_OK)
        return {};
    return std::make_shared<net::lookup_address_book>(oob_, number);
}

ucs_status_t oob_exchange::begin(const void* own, void* all, std::size_t bytes) noexcept {
    release();
    const ucs_status_t status = oob_.allgather(oob_.arg, own, all, bytes, &request_);
    under_way_ = status == UCS_OK;
    return status;
}

ucs_status_t oob_exchange::test() noexcept {
    return under_way_ ? oob_.test(oob_.arg, request_) : UCS_ERR_INVALID_PARAM;
}

void oob_exchange::release() noexcept {
    if (std::exchange(under_way_, false)) oob_.release(oob_.arg, std::exchange(request_, nullptr));
}

group_exchange::group_exchange(group& parent)
    : parent_(parent), round_(parent.fabric(), parent.frames(), schedule::series::group_splits) {
    ++parent_.used_by().splits;
}

// If this rank gives up the round, the parent's fabric drops the messages of the round that other
// ranks still send.
group_exchange::~group_exchange() {
    round_.fail(UCS_ERR_CANCELED);
    while (round_.status() == UCS_INPROGRESS) {
        static_cast<void>(parent_.get_context().progress());
        ucs::time::simulation_yield();
    }
    --parent_.used_by().splits;
}

schedule::rank_t group_exchange::rank() const noexcept {
    return parent_.rank();
}

schedule::rank_t group_exchange::size() const noexcept {
    return parent_.size();
}

net::member_addresses group_exchange::addresses() const {
    return parent_.addresses();
}

ucs_status_t group_exchange::begin(const void* own, void* all, std::size_t bytes) noexcept {
    schedule::call args;
    args.kind = schedule::collective::allgather;
    args.from = own;
    args.into = all;
    args.count = bytes;
    // The node's engine runs operations in the order of the program's calls, and this round is not
    // one of these. Without a node placement, an algorithm that only sends messages is chosen.
    schedule::shape shape = parent_.shape_of(args);
    shape.node_placement = nullptr;
    const schedule::algorithm& algorithm = algo::choose(args, shape, parent_.links(), false);
    const ucs_status_t status = round_.init(algorithm, args);
    if (status == UCS_OK) round_.start();
    return status;
}

}  // namespace ucg
