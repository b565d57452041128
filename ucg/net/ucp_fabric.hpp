// Schedules over ucp: any network, and processes of a host without the node engine.
#pragma once

#include <deque>
#include <vector>

#include "ucg/net/news.hpp"
#include "ucg/net/peers.hpp"
#include "ucg/schedule/fabric.hpp"
#include "ucs/time/clock.hpp"

namespace ucg::net {

// Sends are tagged sends, receives tagged receives; the tag has all that messages match by. Whoever
// drives the group calls the worker's progress and then progress() here. Owned by the group; owner
// context.
class ucp_fabric final : public schedule::fabric {
public:
    // `group`: its number in the context, the same on every rank. std::bad_alloc.
    ucp_fabric(ucp_worker_h worker, news& told, std::uint32_t group, schedule::rank_t rank,
               std::vector<std::byte> addresses, std::size_t address_length);
    // No operation is under way.
    ~ucp_fabric() override;

    schedule::rank_t rank() const noexcept override { return rank_; }
    schedule::rank_t size() const noexcept override { return peers_.size(); }
    void post(schedule::step& what) noexcept override;
    void cancel(schedule::step& what) noexcept override;
    ucs_status_t enter(schedule::operation& what, schedule::sequence_t& number) noexcept override;
    void leave(schedule::operation& what) noexcept override;
    void announce(schedule::operation& what, ucs_status_t why) noexcept override;

    // Looks after what is left of operations that failed, and, now and then, whether the ranks that
    // the others wait for are alive. Returns how much it did.
    unsigned progress() noexcept;
    // See peers::close.
    [[nodiscard]] bool close() noexcept { return peers_.close(); }

    // Some rank says that an operation failed there; also of one that is not there any more, or not
    // yet.
    void hear(schedule::sequence_t number, ucs_status_t why) noexcept;

private:
    struct failed {
        schedule::sequence_t number;
        ucs_status_t why;
    };
    static void on_lost(void* arg, schedule::rank_t lost, ucs_status_t why);
    static void on_sent(void* request, ucs_status_t status, void* arg);
    static void on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                            void* arg);
    void send(schedule::step& what) noexcept;
    void receive(schedule::step& what) noexcept;
    [[nodiscard]] const failed* find_failed(schedule::sequence_t number) const noexcept;
    void pass_on(schedule::sequence_t number, ucs_status_t why) noexcept;
    [[nodiscard]] unsigned drop_messages_of(schedule::sequence_t number) noexcept;
    [[nodiscard]] unsigned drop_failed() noexcept;
    void call_missing() noexcept;

    const ucp_worker_h worker_;
    news& told_;
    const std::uint32_t group_;
    const schedule::rank_t rank_;
    peers peers_;
    schedule::sequence_t next_ = 0;
    std::vector<schedule::operation*> running_;
    // What failed lately, the newest last: what comes for them is dropped, so that no sender waits.
    static constexpr std::size_t most_failed = 64;
    std::deque<failed> failed_;
    unsigned looks_ = 0;
    ucs::time::nanoseconds next_call_ = 0;
};

}  // namespace ucg::net
