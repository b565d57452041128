#include "test/sim/ucg/board.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace group_sim {

board::board(std::uint32_t size, const uct::sim::fabric& network, uct::sim::random& dice,
             std::function<bool(std::uint32_t)> is_dead)
    : network_(network), dice_(dice), is_dead_(std::move(is_dead)), seats_(size) {
    for (std::uint32_t place = 0; place < size; ++place) {
        seats_[place].of = this;
        seats_[place].place = place;
        ucg_oob_t member = UCG_OOB_INIT;
        member.rank = place;
        member.size = size;
        member.allgather = allgather;
        member.test = test;
        member.release = release;
        member.arg = &seats_[place];
        members_.push_back(member);
    }
}

ucs_status_t board::allgather(void* arg, const void* send, void* recv, std::size_t bytes,
                              void** request) {
    seat& self = *static_cast<seat*>(arg);
    board& of = *self.of;
    if (self.failure != UCS_OK) return self.failure;
    const std::size_t round = self.rounds++;
    if (of.rounds_.size() <= round) of.rounds_.resize(round + 1);
    of.rounds_[round].resize(of.seats_.size());
    said& mine = of.rounds_[round][self.place];
    const auto* const first = static_cast<const std::byte*>(send);
    mine.there = true;
    mine.seen_at = of.network_.now() + of.dice_.below(of.dice_.chance(0.2) ? 1'000'000 : 5000);
    mine.what.assign(first, first + bytes);
    self.into = recv;
    self.bytes = bytes;
    *request = arg;
    return UCS_OK;
}

ucs_status_t board::test(void* arg, void*) {
    seat& self = *static_cast<seat*>(arg);
    return self.of->look(self);
}

ucs_status_t board::look(seat& by) {
    if (by.into == nullptr) return by.failure;  // it has ended before
    const std::vector<said>& all = rounds_[by.rounds - 1];
    for (std::uint32_t place = 0; place < all.size(); ++place) {
        const said& each = all[place];
        if (each.there && network_.now() >= each.seen_at) continue;
        if (each.there || !is_dead_(place)) return UCS_INPROGRESS;
        by.into = nullptr;
        return by.failure = UCS_ERR_CONNECTION_RESET;
    }
    auto* into = static_cast<std::byte*>(std::exchange(by.into, nullptr));
    for (const said& each : all) {
        if (each.what.size() != by.bytes) return by.failure = UCS_ERR_INVALID_PARAM;
        into = std::ranges::copy(each.what, into).out;
    }
    return UCS_OK;
}

// The memory of a round that has not ended is the exchange's until here. Who gives one up is
// waited for in vain by those who come to the next.
void board::release(void* arg, void*) {
    seat& self = *static_cast<seat*>(arg);
    if (self.into == nullptr) return;
    std::memset(self.into, 0, self.of->seats_.size() * self.bytes);
    self.into = nullptr;
    self.failure = UCS_ERR_CANCELED;
}

}  // namespace group_sim
