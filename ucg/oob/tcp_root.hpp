// The store at rank 0.
#pragma once

#include <string>
#include <vector>

#include "ucg/oob/exchange.hpp"
#include "ucg/oob/tcp_link.hpp"
#include "ucs/log/throttle.hpp"
#include "ucs/type/result.hpp"

namespace ucg::oob {

// Takes the blocks of all others straight into the result, then sends everybody the result. Who
// connects is a stranger until it has said which rank it is; strangers that say nothing or
// something else are dropped, and disturb nobody. Owner context.
class tcp_root final : public exchange {
public:
    // `listener` may be none in tests, which adopt(). UCS_ERR_IO_ERROR.
    [[nodiscard]] static ucs::result<std::unique_ptr<tcp_root>> make(const membership& who,
                                                                     std::uint64_t job,
                                                                     ucs::unique_fd listener);
    ~tcp_root() override;

    // Somebody who has connected.
    void adopt(ucs::unique_fd socket);

private:
    struct guest {
        explicit guest(ucs::unique_fd socket) noexcept : link(std::move(socket)) {}

        tcp_link link;
        rank_t rank = 0;  // 0: a stranger
        ucs::time::nanoseconds until = 0;
        std::uint32_t interest = 0;
        bool has_said_who = false;
        bool has_given = false;
        bool is_ahead = false;  // its block for the next round waits in the socket
        bool is_told = false;   // of the failure
        bool is_gone = false;
    };

    tcp_root(const membership& who, std::uint64_t job, ucs::unique_fd listener,
             ucs::unique_fd epoll);

    ucs_status_t start() override;
    ucs_status_t advance() override;
    void finish(ucs_status_t why) noexcept override;

    void poll();
    void accept_all();
    [[nodiscard]] bool make_room();
    void cannot_accept(int why);
    void drop_strangers();
    void look_for_silent();
    void serve(guest& from, std::uint32_t events);
    void read(guest& from);
    [[nodiscard]] bool take_frame(guest& from);
    [[nodiscard]] bool take_block(guest& from);
    [[nodiscard]] bool greet(guest& from);
    [[nodiscard]] bool refuse(guest& from, ucs_status_t why, const char* text);
    void lose(guest& which, const char* how);
    void ignore(const guest& which) noexcept;
    void watch(guest& which, std::uint32_t interest) noexcept;
    void share();
    void send_on(guest& to);
    [[nodiscard]] std::vector<rank_t> missing() const;
    void fail_late();
    void fail(ucs_status_t why, std::span<const rank_t> culprits) noexcept;
    void dismiss_strangers(bool may_know) noexcept;
    void tell(guest& whom) noexcept;

    const std::uint64_t job_;
    const ucs::unique_fd listener_;
    const ucs::unique_fd epoll_;
    // By rank; none: did not come. Those that are gone stay, but without their socket's events.
    std::vector<std::unique_ptr<guest>> members_;
    std::vector<std::unique_ptr<guest>> strangers_;
    std::vector<rank_t> lost_;
    rank_t wanted_ = 0;   // blocks that are missing
    rank_t sending_ = 0;  // members that have not got the whole result
    bool is_sharing_ = false;
    ucs::time::nanoseconds next_look_ = 0;
    ucs_status_t failed_ = UCS_OK;
    wire::failure said_;
    ucs::log::throttle complaints_;
};

}  // namespace ucg::oob
