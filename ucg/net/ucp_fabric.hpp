// Schedules over ucp: any network, and processes of a host without the node engine.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "ucg/net/blame.hpp"
#include "ucg/net/failures.hpp"
#include "ucg/net/news.hpp"
#include "ucg/net/peers.hpp"
#include "ucg/schedule/fabric.hpp"
#include "ucs/time/clock.hpp"

namespace ucg::net {

// Sends are tagged sends, receives tagged receives; the tag has all that messages match by. Whoever
// drives the group calls the worker's progress and then progress() here. Where addresses are looked
// up, sends to a rank wait until its address is there. Owned by the group; owner context.
class ucp_fabric final : public schedule::fabric {
public:
    static constexpr ucs::time::nanoseconds usual_patience = 10 * 1'000'000'000ULL;

    // `group`: its number in the context, the same on every rank. `patience`: how long an operation
    // that failed waits for a rank that lives but does not take what was sent to it; then the rank
    // counts as lost. std::bad_alloc.
    ucp_fabric(ucp_worker_h worker, news& told, std::uint32_t group, schedule::rank_t rank,
               contacts all, ucs::time::nanoseconds patience = usual_patience);
    // No operation is under way.
    ~ucp_fabric() override;

    schedule::rank_t rank() const noexcept override { return rank_; }
    schedule::rank_t size() const noexcept override { return peers_.size(); }
    [[nodiscard]] const contacts& all() const noexcept { return peers_.all(); }
    void post(schedule::step& what) noexcept override;
    void cancel(schedule::step& what) noexcept override;
    ucs_status_t enter(schedule::operation& what, schedule::sequence_t& number) noexcept override;
    void leave(schedule::operation& what) noexcept override;
    void announce(schedule::operation& what, ucs_status_t why) noexcept override;

    // Looks after sends that wait for addresses and what is left of operations that failed, and,
    // now and then, whether the ranks that the others wait for are alive. Returns how much it did.
    unsigned progress() noexcept;
    // Tells the others that this rank leaves, and closes; see peers::close.
    [[nodiscard]] bool close() noexcept;

    // Some rank says that an operation failed there; also of one that is not there any more, or not
    // yet.
    void hear(schedule::sequence_t number, ucs_status_t why) noexcept;
    // Some rank, whatever number it gives, has destroyed the group: it has done its part in all
    // that goes well, and nothing more comes from it.
    void hear_of_leaving(std::uint64_t rank) noexcept;
    // Whether nothing can come from here to that rank any more.
    [[nodiscard]] bool has_lost(schedule::rank_t rank) const noexcept {
        return rank < size() && peers_.failure(rank) != UCS_OK;
    }

    // An operation begins whose time is limited: those that it waits for are asked within a quarter
    // of that.
    void hurry(ucs::time::nanoseconds limit) noexcept;
    // The ranks that have not begun it, as far as this one has found out; empty: it knows of none.
    [[nodiscard]] std::vector<schedule::rank_t> blamed(const schedule::operation& what) const;
    // Why an operation has failed, as far as this rank knows; UCS_OK: it has not, or that was long
    // ago.
    [[nodiscard]] ucs_status_t failure_of(schedule::sequence_t number) noexcept {
        return failed(number).of(number);
    }
    // For a rank that asks, and is told again when it changes if it has an endpoint or may get one:
    // the same, as far as it fits into a message. Nothing: this one has not begun it itself.
    // std::bad_alloc.
    [[nodiscard]] std::optional<blame::word> answer(schedule::sequence_t number,
                                                    schedule::rank_t asker);
    // That rank says that it has begun the operation, and this; all may be anything.
    void hear_of_blame(schedule::sequence_t number, schedule::rank_t who,
                       std::span<const schedule::rank_t> blamed,
                       std::span<const schedule::rank_t> begun) noexcept;

private:
    // How soon those are called that something is waited for from; then ever more seldom, for they
    // may not look after it for long.
    static constexpr ucs::time::nanoseconds first_call = 100'000'000;
    static constexpr ucs::time::nanoseconds longest_call = 128 * first_call;
    static constexpr ucs::time::nanoseconds never = ~ucs::time::nanoseconds{0};
    // Questions and repeated answers in one round of calls; a question is always answered.
    static constexpr unsigned most_messages = 256;
    // Ranks that get an endpoint because they ask, while the group lives.
    static constexpr std::size_t most_called_back = 4;

