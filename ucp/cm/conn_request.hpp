// A client that asks for a connection.
#pragma once

#include "ucp/cm/channel.hpp"
#include "ucp/cm/exchange.hpp"
#include "ucp/cm/manager.hpp"

namespace ucp::cm {

// From the moment the client has said who it is until the program accepts or rejects it; nobody
// watches its socket meanwhile, so any thread may hold it. Owned by the program, through its
// handle, and known to the worker that listens.
class conn_request {
public:
    conn_request(channel socket, wire::request said, const uct::tcp::socket_address& from) noexcept
        : socket_(std::move(socket)), said_(std::move(said)), from_(from) {}

    // The program has it from now on.
    void hand_over(std::shared_ptr<unanswered> to);
    // The program answered: takes it back.
    [[nodiscard]] static std::unique_ptr<conn_request> take_back(conn_request& answered);

    void refuse(wire::reason why) noexcept {
        if (step(phase::offered, event::reject).todo == action::refuse) socket_.send_refusal(why);
        socket_.close();
    }

    // The client is still there.
    [[nodiscard]] bool alive() noexcept;

    [[nodiscard]] const wire::request& said() const noexcept { return said_; }
    [[nodiscard]] const uct::tcp::socket_address& from() const noexcept { return from_; }
    [[nodiscard]] channel take_socket() noexcept { return std::move(socket_); }
    void give_socket(channel socket) noexcept { socket_ = std::move(socket); }

private:
    friend class unanswered;

    channel socket_;
    const wire::request said_;
    const uct::tcp::socket_address from_;
    std::shared_ptr<unanswered> known_to_;
    conn_request* previous_ = nullptr;
    conn_request* next_ = nullptr;
};

}  // namespace ucp::cm
