#include "test/support/oob_board.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace test {

board::board(std::uint32_t size) : seats_(size), members_(size) {
    for (std::uint32_t rank = 0; rank < size; ++rank) {
        seats_[rank] = {this, rank};
        members_[rank] = {sizeof(ucg_oob_t), rank,    size,    allgather, test,     release,
                          &seats_[rank],     publish, look_up, withdraw,  progress, 0};
    }
}

void board::be_strict() {
    strict_ = true;
    for (ucg_oob_t& each : members_) {
        each.publish = nullptr;
        each.lookup = nullptr;
        each.withdraw = nullptr;
        each.progress = nullptr;
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
    const auto* const first = static_cast<const std::byte*>(send);
    if (!self.silent)
        owner.rounds_[round][self.rank] = {true, owner.next_arrival(), {first, first + bytes}};
    self.recv = recv;
    self.bytes = bytes;
    *request = arg;
    return UCS_OK;
}

ucs_status_t board::test(void* arg, void*) {
    seat& self = *static_cast<seat*>(arg);
    return self.owner->test_round(self);
}

ucs_status_t board::test_round(seat& self) {
    if (self.recv == nullptr) return self.failure;  // the round has ended before
    const std::vector<contribution>& all = rounds_[self.rounds - 1];
    for (std::uint32_t rank = 0; rank < all.size(); ++rank) {
        const contribution& each = all[rank];
        if (each.is_posted && now() >= each.visible_at &&
            (strict_ || each.data.size() == self.bytes))
            continue;
        if (each.is_posted || !is_dead(rank)) return UCS_INPROGRESS;
        self.recv = nullptr;
        return self.failure = UCS_ERR_CONNECTION_RESET;
    }
    auto* into = static_cast<std::byte*>(std::exchange(self.recv, nullptr));
    for (const contribution& each : all) {
        if (each.data.size() != self.bytes) return self.failure = UCS_ERR_INVALID_PARAM;
        into = std::ranges::copy(each.data, into).out;
    }
    return UCS_OK;
}

// The exchange owns the memory of a round until here. After a rank cancels a round of a strict
// exchange, later rounds never complete on the other ranks.
void board::release(void* arg, void*) {
    seat& self = *static_cast<seat*>(arg);
    if (self.recv == nullptr) return;
    std::memset(self.recv, 0, self.owner->seats_.size() * self.bytes);
    self.recv = nullptr;
    if (self.owner->strict_) self.failure = UCS_ERR_CANCELED;
}

ucs_status_t board::publish(void* arg, const void* block, std::size_t bytes,
                            std::uint64_t* number) {
    seat& self = *static_cast<seat*>(arg);
    board& owner = *self.owner;
    *number = self.published++;
    if (owner.published_.size() < self.published) owner.published_.resize(self.published);
    auto& all = owner.published_[*number];
    all.resize(owner.seats_.size());
    const auto* const first = static_cast<const std::byte*>(block);
    all[self.rank].assign(first, first + bytes);
    ++owner.open_;
    return UCS_OK;
}

ucs_status_t board::look_up(void* arg, std::uint64_t number, std::uint32_t rank, void* block,
                            std::size_t* bytes) {
    board& owner = *static_cast<seat*>(arg)->owner;
    if (owner.lost_) return UCS_ERR_CONNECTION_RESET;
    if (owner.delay_ != 0 && ++owner.turns_ % (owner.delay_ + 1) != 0) return UCS_INPROGRESS;
    const auto& found = owner.published_.at(number).at(rank);
    if (found.empty()) return UCS_ERR_NO_ELEM;
    if (found.size() > *bytes) return UCS_ERR_BUFFER_TOO_SMALL;
    std::ranges::copy(found, static_cast<std::byte*>(block));
    *bytes = found.size();
    ++owner.answers_;
    return UCS_OK;
}

ucs_status_t board::withdraw(void* arg, std::uint64_t) {
    board& owner = *static_cast<seat*>(arg)->owner;
    if (owner.asking_) return UCS_INPROGRESS;
    --owner.open_;
    return UCS_OK;
}

void board::progress(void*) {}

}  // namespace test