    // An operation that failed and still has steps under way.
    struct ending {
        const schedule::operation* which;
        ucs::time::nanoseconds since;
    };
    // Sends to a rank whose address is not there yet, in their order; linked by `neighbour`.
    struct queue {
        schedule::rank_t to;
        schedule::step* first;
        schedule::step* last;
    };
    // What is to be told to such a rank.
    struct debt {
        schedule::rank_t to;
        news::failure what;
    };
    static void on_lost(void* arg, schedule::rank_t lost, ucs_status_t why);
    static void on_reached(void* arg, schedule::rank_t reached, ucp_ep_h by);
    static void on_sent(void* request, ucs_status_t status, void* arg);
    static void on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                            void* arg);
    void send(schedule::step& what) noexcept;
    [[nodiscard]] ucs_status_ptr_t transmit(schedule::step& what, ucp_ep_h to) noexcept;
    void await_address(schedule::step& what) noexcept;
    [[nodiscard]] bool take_back(schedule::step& what) noexcept;
    [[nodiscard]] unsigned look_up() noexcept;
    [[nodiscard]] unsigned end_sends() noexcept;
    void tell_debts() noexcept;
    void give_up(schedule::rank_t rank, ucs_status_t why) noexcept;
    void receive(schedule::step& what) noexcept;
    [[nodiscard]] schedule::operation* find(schedule::sequence_t number) const noexcept;
    [[nodiscard]] failures& failed(schedule::sequence_t number) noexcept {
        return failed_[static_cast<std::size_t>(schedule::numbering::series_of(number))];
    }
    void pass_on(schedule::sequence_t number, ucs_status_t why) noexcept;
    void owe(schedule::rank_t whom, const news::failure& what) noexcept;
    [[nodiscard]] unsigned drop_failed() noexcept;
    void call_missing();
    void ask_pending();
    void tell_askers();
    [[nodiscard]] bool may_call_back(schedule::rank_t asker);
    [[nodiscard]] std::vector<schedule::rank_t> first_blamed(const schedule::operation& what,
                                                             const blame& book) const;
    [[nodiscard]] std::vector<schedule::rank_t> waits_of(const schedule::operation& what) const;
    void give_up_sends(ucs::time::nanoseconds now);

    const ucp_worker_h worker_;
    news& told_;
    const std::uint32_t group_;
    const schedule::rank_t rank_;
    peers peers_;
    schedule::numbering numbers_;
    std::vector<schedule::operation*> running_;
    std::array<failures, 2> failed_;  // by series
    std::vector<ending> ending_;
    std::vector<queue> queues_;
    std::vector<debt> debts_;
    // Those that ended at once when their address came; linked by `neighbour`.
    schedule::step* sent_ = nullptr;
    const ucs::time::nanoseconds patience_;
    bool leaves_ = false;
    unsigned looks_ = 0;
    std::map<schedule::sequence_t, blame> blames_;  // of operations that wait for long
    bool asks_ = false;                             // somebody could not be asked yet
    bool tells_ = false;                            // there may be news for those that asked
    unsigned messages_left_ = 0;                    // of this round
    std::vector<schedule::rank_t> called_back_;     // these got an endpoint because they asked
    ucs::time::nanoseconds next_call_ = never;
    ucs::time::nanoseconds next_service_ = 0;
    ucs::time::nanoseconds between_calls_ = first_call;
    ucs::time::nanoseconds between_last_calls_ = first_call;
};

}  // namespace ucg::net
