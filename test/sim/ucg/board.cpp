#include "test/sim/ucg/board.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace group_sim {

board::board(std::uint32_t size, const uct::sim::fabric& network, uct::sim::random& dice,
             std::function<bool(std::uint32_t)> is_dead)
    : network_(network), dice_(dice), is_dead_(std::move(is_dead)), seats_(size) {
    for (std::uint32_t rank = 0; rank < size; ++rank) {
        seats_[rank].owner = this;
        seats_[rank].rank = rank;
        ucg_oob_t member = UCG_OOB_INIT;
        member.rank = rank;
        member.size = size;
        member.allgather = allgather;
        member.test = test;
        member.release = release;
        member.arg = &seats_[rank];
        members_.push_back(member);
    }
}

ucs_status_t board::allgather(void* arg, const void* send, void* recv, std::size_t bytes,
                              void** request) {
    seat& self = *static_cast<seat*>(arg);
    board& owner = *self.owner;
    if (self.failure != UCS_OK) return self.failure;
    const std::size_t round = self.rounds++;
    if (owner.rounds_.size() <= round) owner.rounds_.resize(round + 1);
    owner.rounds_[round].resize(owner.seats_.size());
    contribution& own = owner.rounds_[round][self.rank];
    const auto* const first = static_cast<const std::byte*>(send);
    own.is_posted = true;
    own.visible_at =
        owner.network_.now() + owner.dice_.below(owner.dice_.chance(0.2) ? 1'000'000 : 5000);
    own.data.assign(first, first + bytes);
    self.into = recv;
    self.bytes = bytes;
    *request = arg;
    return UCS_OK;
}

ucs_status_t board::test(void* arg, void*) {
    seat& self = *static_cast<seat*>(arg);
    return self.owner->test_round(self);
}

ucs_status_t board::test_round(seat& self) {
    if (self.into == nullptr) return self.failure;  // the round has ended before
    const std::vector<contribution>& all = rounds_[self.rounds - 1];
    for (std::uint32_t rank = 0; rank < all.size(); ++rank) {
        const contribution& each = all[rank];
        if (each.is_posted && network_.now() >= each.visible_at) continue;
        if (each.is_posted || !is_dead_(rank)) return UCS_INPROGRESS;
        self.into = nullptr;
        return self.failure = UCS_ERR_CONNECTION_RESET;
    }
    auto* into = static_cast<std::byte*>(std::exchange(self.into, nullptr));
    for (const contribution& each : all) {
        if (each.data.size() != self.bytes) return self.failure = UCS_ERR_INVALID_PARAM;
        into = std::ranges::copy(each.data, into).out;
    }
    return UCS_OK;
}

// The exchange owns the memory of a round until here. After a rank cancels a round, later rounds
// never complete on the other ranks.
void board::release(void* arg, void*) {
    seat& self = *static_cast<seat*>(arg);
    if (self.into == nullptr) return;
    std::memset(self.into, 0, self.owner->seats_.size() * self.bytes);
    self.into = nullptr;
    self.failure = UCS_ERR_CANCELED;
}

}  // namespace group_sim
