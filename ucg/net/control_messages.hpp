// Control messages between the ranks of a group, outside of its operations: reports that an
// operation failed or a rank leaves the group, and the query which ranks an operation waits for.
#pragma once

#include <ucp/api/ucp.h>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "ucg/net/late_messages.hpp"
#include "ucg/net/straggler_search.hpp"
#include "ucg/schedule/sequence_numbers.hpp"
#include "ucg/schedule/step.hpp"

namespace ucg::net {

class ucp_fabric;

// Sends and receives the control messages, as active messages of the worker that all groups of a
// context share. Owned by the context, which outlives its groups; owner context.
class control_messages {
public:
    // Id of the active message, reserved on the worker for as long as the worker lives.
    static constexpr unsigned am_id = 0x7567;  // "ug"

    // Layout of the messages, which differ in length. A peer sends them, so the fields may have any
    // value.
    struct failure {
        std::uint32_t group;
        std::int32_t status;   // of the operation, or `rank_left`
        std::uint64_t number;  // of the operation, or the rank that left
    };
    // Status of a failure message: the rank `number` has destroyed the group, or has lost the rank
    // that receives the message.
    static constexpr std::int32_t rank_left = 1;
    // Query: rank `asker` waits for rank `awaited` in an operation. If the awaited rank has left,
    // or the operation has failed, the responder sends a failure; if it has started the operation,
    // it sends a reply.
    struct query {
        std::uint32_t group;
        schedule::rank_t asker, awaited;
        std::uint32_t unused;
        schedule::sequence_t operation;
    };
    // The ranks that the responder waits for (`waiting_for`); sent again when the set changes, if
    // the asker has an endpoint or is one of the few ranks that get one for that. It is empty if
    // the responder waits for no rank, or only for ranks that have started. `started`: ranks of
    // earlier replies that have started the operation.
    struct reply {
        static constexpr std::uint32_t max_listed = straggler_search::max_ranks;

        std::uint32_t group;
        schedule::rank_t responder;
        schedule::sequence_t operation;
        std::uint32_t waiting_for_count, started_count;
        schedule::rank_t waiting_for[max_listed], started[max_listed];
    };
    static_assert(sizeof(failure) == 16 && sizeof(query) == 24 && sizeof(reply) == 64);

    // Registers the handler for the messages of this worker. Returns UCS_OK, or the error of ucp.
    [[nodiscard]] ucs_status_t listen(ucp_worker_h worker) noexcept;

    // Removes the handler; the worker may live on.
    static void stop_listening(ucp_worker_h worker) noexcept;

    // Delivers messages for a group to its fabric, also those that came before: other ranks may
    // have made the group earlier. std::bad_alloc.
    void add_group(std::uint32_t group, ucp_fabric& fabric);
    // Drops the messages for a group that was not made.
    void drop_early(std::uint32_t group) noexcept {
        std::erase_if(early_, [group](const failure& each) { return each.group == group; });
    }
    // Sets the function that tells whether a group that this process does not have may still be
    // made.
    void set_group_check(bool (*is_used)(void* arg, std::uint32_t group), void* arg) noexcept {
        is_used_ = is_used;
        is_used_arg_ = arg;
    }
    // Removes a group. `failed`: operations of the group failed, so messages for them may still
    // come.
    void remove_group(std::uint32_t group, bool failed) noexcept {
        groups_.erase(group);
        if (failed) late_.expect(group);
    }
    [[nodiscard]] late_messages& late() noexcept { return late_; }

    // Sends a failure. If it cannot be sent, it is lost: a rank that waits for this one sends
    // queries.
    void send_failure(ucp_ep_h to, const failure& notice) noexcept {
        static_cast<void>(send(to, &notice, sizeof notice, 0, max_failures));
    }
    // Both return whether the message is on its way; if not, the caller may try again later.
    [[nodiscard]] bool send_query(ucp_ep_h to, const query& message) noexcept;
    // Sends a reply: rank `responder` has started the operation, with this report.
    [[nodiscard]] bool send_reply(ucp_ep_h to, std::uint32_t group, schedule::rank_t responder,
                                  schedule::sequence_t operation,
                                  const straggler_search::report& report) noexcept;

private:
    // Limits of messages under way by one endpoint. Beyond them, no reply or no failure is sent by
    // it, so that a peer which sends queries and does not read costs no memory.
    static constexpr unsigned max_replies = 64;
    static constexpr unsigned max_failures = 4096;

    // Numbers of messages under way, by endpoint. Sends may end after the context.
    using traffic = std::unordered_map<ucp_ep_h, unsigned>;
    class message_under_way {
    public:
        // std::bad_alloc.
        message_under_way(std::shared_ptr<traffic> counts, ucp_ep_h to);
        message_under_way(const message_under_way&) = delete;
        message_under_way& operator=(const message_under_way&) = delete;
        ~message_under_way();

    private:
        const std::shared_ptr<traffic> counts_;
        const ucp_ep_h endpoint_;
    };
    static ucs_status_t on_message(void* arg, const void* header, std::size_t header_length,
                                   void* data, std::size_t length,
                                   const ucp_am_recv_param_t* param);

    [[nodiscard]] bool has_credit(ucp_ep_h to, unsigned limit) const noexcept;
    [[nodiscard]] bool send(ucp_ep_h to, const void* message, std::size_t bytes, unsigned flags,
                            unsigned limit) noexcept;
    void respond(const query& message, ucp_ep_h to) noexcept;
    void receive(const failure& notice) noexcept;
    void receive(const reply& message) noexcept;
    [[nodiscard]] bool may_complete(const query& message) const noexcept;
    void store_early(const failure& notice) noexcept;
    static void deliver(const failure& notice, ucp_fabric& to) noexcept;

    std::unordered_map<std::uint32_t, ucp_fabric*> groups_;
    bool (*is_used_)(void* arg, std::uint32_t group) = nullptr;
    void* is_used_arg_ = nullptr;
    late_messages late_;
    std::vector<failure> early_;  // for groups that are being made
    const std::shared_ptr<traffic> under_way_ = std::make_shared<traffic>();
};

}  // namespace ucg::net
