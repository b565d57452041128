#include "ucg/oob/local.hpp"

#include <algorithm>
#include <cstring>

#include "ucg/oob/local_board.hpp"
#include "ucg/oob/log.hpp"

namespace ucg::oob {
namespace {

constexpr ucs::time::nanoseconds time_between_patrols = 10 * ucs::time::millisecond;

// Blocks go over the board in pieces: a rank writes its piece when all have taken the one before,
// and takes those of the others when all are there. Owner context.
class local final : public exchange {
public:
    local(const membership& who, std::shared_ptr<const local_board> board) noexcept
        : exchange(who), board_(std::move(board)) {}
    ~local() override {
        // An object that nobody used here belongs to a process that has yet to come.
        if (has_entered_ && !is_copy()) leave(local_note::has_left);
    }
    // The memory has no name, and its descriptor is the processes' own.
    bool is_private() const noexcept override { return true; }

private:
    ucs_status_t start() override {
        if (!has_entered_) {
            const ucs_status_t status = board_->enter(rank());
            if (status != UCS_OK) return status;
            has_entered_ = true;
        }
        done_ = 0;
        is_given_ = false;
        return UCS_OK;
    }

    ucs_status_t advance() override {
        for (;;) {
            ucs_status_t status = is_given_ ? take() : give();
            if (status == UCS_INPROGRESS) return look_around();
            if (status != UCS_OK || (!is_given_ && done_ == now().bytes)) return status;
        }
    }

    // One's own blocks are on the board before it enters a round.
    ucs_status_t put(std::uint64_t number, std::span<const std::byte> mine) override {
        return board_->shelf_of(rank()).add(number, mine) ? UCS_OK : UCS_ERR_EXCEEDS_LIMIT;
    }

    ucs_status_t find(std::uint64_t number, rank_t of, std::span<std::byte> into,
                      std::size_t& bytes) override {
        const auto found = board_->shelf_of(of).find(number);
        if (!found.empty()) return hand_over(found, into, bytes);
        ucs::log::error(oob_log, "rank {} has published nothing under number {}", of, number);
        return UCS_ERR_INVALID_PARAM;
    }

    void finish(ucs_status_t why) noexcept override {
        if (why != UCS_OK && has_entered_) leave(static_cast<std::uint32_t>(-why));
    }

    [[nodiscard]] std::size_t piece_size() const noexcept {
        return std::min(now().bytes - done_, local_note::most_bytes);
    }

    ucs_status_t give() {
        for (rank_t of = 0; of < size(); ++of)
            if (board_->of(of).taken.load(std::memory_order_acquire) < pieces_)
                return UCS_INPROGRESS;
        local_note& mine = board_->of(rank());
        if (piece_size() != 0) std::memcpy(mine.piece, block(rank()).data() + done_, piece_size());
        mine.whole.store(now().bytes, std::memory_order_relaxed);
        mine.given.store(pieces_ + 1, std::memory_order_release);
        is_given_ = true;
        first_ = 0;
        return UCS_OK;
    }

    ucs_status_t take() {
        for (; first_ < size(); ++first_) {
            const local_note& from = board_->of(first_);
            if (from.given.load(std::memory_order_acquire) <= pieces_) return UCS_INPROGRESS;
            const std::uint64_t whole = from.whole.load(std::memory_order_relaxed);
            if (whole != now().bytes) return differs(first_, whole);
            if (piece_size() != 0)
                std::memcpy(block(first_).data() + done_, from.piece, piece_size());
        }
        done_ += piece_size();
        ++pieces_;
        board_->of(rank()).taken.store(pieces_, std::memory_order_release);
        is_given_ = false;
        return UCS_OK;
    }

    [[nodiscard]] bool is_waiting_for(rank_t who) const noexcept {
        const local_note& other = board_->of(who);
        return is_given_ ? other.given.load(std::memory_order_acquire) <= pieces_
                         : other.taken.load(std::memory_order_acquire) < pieces_;
    }

    // Nothing moved: is there still hope?
    ucs_status_t look_around() {
        const auto time = ucs::time::now();
        if (time < next_patrol_) return UCS_INPROGRESS;
        next_patrol_ = time + time_between_patrols;
        for (rank_t who = 0; who < size(); ++who) {
            // In this order: what it did before it went away counts.
            const bool dead = board_->is_dead(who);
            const std::uint32_t how = board_->of(who).status.load(std::memory_order_acquire);
            if ((dead || how != 0) && is_waiting_for(who)) return lost(who, how);
        }
        return is_late() ? too_late() : UCS_INPROGRESS;
    }

    ucs_status_t lost(rank_t who, std::uint32_t how) {
        const ucs_status_t why = local_note::failure_in(how);
        ucs::log::error(oob_log, "round {}: rank {} {}", now().number, who,
                        why != UCS_OK                 ? ucs_status_string(why)
                        : how == local_note::has_left ? "left"
                                                      : "died");
        return why == UCS_ERR_TIMED_OUT ? why : UCS_ERR_CONNECTION_RESET;
    }

    ucs_status_t too_late() {
        std::vector<rank_t> missing;
        for (rank_t who = 0; who < size(); ++who)
            if (is_waiting_for(who)) missing.push_back(who);
        // They may have come since the look above.
        if (missing.empty()) return UCS_INPROGRESS;
        return late(missing, {});
    }

    void leave(std::uint32_t how) noexcept {
        std::uint32_t none = 0;
        board_->of(rank()).status.compare_exchange_strong(none, how, std::memory_order_release);
    }

    const std::shared_ptr<const local_board> board_;
    bool has_entered_ = false;
    bool is_given_ = false;     // this rank's piece is on the board
    std::uint64_t pieces_ = 0;  // taken in all rounds
    std::size_t done_ = 0;      // bytes of each block of this round
    rank_t first_ = 0;          // the first whose piece was not taken yet
    ucs::time::nanoseconds next_patrol_ = 0;
};

}  // namespace

ucs::result<std::vector<std::unique_ptr<exchange>>> make_local(rank_t size, double timeout) {
    membership who{0, size, 0};
    if (const ucs_status_t status = who.check("ucg_oob_create_local", timeout); status != UCS_OK)
        return status;
    auto board = local_board::make(size);
    if (!board) return board.status();
    const auto shared = std::make_shared<const local_board>(std::move(*board));
    std::vector<std::unique_ptr<exchange>> all;
    for (; who.rank < size; ++who.rank)
        all.push_back(std::make_unique<local>(who, shared));
    return all;
}

}  // namespace ucg::oob
