// The TCP store's server at rank 0.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ucg/oob/exchange.hpp"
#include "ucg/oob/tcp/link.hpp"
#include "ucg/oob/tcp/store.hpp"
#include "ucs/log/throttle.hpp"
#include "ucs/net/admission.hpp"
#include "ucs/security/key_handshake.hpp"
#include "ucs/type/result.hpp"

namespace ucg::oob {

// Receives the blocks of all other ranks directly into the result, then sends the result to all.
// Stores published blocks and serves look-ups, one request of a rank at a time. A connection is a
// stranger until the peer has proven the job key, if there is one, and sent its rank.
// ucs::net::admission bounds the strangers: silent or invalid ones are dropped and disturb no rank.
// Owner context.
class tcp_root final : public exchange {
public:
    // `listener` may be empty in tests, which call adopt(). UCS_ERR_IO_ERROR.
    [[nodiscard]] static ucs::result<std::unique_ptr<tcp_root>> make(const rank_params& self,
                                                                     std::uint64_t job,
                                                                     ucs::unique_fd listener,
                                                                     const job_key& key = {});
    ~tcp_root() override;

    // Takes over an accepted socket.
    void adopt(ucs::unique_fd socket);

private:
    enum class sending : std::uint8_t { nothing, result, reply };
    // The reason why read() stopped.
    enum class read_end : std::uint8_t {
        drained,  // no more data has arrived, or receiving from the peer is paused
        limit,    // the limit of frames in one call is reached; more may wait in the socket
    };
    struct connection : ucs::net::admission::candidate {
        connection(ucs::unique_fd socket, const ucs::security::key* shared) noexcept
            : link(std::move(socket)) {
            handshake.emplace(ucs::security::key_handshake::role::server, shared, store_purpose);
        }

        tcp_link link;
        std::optional<ucs::security::key_handshake> handshake{};  // until both sides agree
        rank_t rank = 0;                                          // 0: a stranger
        std::uint32_t interest = 0;
        bool is_identified = false;
        bool has_sent_block = false;
        bool has_block_waiting = false;  // the peer's block for the next round waits in the socket
        bool awaits_result = false;      // the peer has not received the complete result
        bool is_late = false;            // the peer's deadline for the next round has passed
        // A short block for the next round, received early so that look-ups behind it are served.
        bool is_receiving_early = false;
        std::optional<std::vector<std::byte>> early_block{};
        std::vector<std::byte> content{};  // content that is not part of a result
        std::optional<std::pair<std::uint64_t, rank_t>> request{};  // number and publisher; not
                                                                    // served yet
        sending out = sending::nothing;
        tcp_store::block reply{};  // the block that is being sent
        bool is_notified = false;  // the failure was sent
        bool is_closed = false;
    };

    tcp_root(const rank_params& self, std::uint64_t job, ucs::unique_fd listener,
             const job_key& key, ucs::unique_fd epoll);

    ucs_status_t start() override;
    ucs_status_t advance() override;
    void finish(ucs_status_t status) noexcept override;
    ucs_status_t put(std::uint64_t number, std::span<const std::byte> block) override;
    ucs_status_t find(std::uint64_t number, rank_t publisher, std::span<std::byte> into,
                      std::size_t& bytes) override;
    ucs_status_t drop(std::uint64_t number) override;
    void serve_requests() override;

    void poll();
    void accept_all();
    void enforce_limits() noexcept;
    [[nodiscard]] bool drop_least_stranger();
    void close_stranger(connection& peer) noexcept;
    void report_accept_error(int why);
    void drop_strangers();
    void drop_silent_peers();
    void serve(connection& peer, std::uint32_t events);
    // Receives up to max_frames frames.
    read_end read(connection& peer);
    [[nodiscard]] bool read_frame(connection& peer);
    [[nodiscard]] bool progress_handshake(connection& peer);
    [[nodiscard]] bool receive_frame(connection& peer);
    [[nodiscard]] bool receive_block(connection& peer);
    [[nodiscard]] bool receive_early_block(connection& peer);
    [[nodiscard]] bool use_early_block(connection& peer);
    void use_early_blocks();
    [[nodiscard]] bool receive_late(connection& peer);
    [[nodiscard]] bool receive_content(connection& peer);
    [[nodiscard]] bool receive_published(connection& peer);
    [[nodiscard]] bool receive_lookup(connection& peer);
    [[nodiscard]] bool receive_withdrawn(connection& peer);
    [[nodiscard]] bool start_next_frame(connection& peer);
    [[nodiscard]] static bool is_paused(const connection& peer) noexcept {
        return peer.has_block_waiting || peer.request || peer.out == sending::reply;
    }
    [[nodiscard]] bool receive_hello(connection& peer);
    [[nodiscard]] bool refuse(connection& peer, ucs_status_t status, const char* reason);
    void close_unidentified(connection& peer);
    void drop_peer(connection& peer, const char* reason);
    void remove_events(const connection& peer) noexcept;
    void update_events(connection& peer) noexcept;
    void send_results();
    void send_next(connection& peer);
    [[nodiscard]] std::vector<rank_t> missing() const;
    void fail_timed_out();
    void fail(ucs_status_t status, std::span<const rank_t> culprits) noexcept;
    void notify_strangers(bool may_know) noexcept;
    void notify_failure(connection& peer) noexcept;

    const std::uint64_t job_;
    const job_key key_;
    const ucs::unique_fd listener_;
    const ucs::unique_fd epoll_;
    ucs::net::admission admission_;  // bounds strangers_
    // By rank; null: the rank has not connected. Closed connections stay without socket events.
    std::vector<std::unique_ptr<connection>> members_;
    std::vector<std::unique_ptr<connection>> strangers_;
    std::vector<rank_t> lost_;
    rank_t missing_blocks_ = 0;   // missing blocks
    rank_t pending_results_ = 0;  // members that have not received the complete result
    bool is_in_round_ = false;
    bool is_sending_results_ = false;
    tcp_store store_;
    ucs::time::nanoseconds next_check_ = 0;
    ucs_status_t failed_ = UCS_OK;
    wire::failure failure_;
    ucs::log::throttle warnings_;
    bool has_reported_excess_ = false;
};

}  // namespace ucg::oob
