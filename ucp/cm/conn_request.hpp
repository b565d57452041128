// A connection request of a client, as the program handles it.
#pragma once

#include "ucp/cm/channel.hpp"
#include "ucp/cm/handshake.hpp"
#include "ucp/cm/manager.hpp"

namespace ucp::cm {

// Exists from the client's request until the program accepts or rejects it. Its channel is not
// watched meanwhile, so any thread may hold it. Owned by the program through its handle, and listed
// at the worker that listens.
class conn_request {
public:
    conn_request(wire::request request, const uct::tcp::socket_address& from) noexcept
        : request_(std::move(request)), from_(from) {}

    // Hands the request over to the program.
    void hand_over(std::shared_ptr<pending_requests> to);
    // Takes the request back when the program has answered.
    [[nodiscard]] static std::unique_ptr<conn_request> take_back(conn_request& answered);

    // Refuses the client. The manager of any worker may drain the channel.
    void refuse(wire::reason why, manager& parent) noexcept;

    // Returns whether the client is still connected.
    [[nodiscard]] bool alive() noexcept;

    [[nodiscard]] const wire::request& request() const noexcept { return request_; }
    [[nodiscard]] const uct::tcp::socket_address& from() const noexcept { return from_; }
    [[nodiscard]] std::unique_ptr<channel> take_channel() noexcept { return std::move(channel_); }
    void give_channel(std::unique_ptr<channel> from) noexcept { channel_ = std::move(from); }

private:
    friend class pending_requests;

    std::unique_ptr<channel> channel_;
    const wire::request request_;
    const uct::tcp::socket_address from_;
    std::shared_ptr<pending_requests> pending_;
    conn_request* previous_ = nullptr;
    conn_request* next_ = nullptr;
};

}  // namespace ucp::cm
