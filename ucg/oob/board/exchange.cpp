#include <algorithm>
#include <cstring>

#include "ucg/oob/board/board.hpp"
#include "ucg/oob/factories.hpp"
#include "ucg/oob/log.hpp"

namespace ucg::oob {
namespace {

constexpr ucs::time::nanoseconds check_interval = 10 * ucs::time::millisecond;

// Blocks pass over the board in pieces. A rank writes its piece when all ranks have read the piece
// before, and reads the pieces of all ranks when all are written. Owner context.
class local final : public exchange {
public:
    local(const rank_params& self, std::shared_ptr<const local_board> board) noexcept
        : exchange(self), board_(std::move(board)) {}
    ~local() override {
        // An object that this process did not use may belong to a process that is still to be
        // forked.
        if (has_entered_ && !is_copy()) leave(local_rank_state::has_left);
    }
    // The memory has no name, and only these processes hold its descriptor.
    bool is_private() const noexcept override { return true; }

private:
    ucs_status_t start() override {
        if (!has_entered_) {
            const ucs_status_t status = board_->enter(rank());
            if (status != UCS_OK) return status;
            has_entered_ = true;
        }
        done_ = 0;
        is_piece_written_ = false;
        return UCS_OK;
    }

    ucs_status_t advance() override {
        for (;;) {
            ucs_status_t status = is_piece_written_ ? read_pieces() : write_piece();
            if (status == UCS_INPROGRESS) return check_peers();
            if (status != UCS_OK || (!is_piece_written_ && done_ == current().bytes)) return status;
        }
    }

    // A rank publishes its blocks before it enters the round that makes them visible.
    ucs_status_t put(std::uint64_t number, std::span<const std::byte> block) override {
        return board_->publications_of(rank()).add(number, block) ? UCS_OK : UCS_ERR_EXCEEDS_LIMIT;
    }

    ucs_status_t find(std::uint64_t number, rank_t publisher, std::span<std::byte> into,
                      std::size_t& bytes) override {
        const auto found = board_->publications_of(publisher).find(number);
        if (!found.empty()) return copy_block(found, into, bytes);
        ucs::log::error(oob_log, "rank {} has published nothing under number {}", publisher,
                        number);
        return UCS_ERR_INVALID_PARAM;
    }

    void finish(ucs_status_t status) noexcept override {
        if (status != UCS_OK && has_entered_) leave(static_cast<std::uint32_t>(-status));
    }

    [[nodiscard]] std::size_t piece_size() const noexcept {
        return std::min(current().bytes - done_, local_rank_state::max_bytes);
    }

    ucs_status_t write_piece() {
        for (rank_t peer = 0; peer < size(); ++peer)
            if (board_->state_of(peer).pieces_read.load(std::memory_order_acquire) < pieces_)
                return UCS_INPROGRESS;
        local_rank_state& own = board_->state_of(rank());
        if (piece_size() != 0) std::memcpy(own.piece, block(rank()).data() + done_, piece_size());
        own.block_bytes.store(current().bytes, std::memory_order_relaxed);
        own.pieces_written.store(pieces_ + 1, std::memory_order_release);
        is_piece_written_ = true;
        first_ = 0;
        return UCS_OK;
    }

    ucs_status_t read_pieces() {
        for (; first_ < size(); ++first_) {
            const local_rank_state& from = board_->state_of(first_);
            if (from.pieces_written.load(std::memory_order_acquire) <= pieces_)
                return UCS_INPROGRESS;
            const std::uint64_t bytes = from.block_bytes.load(std::memory_order_relaxed);
            if (bytes != current().bytes) return log_size_mismatch(first_, bytes);
            if (piece_size() != 0)
                std::memcpy(block(first_).data() + done_, from.piece, piece_size());
        }
        done_ += piece_size();
        ++pieces_;
        board_->state_of(rank()).pieces_read.store(pieces_, std::memory_order_release);
        is_piece_written_ = false;
        return UCS_OK;
    }

    [[nodiscard]] bool is_waiting_for(rank_t peer) const noexcept {
        const local_rank_state& other = board_->state_of(peer);
        return is_piece_written_ ? other.pieces_written.load(std::memory_order_acquire) <= pieces_
                                 : other.pieces_read.load(std::memory_order_acquire) < pieces_;
    }

    // Fails the round if a peer that this rank waits for died, left or failed, or if the deadline
    // has passed.
    ucs_status_t check_peers() {
        const auto time = ucs::time::now();
        if (time < next_check_) return UCS_INPROGRESS;
        next_check_ = time + check_interval;
        for (rank_t peer = 0; peer < size(); ++peer) {
            // The order matters: a piece that the peer wrote before it died or left is valid.
            const bool dead = board_->is_dead(peer);
            const std::uint32_t status =
                board_->state_of(peer).status.load(std::memory_order_acquire);
            if ((dead || status != 0) && is_waiting_for(peer)) return log_lost(peer, status);
        }
        return is_late() ? fail_timed_out() : UCS_INPROGRESS;
    }

    ucs_status_t log_lost(rank_t peer, std::uint32_t status) {
        const ucs_status_t failure = local_rank_state::failure_of(status);
        ucs::log::error(oob_log, "round {}: rank {} {}", current().number, peer,
                        failure != UCS_OK                      ? ucs_status_string(failure)
                        : status == local_rank_state::has_left ? "left"
                                                               : "died");
        return failure == UCS_ERR_TIMED_OUT ? failure : UCS_ERR_CONNECTION_RESET;
    }

    ucs_status_t fail_timed_out() {
        std::vector<rank_t> missing;
        for (rank_t peer = 0; peer < size(); ++peer)
            if (is_waiting_for(peer)) missing.push_back(peer);
        // The missing ranks may have arrived since the check above.
        if (missing.empty()) return UCS_INPROGRESS;
        return log_timeout(missing, {});
    }

    void leave(std::uint32_t status) noexcept {
        std::uint32_t none = 0;
        board_->state_of(rank()).status.compare_exchange_strong(none, status,
                                                                std::memory_order_release);
    }

    const std::shared_ptr<const local_board> board_;
    bool has_entered_ = false;
    bool is_piece_written_ = false;  // this rank's piece is on the board
    std::uint64_t pieces_ = 0;       // pieces read in all rounds
    std::size_t done_ = 0;           // bytes of each block transferred in this round
    rank_t first_ = 0;               // the first rank whose piece was not read yet
    ucs::time::nanoseconds next_check_ = 0;
};

}  // namespace

ucs::result<std::vector<std::unique_ptr<exchange>>> make_local(rank_t size, double timeout) {
    rank_params self{0, size, 0};
    if (const ucs_status_t status = self.check("ucg_oob_create_local", timeout); status != UCS_OK)
        return status;
    auto board = local_board::make(size);
    if (!board) return board.status();
    const auto shared = std::make_shared<const local_board>(std::move(*board));
    std::vector<std::unique_ptr<exchange>> all;
    for (; self.rank < size; ++self.rank)
        all.push_back(std::make_unique<local>(self, shared));
    return all;
}

}  // namespace ucg::oob
