#include "test/unit/ucg/core/board.hpp"

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

ucs_status_t board::allgather(void* arg, const void* send, void* recv, std::size_t bytes,
                              void** request) {
    seat& self = *static_cast<seat*>(arg);
    board& owner = *self.owner;
    const std::size_t round = self.rounds++;
    if (owner.blocks_.size() <= round) owner.blocks_.resize(round + 1);
    auto& blocks = owner.blocks_[round];
    blocks.resize(owner.seats_.size());
    const auto* const first = static_cast<const std::byte*>(send);
    if (!self.silent) blocks[self.rank].assign(first, first + bytes);
    self.recv = recv;
    self.bytes = bytes;
    *request = arg;
    return UCS_OK;
}

ucs_status_t board::test(void* arg, void*) {
    seat& self = *static_cast<seat*>(arg);
    const auto& blocks = self.owner->blocks_[self.rounds - 1];
    for (const auto& each : blocks)
        if (each.size() != self.bytes) return UCS_INPROGRESS;
    auto* into = static_cast<std::byte*>(std::exchange(self.recv, nullptr));
    if (into == nullptr) return UCS_OK;  // it has ended before
    for (const auto& each : blocks) {
        std::memcpy(into, each.data(), each.size());
        into += each.size();
    }
    return UCS_OK;
}

// The exchange owns the memory of a round until the round is released.
void board::release(void* arg, void*) {
    const seat& self = *static_cast<seat*>(arg);
    if (self.recv != nullptr) std::memset(self.recv, 0, self.owner->seats_.size() * self.bytes);
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
