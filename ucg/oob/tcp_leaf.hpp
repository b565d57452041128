// A rank other than 0 of a store.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ucg/oob/exchange.hpp"
#include "ucg/oob/job_key.hpp"
#include "ucg/oob/tcp_link.hpp"
#include "ucg/oob/tcp_place.hpp"

namespace ucg::oob {

// Connects to rank 0 during the first round, as often as it takes, and stays connected: what is
// published and asked goes there as well. Owner context.
class tcp_leaf final : public exchange {
public:
    tcp_leaf(const membership& who, std::uint64_t job, tcp_place root, const job_key& key = {})
        : exchange(who), job_(job), root_(std::move(root)), key_(key) {}
    // One that is connected already; for tests.
    tcp_leaf(const membership& who, std::uint64_t job, tcp_place root, ucs::unique_fd connected,
             const job_key& key = {});
    // This rank tries these addresses first, and then those of the name of the host. For tests.
    tcp_leaf(const membership& who, std::uint64_t job, tcp_place root,
             std::vector<ucs::net::socket_address> addresses, const job_key& key = {});
    ~tcp_leaf() override;

private:
    enum class state { resting, connecting, greeting, joined };
    // What goes to rank 0 beside the blocks of rounds.
    struct letter {
        wire::header head;
        std::vector<std::byte> content;
    };
    struct inquiry {
        bool is_answered = false;
        ucs_status_t status = UCS_OK;
        std::vector<std::byte> block;
    };
    using place = std::pair<std::uint64_t, rank_t>;  // number and rank

    ucs_status_t start() override;
    ucs_status_t advance() override;
    void finish(ucs_status_t why) noexcept override;
    ucs_status_t put(std::uint64_t number, std::span<const std::byte> block) override;
    ucs_status_t find(std::uint64_t number, rank_t of, std::span<std::byte> into,
                      std::size_t& bytes) override;
    ucs_status_t drop(std::uint64_t number) override;
    void answer() override;

    void write(wire::kind what, std::uint64_t number, std::span<const std::byte> content = {});
    void send_on();
    [[nodiscard]] ucs_status_t see_answers();
    [[nodiscard]] ucs_status_t take_answer();
    [[nodiscard]] ucs_status_t join();
    void connect();
    void begin_connection(const ucs::net::socket_address& at);
    void see_connection();
    void greet(ucs::unique_fd socket);
    void say_hello();
    void leave_silent_address();
    // Returns whether there are other addresses than the one that is tried.
    [[nodiscard]] bool may_go_elsewhere() const noexcept;
    [[nodiscard]] ucs_status_t see_opening();
    [[nodiscard]] ucs_status_t see_welcome();
    void try_again(std::string why);
    [[nodiscard]] ucs_status_t take_part();
    [[nodiscard]] ucs_status_t take_frame();
    [[nodiscard]] ucs_status_t take_failure();
    [[nodiscard]] ucs_status_t see_deadline();
    [[nodiscard]] ucs_status_t lost(const char* how);
    [[nodiscard]] wire::header frame(wire::kind what) const noexcept {
        return {what, rank(), size(), job_, now().number};
    }

    const std::uint64_t job_;
    const tcp_place root_;
    const job_key key_;
    state state_ = state::resting;
    // What is tried.
    std::vector<ucs::net::socket_address> addresses_;
    std::size_t next_address_ = 0;
    ucs::unique_fd connecting_;
    ucs::time::nanoseconds try_until_ = 0;
    ucs::time::nanoseconds rest_until_ = 0;
    ucs::time::nanoseconds rest_ = 0;
    std::string last_trouble_;
    std::string last_silence_;  // at an address where a connection came about
    // When it is there.
    std::optional<tcp_link> link_;
    std::optional<ucs::security::opening> opening_;  // until both sides agree
    bool is_in_round_ = false;
    bool has_begun_ = false;  // the block is given to the link
    bool is_sending_block_ = false;
    bool is_deaf_ = false;  // the link takes no more
    bool has_complained_ = false;
    ucs::time::nanoseconds answer_until_ = 0;
    // What is looked up.
    std::deque<letter> letters_;  // the first one may be on its way
    bool is_sending_letter_ = false;
    std::map<std::uint64_t, std::size_t> kept_;  // bytes at rank 0, by number
    std::size_t kept_bytes_ = 0;
    std::set<std::uint64_t> withdrawn_;  // and rank 0 may not know it yet
    std::map<place, inquiry> inquiries_;
    std::size_t owed_answers_ = 0;   // to questions, also to those that were given up since
    std::vector<std::byte> answer_;  // that comes
};

}  // namespace ucg::oob
