// The TCP store's client: every rank except rank 0.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ucg/oob/exchange.hpp"
#include "ucg/oob/root_address.hpp"
#include "ucg/oob/tcp/link.hpp"
#include "ucs/security/key_handshake.hpp"

namespace ucg::oob {

// Connects to rank 0 during the first round, as often as necessary, and stays connected.
// Publications and look-ups use the same connection. Owner context.
class tcp_leaf final : public exchange {
public:
    tcp_leaf(const rank_params& self, std::uint64_t job, root_address root, const job_key& key = {})
        : exchange(self), job_(job), root_(std::move(root)), key_(key) {}
    // Uses a connected socket. For tests.
    tcp_leaf(const rank_params& self, std::uint64_t job, root_address root,
             ucs::unique_fd connected, const job_key& key = {});
    // Tries these addresses first, and then those of the host's name. For tests.
    tcp_leaf(const rank_params& self, std::uint64_t job, root_address root,
             std::vector<ucs::net::socket_address> addresses, const job_key& key = {});
    ~tcp_leaf() override;

private:
    enum class state { waiting, connecting, handshake, joined };
    // A frame to rank 0 other than the blocks of rounds.
    struct control_frame {
        wire::header head;
        std::vector<std::byte> content;
    };
    struct lookup {
        bool is_done = false;
        ucs_status_t status = UCS_OK;
        std::vector<std::byte> block;
    };
    using block_id = std::pair<std::uint64_t, rank_t>;  // number and publisher

    ucs_status_t start() override;
    ucs_status_t advance() override;
    void finish(ucs_status_t status) noexcept override;
    ucs_status_t put(std::uint64_t number, std::span<const std::byte> block) override;
    ucs_status_t find(std::uint64_t number, rank_t publisher, std::span<std::byte> into,
                      std::size_t& bytes) override;
    ucs_status_t drop(std::uint64_t number) override;
    void serve_requests() override;

    void queue_frame(wire::frame_kind kind, std::uint64_t number,
                     std::span<const std::byte> content = {});
    void send_next();
    [[nodiscard]] ucs_status_t receive_replies();
    [[nodiscard]] ucs_status_t receive_reply();
    [[nodiscard]] ucs_status_t join();
    void connect();
    void begin_connection(const ucs::net::socket_address& address);
    void check_connection();
    void begin_handshake(ucs::unique_fd socket);
    void send_hello();
    void skip_silent_address();
    // True if rank 0 has other addresses than the one that is tried.
    [[nodiscard]] bool has_other_addresses() const noexcept;
    [[nodiscard]] ucs_status_t progress_handshake();
    [[nodiscard]] ucs_status_t receive_welcome();
    void retry_later(std::string error);
    [[nodiscard]] ucs_status_t progress_round();
    [[nodiscard]] ucs_status_t receive_frame();
    [[nodiscard]] ucs_status_t receive_failure();
    [[nodiscard]] ucs_status_t check_deadline();
    [[nodiscard]] ucs_status_t log_lost(const char* reason);
    [[nodiscard]] wire::header frame(wire::frame_kind kind) const noexcept {
        return {kind, rank(), size(), job_, current().number};
    }

    const std::uint64_t job_;
    const root_address root_;
    const job_key key_;
    state state_ = state::waiting;
    // The connection attempts.
    std::vector<ucs::net::socket_address> addresses_;
    std::size_t next_address_ = 0;
    ucs::unique_fd connecting_;
    ucs::time::nanoseconds attempt_deadline_ = 0;
    ucs::time::nanoseconds next_attempt_ = 0;
    ucs::time::nanoseconds backoff_ = 0;
    std::string last_error_;
    std::string last_silent_;  // the last address that accepted a connection and sent nothing
    // The connection.
    std::optional<tcp_link> link_;
    std::optional<ucs::security::key_handshake> handshake_;  // until both sides agree
    bool is_in_round_ = false;
    bool has_begun_ = false;  // the block was passed to the link
    bool is_sending_block_ = false;
    bool is_send_closed_ = false;  // the link cannot send any more
    bool has_reported_timeout_ = false;
    ucs::time::nanoseconds reply_deadline_ = 0;
    // Publications and look-ups.
    std::deque<control_frame> control_frames_;  // the first one may be partly sent
    bool is_sending_control_ = false;
    std::map<std::uint64_t, std::size_t> stored_;  // bytes stored at rank 0, by number
    std::size_t stored_bytes_ = 0;
    std::set<std::uint64_t> withdrawn_;  // withdrawals that rank 0 may not have received
    std::map<block_id, lookup> lookups_;
    std::size_t pending_replies_ = 0;  // replies that rank 0 still has to send, including those to
                                       // withdrawn look-ups
    std::vector<std::byte> reply_;     // the reply that is received
};

}  // namespace ucg::oob
