// A client that asks for a connection.
#pragma once

#include "ucp/cm/channel.hpp"
#include "ucp/cm/exchange.hpp"
#include "ucp/cm/manager.hpp"

namespace ucp::cm {

// From the moment the client has said who it is until the program accepts or rejects it; nobody
// watches its channel meanwhile, so any thread may hold it. Owned by the program, through its
// handle, and known to the worker that listens.
class conn_request {
public:
    conn_request(wire::request said, const uct::tcp::socket_address& from) noexcept
        : said_(std::move(said)), from_(from) {}

    // The program has it from now on.
    void hand_over(std::shared_ptr<unanswered> to);
    // The program answered: takes it back.
    [[nodiscard]] static std::unique_ptr<conn_request> take_back(conn_request& answered);

    // The manager of any worker sees off who is refused.
    void refuse(wire::reason why, manager& by) noexcept;

    // The client is still there.
    [[nodiscard]] bool alive() noexcept;

    [[nodiscard]] const wire::request& said() const noexcept { return said_; }
    [[nodiscard]] const uct::tcp::socket_address& from() const noexcept { return from_; }
    [[nodiscard]] std::unique_ptr<channel> take_channel() noexcept { return std::move(channel_); }
    void give_channel(std::unique_ptr<channel> from) noexcept { channel_ = std::move(from); }

private:
    friend class unanswered;

    std::unique_ptr<channel> channel_;
    const wire::request said_;
    const uct::tcp::socket_address from_;
    std::shared_ptr<unanswered> known_to_;
    conn_request* previous_ = nullptr;
    conn_request* next_ = nullptr;
};

}  // namespace ucp::cm
