// What ranks tell each other outside of their operations: that one of them failed, that a rank
// leaves the group, or for whom they wait.
#pragma once

#include <ucp/api/ucp.h>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "ucg/net/blame.hpp"
#include "ucg/net/late_messages.hpp"
#include "ucg/schedule/numbering.hpp"
#include "ucg/schedule/step.hpp"

namespace ucg::net {

class ucp_fabric;

// An active message of the worker that all groups of a context share. Owned by the context, which
// outlives its groups; owner context.
class news {
public:
    // The id is taken from the worker's for as long as the worker lives.
    static constexpr unsigned am_id = 0x7567;  // "ug"

    // Layout of the messages, which are told apart by their length; from a peer, so they may be
    // anything.
    struct failure {
        std::uint32_t group;
        std::int32_t status;   // why it failed; or `left`
        std::uint64_t number;  // of the operation; or the rank
    };
    // That rank has destroyed the group, or has lost the one that hears this.
    static constexpr std::int32_t left = 1;
    // One rank waits for another in an operation. It hears that the other one has left, or that the
    // operation has failed, if that is so; else an answer, if the other one has begun it.
    struct question {
        std::uint32_t group;
        schedule::rank_t who, whom;
        std::uint32_t unused;
        schedule::sequence_t operation;
    };
    // Whom the one that was asked blames itself, also later when that changes, if the asker has an
    // endpoint or is one of the few that get one for that; none: it does not wait, or for none but
    // ranks that have begun. And which of those that it blamed before have begun.
    struct answer {
        static constexpr std::uint32_t most = blame::most;

        std::uint32_t group;
        schedule::rank_t who;
        schedule::sequence_t operation;
        std::uint32_t blamed_count, begun_count;
        schedule::rank_t blamed[most], begun[most];
    };
    static_assert(sizeof(failure) == 16 && sizeof(question) == 24 && sizeof(answer) == 64);

    // Takes the messages of this worker. UCS_OK, or what ucp says.
    [[nodiscard]] ucs_status_t listen(ucp_worker_h worker) noexcept;

    // Takes none any more; the worker may live on.
    static void ignore(ucp_worker_h worker) noexcept;

    // Those for a group go to its fabric, also what came before: others may have had the group
    // sooner. std::bad_alloc.
    void add(std::uint32_t group, ucp_fabric& fabric);
    // A group was not made of it.
    void forget(std::uint32_t group) noexcept {
        std::erase_if(early_, [group](const failure& each) { return each.group == group; });
    }
    // How it finds out whether a group that is not here may yet come to be.
    void ask(bool (*is_used)(void* arg, std::uint32_t group), void* arg) noexcept {
        is_used_ = is_used;
        is_used_arg_ = arg;
    }
    // `failed`: operations of it did.
    void remove(std::uint32_t group, bool failed) noexcept {
        groups_.erase(group);
        if (failed) late_.expect(group);
    }
    [[nodiscard]] late_messages& late() noexcept { return late_; }

    // A failure that cannot be sent is lost: a rank that waits for it asks.
    void tell(ucp_ep_h whom, const failure& said) noexcept {
        static_cast<void>(send(whom, &said, sizeof said, 0, most_failures));
    }
    // Return whether that is on its way; otherwise another call may send it.
    [[nodiscard]] bool ask(ucp_ep_h whom, const question& asked) noexcept;
    // An answer: rank `who` of the group has begun the operation, and says this.
    [[nodiscard]] bool explain(ucp_ep_h whom, std::uint32_t group, schedule::rank_t who,
                               schedule::sequence_t operation, const blame::word& said) noexcept;

private:
    // Messages under way by one endpoint beyond which no answer, and no failure, is sent there: who
    // asks and does not read costs no memory.
    static constexpr unsigned most_answers = 64;
    static constexpr unsigned most_failures = 4096;

    // Numbers of messages under way, by endpoint. Sends may end after the context.
    using traffic = std::unordered_map<ucp_ep_h, unsigned>;
    class message_under_way {
    public:
        // std::bad_alloc.
        message_under_way(std::shared_ptr<traffic> among, ucp_ep_h to);
        message_under_way(const message_under_way&) = delete;
        message_under_way& operator=(const message_under_way&) = delete;
        ~message_under_way();

    private:
        const std::shared_ptr<traffic> among_;
        const ucp_ep_h to_;
    };
    static ucs_status_t on_message(void* arg, const void* header, std::size_t header_length,
                                   void* data, std::size_t length,
                                   const ucp_am_recv_param_t* param);

    [[nodiscard]] bool has_room(ucp_ep_h whom, unsigned most) const noexcept;
    [[nodiscard]] bool send(ucp_ep_h whom, const void* message, std::size_t bytes, unsigned flags,
                            unsigned most) noexcept;
    void reply(const question& asked, ucp_ep_h to) noexcept;
    void hear(const failure& said) noexcept;
    void hear(const answer& said) noexcept;
    [[nodiscard]] bool expects(const question& asked) const noexcept;
    void keep(const failure& said) noexcept;
    static void hand_over(const failure& said, ucp_fabric& to) noexcept;

    std::unordered_map<std::uint32_t, ucp_fabric*> groups_;
    bool (*is_used_)(void* arg, std::uint32_t group) = nullptr;
    void* is_used_arg_ = nullptr;
    late_messages late_;
    std::vector<failure> early_;  // of groups that are being made
    const std::shared_ptr<traffic> under_way_ = std::make_shared<traffic>();
};

}  // namespace ucg::net
