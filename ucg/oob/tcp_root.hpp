// The store at rank 0.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ucg/oob/exchange.hpp"
#include "ucg/oob/job_key.hpp"
#include "ucg/oob/tcp_link.hpp"
#include "ucg/oob/tcp_store.hpp"
#include "ucs/log/throttle.hpp"
#include "ucs/net/admission.hpp"
#include "ucs/type/result.hpp"

namespace ucg::oob {

// Takes the blocks of all others straight into the result, then sends everybody the result; keeps
// what they publish, and answers who asks, one question at a time. Who connects is a stranger until
// it has proven the job key, if there is one, and said which rank it is. Strangers are bounded by
// ucs::net::admission: those that say nothing or something else are dropped, and disturb nobody.
// Owner context.
class tcp_root final : public exchange {
public:
    // `listener` may be none in tests, which adopt(). UCS_ERR_IO_ERROR.
    [[nodiscard]] static ucs::result<std::unique_ptr<tcp_root>> make(const membership& who,
                                                                     std::uint64_t job,
                                                                     ucs::unique_fd listener,
                                                                     const job_key& key = {});
    ~tcp_root() override;

    // Somebody who has connected.
    void adopt(ucs::unique_fd socket);

private:
    enum class sending : std::uint8_t { nothing, result, answer };
    // Why read() has stopped.
    enum class read_end : std::uint8_t {
        drained,  // nothing more has come, or nothing more is taken from it now
        limit,    // it took as many frames as one call takes; more may wait in the socket
    };
    struct guest : ucs::net::admission::candidate {
        guest(ucs::unique_fd socket, const ucs::security::key* shared) noexcept
            : link(std::move(socket)) {
            opening.emplace(ucs::security::opening::role::server, shared, store_purpose);
        }

        tcp_link link;
        std::optional<ucs::security::opening> opening{};  // until both sides agree
        rank_t rank = 0;                                  // 0: a stranger
        std::uint32_t interest = 0;
        bool has_said_who = false;
        bool has_given = false;
        bool is_ahead = false;  // its block for the next round waits in the socket
        bool is_owed = false;   // it has not got the whole result
        bool is_late = false;   // its time for the next round is over
        // A block for the next round that others' questions would wait behind.
        bool is_early_coming = false;
        std::optional<std::vector<std::byte>> early{};
        std::vector<std::byte> incoming{};  // what comes that goes into no result
        std::optional<std::pair<std::uint64_t, rank_t>> question{};  // not answered yet
        sending out = sending::nothing;
        tcp_store::block answer{};  // on its way
        bool is_told = false;       // of the failure
        bool is_gone = false;
    };

    tcp_root(const membership& who, std::uint64_t job, ucs::unique_fd listener, const job_key& key,
             ucs::unique_fd epoll);

    ucs_status_t start() override;
    ucs_status_t advance() override;
    void finish(ucs_status_t why) noexcept override;
    ucs_status_t put(std::uint64_t number, std::span<const std::byte> block) override;
    ucs_status_t find(std::uint64_t number, rank_t of, std::span<std::byte> into,
                      std::size_t& bytes) override;
    ucs_status_t drop(std::uint64_t number) override;
    void answer() override;

    void poll();
    void accept_all();
    void enforce_limits() noexcept;
    [[nodiscard]] bool displace_one();
    void dismiss(guest& stranger) noexcept;
    void cannot_accept(int why);
    void drop_strangers();
    void look_for_silent();
    void serve(guest& from, std::uint32_t events);
    // Takes what has come from it, up to most_frames.
    read_end read(guest& from);
    [[nodiscard]] bool read_frame(guest& from);
    [[nodiscard]] bool take_opening(guest& from);
    [[nodiscard]] bool take_frame(guest& from);
    [[nodiscard]] bool take_block(guest& from);
    [[nodiscard]] bool take_early(guest& from);
    [[nodiscard]] bool use_early(guest& from);
    void take_early_blocks();
    [[nodiscard]] bool take_late(guest& from);
    [[nodiscard]] bool take_in(guest& from);
    [[nodiscard]] bool take_published(guest& from);
    [[nodiscard]] bool take_question(guest& from);
    [[nodiscard]] bool take_withdrawn(guest& from);
    [[nodiscard]] bool put_next(guest& to);
    [[nodiscard]] static bool is_paused(const guest& which) noexcept {
        return which.is_ahead || which.question || which.out == sending::answer;
    }
    [[nodiscard]] bool greet(guest& from);
    [[nodiscard]] bool refuse(guest& from, ucs_status_t why, const char* text);
    void let_go(guest& stranger);
    void lose(guest& which, const char* how);
    void ignore(const guest& which) noexcept;
    void watch(guest& which) noexcept;
    void share();
    void send_on(guest& to);
    [[nodiscard]] std::vector<rank_t> missing() const;
    void fail_late();
    void fail(ucs_status_t why, std::span<const rank_t> culprits) noexcept;
    void dismiss_strangers(bool may_know) noexcept;
    void tell(guest& whom) noexcept;

    const std::uint64_t job_;
    const job_key key_;
    const ucs::unique_fd listener_;
    const ucs::unique_fd epoll_;
    ucs::net::admission admission_;  // of strangers_
    // By rank; none: did not come. Those that are gone stay, but without their socket's events.
    std::vector<std::unique_ptr<guest>> members_;
    std::vector<std::unique_ptr<guest>> strangers_;
    std::vector<rank_t> lost_;
    rank_t wanted_ = 0;   // blocks that are missing
    rank_t sending_ = 0;  // members that have not got the whole result
    bool is_in_round_ = false;
    bool is_sharing_ = false;
    tcp_store store_;
    ucs::time::nanoseconds next_look_ = 0;
    ucs_status_t failed_ = UCS_OK;
    wire::failure said_;
    ucs::log::throttle complaints_;
    bool has_reported_crowd_ = false;
};

}  // namespace ucg::oob
