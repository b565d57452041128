// Listener of a server: accepts clients by socket address.
#pragma once

#include <deque>

#include "ucp/api/ucp.h"
#include "ucp/cm/conn_request.hpp"
#include "ucp/cm/connect.hpp"
#include "ucs/net/acceptor.hpp"
#include "ucs/type/result.hpp"
#include "ucs/vfs/directory.hpp"
#include "uct/ib/rdmacm/listener.hpp"

namespace ucp::cm {

// Parameters of ucp_listener_create.
struct listener_params {
    uct::tcp::socket_address address;
    ucp_listener_conn_handler_t on_request{nullptr, nullptr};
    ucp_listener_accept_handler_t on_endpoint{nullptr, nullptr};
};

// Accepts connections over all transports of the connection manager, reads the clients' requests
// and offers them to the program. Owned by the manager; owner context.
class listener final : public task, public ucs::vfs::object {
public:
    static ucs::result<std::unique_ptr<listener>> open(manager& parent,
                                                       const listener_params& params);
    ~listener() override;

    [[nodiscard]] const uct::tcp::socket_address& address() const noexcept {
        return sockets_.address;
    }
    [[nodiscard]] worker& owner() const noexcept { return manager_.owner(); }

    // Offers one client's request to the program.
    void run() override;

    void describe(ucs::vfs::directory& into) const override;

private:
    struct pending_client;
    struct listening_sockets {
        uct::tcp::socket_address address;  // with the selected port
        ucs::unique_fd socket;
        std::unique_ptr<uct::rdmacm::listener> rdma;

        ucs_status_t open(const std::vector<transport>& transports);
        ucs_status_t open_socket();
        int open_rdma();
        [[nodiscard]] std::vector<int> descriptors() const;
        // Makes the channel of a client over RDMA. nullptr: it cannot be made, and the client is
        // refused.
        [[nodiscard]] std::unique_ptr<channel> accept(
            std::unique_ptr<uct::rdmacm::request> from) const;
    };

    listener(manager& parent, const listener_params& params, listening_sockets open);
    [[nodiscard]] std::unique_ptr<ucs::net::acceptor::pending> accept_client(int descriptor);
    void on_input(pending_client& client) noexcept;
    void on_request(pending_client& client);
    void reject(pending_client& client, action todo, const char* why) noexcept;
    void hold_clients() noexcept;
    void hand_over(std::unique_ptr<conn_request> offer);

    manager& manager_;
    const listener_params params_;
    const listening_sockets sockets_;
    ucs::net::acceptor acceptor_;
    std::deque<std::unique_ptr<conn_request>>
        offers_;  // requests that the program has not seen yet
    std::uint64_t offered_ = 0;
    bool has_reported_backlog_ = false;
};

}  // namespace ucp::cm
