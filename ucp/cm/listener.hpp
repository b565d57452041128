// A server's door for clients that know its socket address only.
#pragma once

#include <deque>

#include "ucp/api/ucp.h"
#include "ucp/cm/conn_request.hpp"
#include "ucp/cm/connect.hpp"
#include "ucs/net/acceptor.hpp"
#include "ucs/type/result.hpp"
#include "ucs/vfs/directory.hpp"
#include "uct/ib/rdmacm/door.hpp"

namespace ucp::cm {

// What ucp_listener_create was asked for.
struct listener_params {
    uct::tcp::socket_address at;
    ucp_listener_conn_handler_t on_request{nullptr, nullptr};
    ucp_listener_accept_handler_t on_endpoint{nullptr, nullptr};
};

// Reads what those who connect ask for, over whatever carries it, and tells the program. Owned by
// the manager; owner context.
class listener final : public task, public ucs::vfs::object {
public:
    static ucs::result<std::unique_ptr<listener>> open(manager& of, const listener_params& params);
    ~listener() override;

    [[nodiscard]] const uct::tcp::socket_address& address() const noexcept { return doors_.at; }
    [[nodiscard]] worker& owner() const noexcept { return manager_.owner(); }

    // Tells the program of one client.
    void run() override;

    void describe(ucs::vfs::directory& into) const override;

private:
    struct visitor;
    struct doors {
        uct::tcp::socket_address at;  // with the port that was chosen
        ucs::unique_fd socket;
        std::unique_ptr<uct::rdmacm::door> rdma;

        ucs_status_t open(const std::vector<carrier>& by);
        ucs_status_t open_socket();
        int open_rdma();
        [[nodiscard]] std::vector<int> descriptors() const;
        // The channel of a client over RDMA; nullptr: it cannot be made, and the client is refused.
        [[nodiscard]] std::unique_ptr<channel> accept(
            std::unique_ptr<uct::rdmacm::request> from) const;
    };

    listener(manager& of, const listener_params& params, doors open);
    [[nodiscard]] std::unique_ptr<ucs::net::acceptor::pending> next_visitor(int door);
    void on_words(visitor& who) noexcept;
    void on_request(visitor& who);
    void show_out(visitor& who, action how, const char* why) noexcept;
    void hold_clients() noexcept;
    void hand_over(std::unique_ptr<conn_request> offer);

    manager& manager_;
    const listener_params params_;
    const doors doors_;
    ucs::net::acceptor acceptor_;
    std::deque<std::unique_ptr<conn_request>> offers_;  // the program has not been told of them
    std::uint64_t told_ = 0;
    bool has_reported_backlog_ = false;
};

}  // namespace ucp::cm
