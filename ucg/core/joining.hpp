// How a number of processes becomes a group.
#pragma once

#include <memory>
#include <vector>

#include "ucg/core/exchange.hpp"
#include "ucg/core/job_key.hpp"
#include "ucg/net/address_book.hpp"
#include "ucg/node/neighbours.hpp"
#include "ucg/node/segment.hpp"
#include "ucg/schedule/placement.hpp"
#include "ucs/time/clock.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucg {

class context;

// Holds all that a rank knows when it has joined.
struct membership {
    schedule::rank_t rank = 0;
    schedule::placement where{1};
    std::uint32_t id = 0;
    net::contacts contacts;  // of nobody where one node has all ranks
    node::segment memory;    // of this rank's node, where it does something together
    std::vector<node::process_mark> processes;  // of the ranks of this node
    std::vector<std::uint32_t> numa;            // and the numbers of their domains
    // How many groups `memory` has room for on all ranks, this one included.
    std::uint32_t copies = 1;
    // Whether all ranks of all nodes may read the memory of those that they share a node with.
    bool may_read = false;

    [[nodiscard]] schedule::rank_t size() const noexcept { return where.ranks(); }
};

// Four rounds of an exchange: who is there; under which number, with what memory and how long
// addresses are (again while numbers clash); the addresses, unless the exchange has them already,
// as that over a group does, or lets them be looked up; whether everybody has all it needs. If a
// rank wants single copies, there is a fifth: whether all may read the memory of each other. All
// members of the exchange go through the same rounds, of whatever color. Owner context.
class joining {
public:
    struct wish {
        std::uint32_t color = 0;
        std::uint32_t key = 0;
        ucs::time::nanoseconds deadline;
        std::uint32_t siblings = 0;  // see ucg_group_params_t
    };
    static constexpr std::uint32_t no_color = ~std::uint32_t{0};

    joining(context& of, std::unique_ptr<exchange> by, const wish& what);
    // Gives the number back unless it was taken over.
    ~joining();

    // UCS_INPROGRESS; UCS_OK: take() it; else why it failed, with a line in the log.
    [[nodiscard]] ucs_status_t advance() noexcept;
    [[nodiscard]] membership take() noexcept;

private:
    // What ranks say; from others, so it may be anything.
    struct who {
        std::uint64_t node;
        node::process_mark process;
        std::uint32_t color;
        std::uint32_t key;
        std::uint32_t proposal;  // of a number; none: all are to begin at 0
        std::uint32_t numa;      // of the domain that it runs on (node/domains.hpp)
        std::uint64_t options;   // a hash of those that must be the same
        std::uint32_t siblings;  // wanted
        std::uint32_t reads;     // 1: single copies are wanted
        key_offer job_key;
    };
    struct how {
        std::uint32_t agreed;    // 1: the number is free here
        std::uint32_t proposal;  // else another one
        std::uint32_t address_length;
        std::int32_t memory;  // descriptor of the node's memory, of its lowest rank
        std::int32_t status;
        std::uint32_t copies;      // how many groups this memory has room for
        std::uint64_t memory_tag;  // part of the name of that memory
        std::uint64_t
            published;  // 1 + the number of its address, which can be looked up; 0: it cannot
    };
    struct ready {
        std::int32_t status;
        std::uint32_t copies;  // for how many groups it has mapped the node's memory
    };
    struct readable {
        std::uint32_t may_read;  // 1: the memory of all others of its node
    };
    enum class stage : std::uint8_t {
        begin,
        who,
        how,
        addresses,
        neighbours,
        ready,
        readable,
        over
    };

    ucs_status_t see_deadline() const;
    ucs_status_t step();
    ucs_status_t say_who();
    ucs_status_t hear_who();
    ucs_status_t say_how();
    ucs_status_t hear_how();
    ucs_status_t say_address();
    ucs_status_t hear_addresses();
    ucs_status_t find_neighbours();
    ucs_status_t say_ready();
    ucs_status_t hear_ready();
    ucs_status_t say_readable();
    ucs_status_t hear_readable();
    ucs_status_t end() noexcept;
    void compare_options();
    void agree_on_key();
    void forget_keys() noexcept;
    void find_addresses();
    [[nodiscard]] bool settle();
    [[nodiscard]] std::uint32_t leap() noexcept;
    [[nodiscard]] bool look_up_addresses();
    [[nodiscard]] ucs_status_t look_for_neighbours() noexcept;
    void prepare_how();
    [[nodiscard]] ucs_status_t open_memory();
    [[nodiscard]] bool wants_to_read() const noexcept;
    [[nodiscard]] bool may_read_all() const noexcept;
    [[nodiscard]] node::geometry geometry() const noexcept;
    [[nodiscard]] std::uint32_t most_copies() const noexcept;
    void make_memory();
    [[nodiscard]] bool shares_memory() const noexcept;
    [[nodiscard]] bool needs_addresses() const noexcept { return made_.where.nodes() > 1; }

    template<class Said>
    ucs_status_t send(const Said& own, std::vector<Said>& all, stage next);
    template<class Said>
    ucs_status_t worst(const std::vector<Said>& all, const char* what) const;

    context& context_;
    std::unique_ptr<exchange> by_;
    const wish wish_;
    stage at_ = stage::begin;
    ucs_status_t own_failure_ = UCS_OK;
    who mine_{};
    how my_way_{};
    ready my_end_{};
    std::vector<who> people_;
    std::vector<how> ways_;
    std::vector<ready> ends_;
    readable my_reading_{};
    std::vector<readable> readings_;
    std::vector<std::byte> address_;
    std::vector<std::byte> addresses_;
    std::size_t longest_ = 0;
    std::shared_ptr<net::asked_book> asked_;  // has this rank's address
    std::vector<schedule::rank_t> members_;   // of the exchange, in the order of the group
    ucs::unique_fd memory_file_;  // of the node: made here, or opened when the others have said how
    std::uint64_t own_memory_tag_ = 0;
    std::uint32_t proposal_;
    bool reserved_ = false;
    unsigned conflicts_ = 0;  // over numbers that were not free everywhere
    bool from_zero_ = false;  // the search for a number has begun anew
    membership made_;
};

}  // namespace ucg
