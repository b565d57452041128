// An endpoint: the connection of a worker to one peer worker.
#pragma once

#include "ucp/core/operations.hpp"
#include "ucp/core/program_side.hpp"
#include "ucs/vfs/directory.hpp"
#include "uct/api/ep.hpp"

namespace ucp {

class peer;

// One endpoint. Owned by the worker, which destroys it when neither the program nor the peer needs
// it any more. All endpoints to the same worker share the peer object. Kept small: nothing is set
// up before the first use. Owner context.
class ep : public ucs::vfs::object {
public:
    // Makes an endpoint with the slots of all features (ucp/features).
    [[nodiscard]] static ep& make(worker& owner, peer& to, std::uint64_t number);
    virtual ~ep();
    ep(const ep&) = delete;
    ep& operator=(const ep&) = delete;

    [[nodiscard]] worker& owner() const noexcept { return owner_; }
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    void set_id(std::uint64_t id) noexcept { id_ = id; }
    [[nodiscard]] std::uint64_t remote_id() const noexcept { return remote_id_; }
    void set_remote_id(std::uint64_t id) noexcept { remote_id_ = id; }
    [[nodiscard]] std::uint64_t next_message() noexcept { return ++messages_; }

    [[nodiscard]] peer& remote() const noexcept { return *remote_; }
    // Moves the endpoint to another peer object for the same worker.
    void set_remote(peer& to) noexcept;
    [[nodiscard]] uct::ep& lane() const noexcept { return *lane_; }
    void set_lane(uct::ep* lane) noexcept { lane_ = lane; }
    // Returns whether there is a lane: this endpoint can reply to the peer's messages.
    [[nodiscard]] bool is_connected() const noexcept { return lane_ != nullptr; }
    [[nodiscard]] ucs_status_t failure() const noexcept { return failure_; }
    void set_failure(ucs_status_t status) noexcept { failure_ = status; }

    // The parts of an endpoint. Others are slots, such as its connection
    // (ucp/wireup/connection.hpp) and its short path (ucp/proto/short_path.hpp).
    [[nodiscard]] running_operations& operations() noexcept { return operations_; }
    [[nodiscard]] const running_operations& operations() const noexcept { return operations_; }
    [[nodiscard]] program_side& program() noexcept { return program_; }
    [[nodiscard]] const program_side& program() const noexcept { return program_; }

    void describe(ucs::vfs::directory& into) const override;

    ucs::datastruct::tree_hook peer_hook;  // among the peer's endpoints, by number
    ucs::datastruct::auto_unlink_hook
        credit_waiter_hook;  // among the endpoints that wait for credits from us
    ucs::datastruct::auto_unlink_hook
        unanswered_hook;  // among the endpoints whose connection request is unanswered
    // Either in the peer's list of endpoints that the program has not asked for, or in the worker's
    // list of endpoints to destroy.
    ucs::datastruct::auto_unlink_hook unwanted_hook;

    // Tells the peer that this end is over. Waits for room on the lane, and the endpoint stays
    // until the message has left.
    uct::pending_request final_message{};

protected:
    ep(worker& owner, peer& to, std::uint64_t number);
    // Ends the endpoint before its slots are destroyed.
    void end() noexcept;

private:
    friend running_operations;

    std::uint64_t number_;
    [[no_unique_address]] program_side program_;
    std::uint64_t messages_ = 0;
    [[no_unique_address]] running_operations operations_;
    ucs_status_t failure_ = UCS_OK;
    // Used for each message.
    worker& owner_;
    std::uint64_t id_ = 0;
    std::uint64_t remote_id_ = 0;
    peer* remote_;  // a client by socket address begins with a placeholder
    uct::ep* lane_ = nullptr;
};

inline ep& running_operations::endpoint() noexcept {
    return *boost::intrusive::get_parent_from_member(this, &ep::operations_);
}
inline const ep& running_operations::endpoint() const noexcept {
    return *boost::intrusive::get_parent_from_member(this, &ep::operations_);
}

inline void running_operations::add_send(request& send) noexcept {
    send.via = &endpoint();
    send.sequence = sequence_++;
    sends_.push_back(send);
}

}  // namespace ucp
