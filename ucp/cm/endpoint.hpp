// Endpoints by socket address, of the client and of the server.
#pragma once

#include <string_view>

#include "ucp/cm/conn_request.hpp"
#include "ucp/cm/connect.hpp"
#include "ucp/core/ep.hpp"
#include "ucp/wireup/socket_part.hpp"
#include "ucs/async/event_loop.hpp"
#include "ucs/type/result.hpp"

namespace ucp::cm {

// Parameters of a client's ucp_ep_create.
struct client_params {
    uct::tcp::socket_address to;
    uct::tcp::socket_address from;  // family AF_UNSPEC: any
    bool show_client_id = false;
};

// The part of an endpoint by socket address: its side, its addresses, and, until the connection is
// established, the handshake with the other side. Owned by its endpoint; owner context.
class ep_part final : public task, public wireup::socket_part {
public:
    ep_part(manager& parent, ep& whole, side own_side, std::uint64_t token) noexcept
        : socket_part(own_side, token), manager_(parent), whole_(whole) {}
    ~ep_part() override;

    ucs_status_t start_client(const client_params& params);
    ucs_status_t start_server(std::unique_ptr<channel> over, const uct::tcp::socket_address& from);
    // Refuses the client because no transport leads to it.
    void refuse() noexcept;

    void on_state(wireup::state now) noexcept override;
    void run() override;

    [[nodiscard]] const uct::tcp::socket_address& local() const noexcept { return local_; }
    [[nodiscard]] const uct::tcp::socket_address& remote() const noexcept { return remote_; }

private:
    // Entry of a server's client among the clients that have not answered.
    struct accepted final : accepted_client {
        explicit accepted(ep_part& part) noexcept : whole(part) {}
        void on_displaced() noexcept override { whole.give_up(UCS_ERR_EXCEEDS_LIMIT); }
        ep_part& whole;
    };

    ucs_status_t watch(std::uint32_t events) noexcept;
    // Starts to connect over the next usable transport. Returns 0, or the error of the last one.
    int try_next();
    bool set_deadline() noexcept;
    bool keep_checking() noexcept;
    void check() noexcept;
    void run_connecting();
    void go_on_or_fail(int error, bool late);
    void run_accepted();
    void give_up(ucs_status_t status) noexcept;
    void handle(event input, ucs_status_t status) noexcept;
    void take_input() noexcept;
    // Logs why the connection failed.
    void log_failure(std::string_view why) const noexcept;
    void on_connected() noexcept;
    void advance_handshake() noexcept;
    void on_agreed() noexcept;
    [[nodiscard]] bool send_request();
    [[nodiscard]] bool read_refusal() noexcept;
    void on_refusal() noexcept;
    void close() noexcept;
    void drop_channel() noexcept;

    manager& manager_;
    ep& whole_;
    bool shows_client_id_ = false;
    bool late_ = false;
    ucs_status_t given_up_ = UCS_OK;  // why the server no longer waits for the client's answer
    ucs::time::nanoseconds checked_for_ = 0;  // time without an answer of the client
    int refused_ = 0;                         // error of the kernel when connecting was started
    phase phase_ = phase::over;
    std::unique_ptr<channel> channel_;
    std::vector<transport> untried_;
    uct::tcp::socket_address from_;  // local address that the program asked for
    ucs::time::nanoseconds give_up_at_ = 0;
    std::optional<ucs::security::key_handshake> handshake_;  // while both sides prove the job key
    frame_reader input_;
    ucs::async::event_loop::timer_id timer_ =
        0;  // while connecting: time limit; later: interval of channel::check
    uct::tcp::socket_address local_;
    uct::tcp::socket_address remote_;
    accepted accepted_{*this};
};

// Makes the client's endpoint and starts to connect.
ucs::result<ep*> connect(worker& owner, const client_params& to, const ep_params& params);

// Makes the server's endpoint, on any worker of the context. Consumes the request.
ucs::result<ep*> accept(worker& owner, std::unique_ptr<conn_request> from, const ep_params& params);

}  // namespace ucp::cm
