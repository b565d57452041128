// Control messages between the ranks of a group, outside of its operations: reports that an
// operation has failed or that a rank leaves the group, and queries for the ranks that an operation
// waits for.
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

    // Layouts of the messages. The receiver distinguishes them by their lengths. The fields are
    // untrusted: a peer may send any value.
    struct failure {
        std::uint32_t group;
        std::int32_t status;   // of the operation, or `rank_left`
        std::uint64_t number;  // of the operation, or the rank that left
    };
    // Status of a failure message: the rank `number` has destroyed the group, or has lost the rank
    // that receives the message.
    static constexpr std::int32_t rank_left = 1;
    // Query: the rank `asker` waits for the rank `awaited`, the responder, in an operation. If the
    // responder has left the group, or the operation has failed there, it sends a failure. If it
    // has started the operation, it sends a reply.
    struct query {
        std::uint32_t group;
        schedule::rank_t asker, awaited;
        std::uint32_t unused;
        schedule::sequence_t operation;
    };
    // Reply of a rank that has started the operation. `waiting_for`: the ranks that have not
    // started it and keep the responder from finishing, as far as the responder knows
    // (straggler_search.hpp). `started`: the ranks of its earlier replies that have started the
    // operation since. When this changes, the responder sends a new reply, if it has an endpoint to
    // the asker or may create one (ucp_fabric::may_update).
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

    // Delivers messages for a group to its fabric, including those that came before this call:
    // other ranks may have made the group earlier. Throws std::bad_alloc.
    void add_group(std::uint32_t group, ucp_fabric& fabric);
    // Drops the stored messages for a group that this process has failed to make.
    void drop_early(std::uint32_t group) noexcept {
        std::erase_if(early_, [group](const failure& each) { return each.group == group; });
    }
    // Sets the function that returns whether this process uses a group number. If it does, the
    // group may still be made, so early messages for it are stored.
    void set_group_check(bool (*is_used)(void* arg, std::uint32_t group), void* arg) noexcept {
        is_used_ = is_used;
        is_used_arg_ = arg;
    }
    // Removes a group. `failed` is true if operations of the group failed, so that messages for
    // them may still come; late() then drops them.
    void remove_group(std::uint32_t group, bool failed) noexcept {
        groups_.erase(group);
        if (failed) late_.expect(group);
    }
    [[nodiscard]] late_messages& late() noexcept { return late_; }

    // Sends a failure, without retry: a rank that waits for this one learns of a lost failure by a
    // query.
    void send_failure(ucp_ep_h to, const failure& notice) noexcept {
        static_cast<void>(send(to, &notice, sizeof notice, 0, max_failures));
    }
    // This and the next function return whether the message was sent. If not, the caller may try
    // again later.
    [[nodiscard]] bool send_query(ucp_ep_h to, const query& message) noexcept;
    // Sends a reply: rank `responder` has started the operation, with this report.
    [[nodiscard]] bool send_reply(ucp_ep_h to, std::uint32_t group, schedule::rank_t responder,
                                  schedule::sequence_t operation,
                                  const straggler_search::report& report) noexcept;

private:
    // Limits on the messages in flight to one endpoint; max_replies also limits queries. A message
    // beyond its limit is not sent. So a peer that sends queries and does not receive the replies
    // cannot use up the memory of this process.
    static constexpr unsigned max_replies = 64;
    static constexpr unsigned max_failures = 4096;

    // The number of messages in flight to each endpoint. It is shared, because sends may complete
    // after the context is destroyed.
    using traffic = std::unordered_map<ucp_ep_h, unsigned>;
    class message_under_way {
    public:
        // Counts a message until the destructor is called. Throws std::bad_alloc.
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
    std::vector<failure> early_;  // for groups that this process is making
    const std::shared_ptr<traffic> under_way_ = std::make_shared<traffic>();
};

}  // namespace ucg::net
