// Servers and clients over TCP whose messages the test sends itself.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>

#include "test/support/socket_pair.hpp"
#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/cm/conn_request.hpp"
#include "ucp/cm/endpoint.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucp_test {

// Returns the address of the loopback interface with any port.
inline sockaddr_in loopback() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

// Listens, and sends nothing to its clients; the test may accept them and send.
class loopback_server {
public:
    loopback_server()
        : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), address_(loopback()) {
        auto* const socket_address = reinterpret_cast<sockaddr*>(&address_);
        socklen_t length = sizeof address_;
        REQUIRE(::bind(socket_.get(), socket_address, length) == 0);
        REQUIRE(::listen(socket_.get(), 4) == 0);
        REQUIRE(::getsockname(socket_.get(), socket_address, &length) == 0);
    }
    // Makes an endpoint that connects to the server.
    [[nodiscard]] ucp::ep& client_of(const raw_world& in) const {
        ucp_ep_params_t params{};
        params.field_mask = UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_SOCK_ADDR |
                            UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
        params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
        params.sockaddr = {reinterpret_cast<const sockaddr*>(&address_), sizeof address_};
        params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
        ucp_ep_h made = nullptr;
        REQUIRE(ucp_ep_create(in.worker_handle(), &params, &made) == UCS_OK);
        return ucp::capi::from(made);
    }
    [[nodiscard]] ucs::unique_fd accept() const {
        ucs::unique_fd made(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        REQUIRE(made);
        return made;
    }

private:
    ucs::unique_fd socket_;
    sockaddr_in address_{};
};

// A world whose worker has a client endpoint, which waits for its server's bind.
struct client_world : raw_world {
    explicit client_world(const settings& options = {}) : raw_world(options) {}

    const loopback_server server;
    ucp::ep& client = server.client_of(*this);
};

// Returns the request of a client with endpoint 55.
inline ucp::cm::wire::request client_request(std::uint64_t uid,
                                             const std::vector<std::byte>& address) {
    return {.uid = uid,
            .ep = 55,
            .token = 1,
            .client_id = 0,
            .shows_client_id = false,
            .address = address};
}

// Accepts that client as the program does. `socket` becomes the client's end of its connection.
inline ucs::result<ucp::ep*> accept_client(ucp::worker& worker, const ucp::cm::wire::request& asked,
                                           ucs::unique_fd& socket,
                                           const ucp::ep_params& params = {}) {
    test::socket_pair ends(SOCK_STREAM | SOCK_NONBLOCK);
    socket = std::move(ends.near);
    auto request = std::make_unique<ucp::cm::conn_request>(asked, uct::tcp::socket_address());
    request->give_channel(ucp::cm::tcp_channel(std::move(ends.far)));
    return ucp::cm::accept(worker, std::move(request), params);
}

}  // namespace ucp_test
