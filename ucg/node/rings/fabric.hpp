// Messages between the ranks of one node over rings in shared memory, for all algorithms of
// ucg/algo.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "ucg/node/engine/watch.hpp"
#include "ucg/node/rings/early_limit.hpp"
#include "ucg/node/rings/early_messages.hpp"
#include "ucg/node/rings/stream.hpp"
#include "ucg/node/sleeper.hpp"
#include "ucg/schedule/fabric.hpp"
#include "ucg/schedule/operation.hpp"
#include "ucs/time/clock.hpp"

namespace ucg::node {

// There is one ring for each direction of each pair of ranks. A message whose receive is posted
// goes from the ring to its destination. A message that comes before that is stored; the memory for
// it grows only with the bytes that have come. If much is stored of one rank, its ring is left
// unread until something is expected of that rank (see should_read()). The early_limit bounds the
// stored bytes of all groups together.
// Each rank has one fabric per group. The memory, the watch and the limit must outlive it. Owner
// context.
class fabric final : public schedule::fabric {
public:
    static constexpr std::size_t usual_early_bytes = 4 << 20;

    // `early_bytes`: how many bytes of one rank are stored before its ring is left unread; may be
    // 0.
    fabric(const shared_memory& memory, watch& lives, rank_t me, early_limit& limit,
           std::size_t early_bytes = usual_early_bytes);
    // Tells the other ranks that nothing more comes from this rank.
    ~fabric() override;

    [[nodiscard]] rank_t rank() const noexcept override { return me_; }
    [[nodiscard]] rank_t size() const noexcept override { return memory_.ranks(); }
    void post(schedule::step& step) noexcept override;
    void cancel(schedule::step& step) noexcept override;
    [[nodiscard]] ucs_status_t begin_operation(schedule::operation& op,
                                               schedule::sequence_t& number) override;
    void end_operation(schedule::operation& op) noexcept override;
    void report_failure(schedule::operation& op, ucs_status_t why) noexcept override;

    // Fails every operation for which this rank and others need each other, now and later, with
    // that status.
    void withdraw(ucs_status_t why) noexcept override;

    // Returns whether anything advanced. Never blocks; it checks from time to time whether the
    // ranks of which something is expected are alive. While nothing is under way, only some calls
    // read the rings for early messages, because a program may have hundreds of groups.
    bool progress() noexcept;

    // Makes progress until the operation has ended, and yields the processor to others meanwhile.
    ucs_status_t wait(schedule::operation& op) noexcept;

    // Returns the ranks that have not started this operation, which runs on this rank.
    [[nodiscard]] std::vector<rank_t> stragglers(const schedule::operation& op) const override;

    // Returns the memory that early messages of a rank take up.
    [[nodiscard]] std::size_t stored_bytes(rank_t rank) const noexcept {
        return peers_[rank].used();
    }

private:
    // The state of the connection with one other rank.
    struct peer final : early_limit::share {
        peer(fabric& fabric, early_limit& limit, rank_t other)
            : share(limit),
              owner(fabric),
              rank(other),
              out(fabric.memory_, fabric.me_, other),
              in(fabric.memory_, other, fabric.me_) {}
        void cut_off() noexcept override { owner.cut_off(*this); }

        fabric& owner;
        const rank_t rank;
        stream_out out;
        schedule::step_queue sends;
        bool send_started = false;    // of the first send, or of the rest of a canceled one
        std::uint64_t sent = 0;       // bytes of it in the ring
        std::uint64_t abandoned = 0;  // bytes of a canceled send whose rest goes out; 0: none
        std::vector<frame> failure_notices;
        bool sending = false;  // send() is on the stack

        stream_in in;
        schedule::step_queue receives;
        bool in_message = false;  // the head of a message has been read
        frame head{};
        std::uint64_t received = 0;
        schedule::step* target = nullptr;                // receive of the message
        std::optional<early_messages::position> stored;  // or where it is stored; neither: dropped
        early_messages early;
        bool receiving = false;  // receive() is on the stack

        // Returns whether the two ranks have something to do for each other.
        [[nodiscard]] bool is_busy() const noexcept {
            return sends.first != nullptr || send_started || !failure_notices.empty() ||
                   in_message || receives.first != nullptr;
        }

        ucs_status_t lost = UCS_OK;  // why the rank is lost
    };
    struct running {
        schedule::sequence_t number;
        schedule::operation* op;
        bool reported = false;  // its failure was reported to all ranks
    };

    bool send(peer& to) noexcept;
    bool send_next(peer& to) noexcept;
    void report_failure(schedule::sequence_t number, ucs_status_t why) noexcept;
    [[nodiscard]] bool should_read(const peer& from) const noexcept;
    bool receive(peer& from) noexcept;
    void receive_head(peer& from);
    void receive_some(peer& from);
    void drop_stored(peer& from) noexcept;
    void cut_off(peer& from) noexcept;
    void end_message(peer& from) noexcept;
    void post_receive(schedule::step& step) noexcept;
    void take_early(peer& from, early_messages::position found, schedule::step& receive) noexcept;
    void receive_failure(const frame& notice) noexcept;
    [[nodiscard]] std::uint64_t& started_count(rank_t rank, schedule::series series) const noexcept;
    [[nodiscard]] running* find(schedule::sequence_t number) noexcept;
    void fail_peer(peer& remote, ucs_status_t why) noexcept;
    void check_peers() noexcept;
    [[nodiscard]] bool skips_poll() noexcept;

    const shared_memory& memory_;
    watch& lives_;
    const rank_t me_;
    early_limit& limit_;
    const std::size_t early_bytes_;
    ucs::arch::backoff backoff_;
    const sleeper sleeper_;
    std::deque<peer> peers_;
    schedule::sequence_numbers numbers_;
    std::vector<running> running_;
    std::vector<frame> early_failures_;
    unsigned polls_ = 0;       // calls that read the rings
    bool idle_ = false;        // nothing was under way at the last poll
    unsigned idle_polls_ = 0;  // calls since then
    ucs::time::nanoseconds last_peer_check_ = 0;
    ucs_status_t leave_status_ =
        UCS_ERR_CONNECTION_RESET;  // status for ranks that need this one later
};

}  // namespace ucg::node
