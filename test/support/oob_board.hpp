// Out-of-band exchange for tests whose ranks run in one thread.
#pragma once

#include <ucg/api/ucg.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace test {

// An out-of-band exchange of ranks that live in one thread. A class can derive from it to delay
// contributions and to let ranks die.
class board {
public:
    explicit board(std::uint32_t size) : seats_(size), members_(size) {
        for (std::uint32_t rank = 0; rank < size; ++rank) {
            seats_[rank] = {this, rank};
            members_[rank] = {sizeof(ucg_oob_t), rank,    size,    allgather, test,     release,
                              &seats_[rank],     publish, look_up, withdraw,  progress, 0};
        }
    }
    virtual ~board() = default;
    board(const board&) = delete;
    board& operator=(const board&) = delete;

    [[nodiscard]] const ucg_oob_t* oob(std::uint32_t rank) const { return &members_[rank]; }
    // This rank does not take part (any more).
    void silence(std::uint32_t rank) { seats_[rank].silent = true; }
    // From now on a lookup is answered after it was made this many times.
    void delay_answers(unsigned times) { delay_ = times; }
    // From now on no address is found.
    void lose_answers() { lost_ = true; }
    // Returns whether other ranks may still look up addresses of a rank that withdraws.
    void keep_asking(bool on) { asking_ = on; }
    // Number of addresses that were found.
    [[nodiscard]] unsigned answers() const { return answers_; }
    // Ranks that may still look up addresses, of everything published.
    [[nodiscard]] unsigned open() const { return open_; }

protected:
    // The time at which other ranks see a contribution that is made now, and the time.
    virtual std::uint64_t next_arrival() { return 0; }
    [[nodiscard]] virtual std::uint64_t now() const { return 0; }
    // A round that waits for a dead rank fails.
    [[nodiscard]] virtual bool is_dead(std::uint32_t) const { return false; }
    // Ranks cannot publish addresses, and a canceled round, or blocks of different lengths, end the
    // exchange.
    void be_strict() {
        strict_ = true;
        for (ucg_oob_t& each : members_) {
            each.publish = nullptr;
            each.lookup = nullptr;
            each.withdraw = nullptr;
            each.progress = nullptr;
        }
    }

private:
    struct seat {
        board* owner;
        std::uint32_t rank;
        bool silent = false;
        std::size_t rounds = 0;  // begun
        void* recv = nullptr;
        std::size_t bytes = 0;
        std::uint64_t published = 0;
        ucs_status_t failure = UCS_OK;  // permanent
    };
    struct contribution {
        bool is_posted = false;
        std::uint64_t visible_at = 0;
        std::vector<std::byte> data;
    };
    static ucs_status_t allgather(void* arg, const void* send, void* recv, std::size_t bytes,
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
    static ucs_status_t test(void* arg, void*) {
        seat& self = *static_cast<seat*>(arg);
        return self.owner->test_round(self);
    }
    ucs_status_t test_round(seat& self) {
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
    static void release(void* arg, void*) {
        seat& self = *static_cast<seat*>(arg);
        if (self.recv == nullptr) return;
        std::memset(self.recv, 0, self.owner->seats_.size() * self.bytes);
        self.recv = nullptr;
        if (self.owner->strict_) self.failure = UCS_ERR_CANCELED;
    }
    static ucs_status_t publish(void* arg, const void* block, std::size_t bytes,
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
    static ucs_status_t look_up(void* arg, std::uint64_t number, std::uint32_t rank, void* block,
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
    static ucs_status_t withdraw(void* arg, std::uint64_t) {
        board& owner = *static_cast<seat*>(arg)->owner;
        if (owner.asking_) return UCS_INPROGRESS;
        --owner.open_;
        return UCS_OK;
    }
    static void progress(void*) {}

    std::vector<seat> seats_;
    std::vector<ucg_oob_t> members_;
    std::vector<std::vector<contribution>> rounds_;               // by round and rank
    std::vector<std::vector<std::vector<std::byte>>> published_;  // by number and rank
    unsigned delay_ = 0;
    unsigned turns_ = 0;
    unsigned answers_ = 0;
    unsigned open_ = 0;
    bool lost_ = false;
    bool strict_ = false;
    bool asking_ = false;
};

}  // namespace test
