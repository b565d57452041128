// Endpoints by socket address: the client's and the server's.
#pragma once

#include <string_view>

#include "ucp/cm/conn_request.hpp"
#include "ucp/cm/connect.hpp"
#include "ucp/core/ep.hpp"
#include "ucs/async/event_loop.hpp"
#include "ucs/type/result.hpp"

namespace ucp::cm {

// What a client's ucp_ep_create was asked for.
struct client_params {
    uct::tcp::socket_address to;
    uct::tcp::socket_address from;  // family AF_UNSPEC: any
    bool show_client_id = false;
};

// The part of an endpoint that was made by socket address: which half it is, its addresses, and,
// until the connection stands, the exchange with the other side. Owned by its endpoint; owner
// context.
class ep_part final : public task {
public:
    enum class half : std::uint8_t { client, server };

    ep_part(manager& of, ep& whole, half which, std::uint64_t token) noexcept
        : manager_(of), whole_(whole), which_(which), token_(token) {}
    ~ep_part() override;

    ucs_status_t start_client(const client_params& params);
    ucs_status_t start_server(std::unique_ptr<channel> by, const uct::tcp::socket_address& from);
    // No transport leads to the client.
    void refuse() noexcept;

    // The endpoint's connection changed; see ucp/wireup/state.hpp. Calls nobody back.
    void on_state(wireup::state now) noexcept;
    void run() override;

    [[nodiscard]] half which() const noexcept { return which_; }
    [[nodiscard]] std::uint64_t token() const noexcept { return token_; }
    // The client has no peer before the server's bind came.
    [[nodiscard]] bool waits_for_bind() const noexcept { return which_ == half::client && !bound_; }
    void bind() noexcept { bound_ = true; }

    [[nodiscard]] const uct::tcp::socket_address& local() const noexcept { return local_; }
    [[nodiscard]] const uct::tcp::socket_address& remote() const noexcept { return remote_; }

private:
    // The place of a server's client among those that have not answered.
    struct accepted final : accepted_client {
        explicit accepted(ep_part& of) noexcept : whole(of) {}
        void on_displaced() noexcept override { whole.give_up(UCS_ERR_EXCEEDS_LIMIT); }
        ep_part& whole;
    };

    ucs_status_t watch(std::uint32_t events) noexcept;
    // Begins with the next carrier that can be begun with. 0, or why the last one could not.
    int try_next();
    bool set_deadline() noexcept;
    bool keep_checking() noexcept;
    void check() noexcept;
    void run_connecting();
    void go_on_or_fail(int error, bool late);
    void run_accepted();
    void give_up(ucs_status_t status) noexcept;
    void handle(event what, ucs_status_t status) noexcept;
    void take_input() noexcept;
    // Why there will be no connection.
    void tell_failure(std::string_view why) const noexcept;
    void on_connected() noexcept;
    void take_opening() noexcept;
    void on_agreed() noexcept;
    [[nodiscard]] bool send_request();
    [[nodiscard]] bool read_refusal() noexcept;
    void on_refusal() noexcept;
    void close() noexcept;
    void drop_channel() noexcept;

    manager& manager_;
    ep& whole_;
    const half which_;
    bool bound_ = false;
    bool shows_client_id_ = false;
    bool late_ = false;
    ucs_status_t given_up_ = UCS_OK;          // why the client need not answer any more
    ucs::time::nanoseconds checked_for_ = 0;  // without an answer of the client
    int refused_ = 0;                         // why the kernel would not even begin to connect
    phase phase_ = phase::over;
    const std::uint64_t token_;
    std::unique_ptr<channel> channel_;
    std::vector<carrier> untried_;
    uct::tcp::socket_address from_;  // that the program wants
    ucs::time::nanoseconds give_up_at_ = 0;
    std::optional<ucs::security::opening> opening_;  // while both sides prove the job key
    inbox said_;
    ucs::async::event_loop::timer_id timer_ = 0;  // connecting: its limit; later: channel::check
    uct::tcp::socket_address local_;
    uct::tcp::socket_address remote_;
    accepted accepted_{*this};
};

// The client's endpoint; connecting has begun.
ucs::result<ep*> connect(worker& owner, const client_params& to, const ep_params& params);

// The server's endpoint, on any worker of the context. The request is used up.
ucs::result<ep*> accept(worker& owner, std::unique_ptr<conn_request> from, const ep_params& params);

}  // namespace ucp::cm
