// Wireup of a group: how a number of processes becomes one.
#pragma once

#include <memory>
#include <vector>

#include "ucg/core/exchange.hpp"
#include "ucg/core/job_key.hpp"
#include "ucg/net/address_book.hpp"
#include "ucg/node/engine/local_peers.hpp"
#include "ucg/node/memory/shared_memory.hpp"
#include "ucg/schedule/placement.hpp"
#include "ucs/time/clock.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucg {

class context;

// The result of the wireup: all that a rank knows about its group.
struct membership {
    schedule::rank_t rank = 0;
    schedule::placement placement{1};
    std::uint32_t id = 0;
    net::member_addresses addresses;                // empty if one node has all ranks
    node::shared_memory memory;                     // of this rank's node, if it does collectives
    std::vector<node::process_identity> processes;  // of the ranks of this node
    std::vector<std::uint32_t> numa;                // and the numbers of their domains
    // Number of groups that `memory` has room for on all ranks, including this one.
    std::uint32_t copies = 1;
    // True if every rank may read the memory of all ranks of its own node, on all nodes.
    bool may_read = false;

    [[nodiscard]] schedule::rank_t size() const noexcept { return placement.ranks(); }
};

// The wireup takes four rounds of an exchange:
// 1. the identities of all ranks;
// 2. the group's number, the node's memory and the length of addresses; repeated while numbers
// clash;
// 3. the addresses, unless the exchange has them already (an exchange over a group) or lets them be
// looked up;
// 4. whether every rank has everything it needs.
// If a rank wants single copies, a fifth round tells whether all may read each other's memory. All
// members of the exchange take part in the same rounds, whatever their color. Owner context.
class group_wireup {
public:
    struct params {
        std::uint32_t color = 0;
        std::uint32_t key = 0;
        ucs::time::nanoseconds deadline;
        std::uint32_t siblings = 0;  // see ucg_group_params_t
    };
    static constexpr std::uint32_t no_color = ~std::uint32_t{0};

    group_wireup(context& owner, std::unique_ptr<exchange> over, const params& requested);
    // Releases the number unless take() was called.
    ~group_wireup();

    // Returns UCS_INPROGRESS, UCS_OK (then call take()), or why the wireup failed, with a line in
    // the log.
    [[nodiscard]] ucs_status_t advance();  // throws std::bad_alloc
    [[nodiscard]] membership take() noexcept;

private:
    // Messages of the rounds. They come from other ranks, so they may have any content.
    struct identity {
        std::uint64_t node;
        node::process_identity process;
        std::uint32_t color;
        std::uint32_t key;
        std::uint32_t proposal;  // of a number; none: all begin at 0
        std::uint32_t numa;      // its NUMA domain (node/numa_domains.hpp)
        std::uint64_t options;   // hash of the options that must be the same
        std::uint32_t siblings;  // wanted
        std::uint32_t reads;     // 1: single copies are wanted
        key_offer job_key;
    };
    struct resources {
        std::uint32_t agreed;    // 1: the number is free on this rank
        std::uint32_t proposal;  // otherwise: another number
        std::uint32_t address_length;
        std::int32_t memory;  // descriptor of the node's memory, in its lowest rank
        std::int32_t status;
        std::uint32_t copies;      // how many groups this memory has room for
        std::uint64_t memory_tag;  // part of the name of that memory
        std::uint64_t
            published;  // 1 + the number of its address, which can be looked up; 0: it cannot
    };
    struct ready {
        std::int32_t status;
        std::uint32_t copies;  // number of groups for which the rank has mapped the memory
    };
    struct readable {
        std::uint32_t may_read;  // 1: it may read all other ranks of its node
    };
    enum class stage : std::uint8_t {
        begin,
        identities,
        resources,
        addresses,
        peer_addresses,
        ready,
        readable,
        over
    };

    ucs_status_t check_deadline() const;
    ucs_status_t step();
    ucs_status_t send_identity();
    ucs_status_t receive_identities();
    ucs_status_t send_resources();
    ucs_status_t receive_resources();
    ucs_status_t send_address();
    ucs_status_t receive_addresses();
    ucs_status_t find_peer_addresses();
    ucs_status_t send_ready();
    ucs_status_t receive_ready();
    ucs_status_t send_readable();
    ucs_status_t receive_readable();
    ucs_status_t end() noexcept;
    void compare_options();
    void agree_on_key();
    void erase_keys() noexcept;
    void find_addresses();
    [[nodiscard]] bool agree_on_number();
    [[nodiscard]] std::uint32_t number_gap() noexcept;
    [[nodiscard]] bool look_up_addresses();
    [[nodiscard]] ucs_status_t poll_peer_addresses() noexcept;
    void prepare_resources();
    [[nodiscard]] ucs_status_t open_memory();
    [[nodiscard]] bool wants_to_read() const noexcept;
    [[nodiscard]] bool may_read_all() const noexcept;
    [[nodiscard]] node::geometry geometry() const noexcept;
    [[nodiscard]] std::uint32_t most_copies() const noexcept;
    void make_memory();
    [[nodiscard]] bool shares_memory() const noexcept;
    [[nodiscard]] bool needs_addresses() const noexcept { return made_.placement.nodes() > 1; }

    template<class Message>
    ucs_status_t send(const Message& own, std::vector<Message>& all, stage next);
    template<class Message>
    ucs_status_t worst(const std::vector<Message>& all, const char* problem) const;

    context& context_;
    std::unique_ptr<exchange> exchange_;
    const params params_;
    stage stage_ = stage::begin;
    ucs_status_t own_failure_ = UCS_OK;
    identity own_identity_{};
    resources own_resources_{};
    ready own_ready_{};
    std::vector<identity> identities_;
    std::vector<resources> all_resources_;
    std::vector<ready> all_ready_;
    readable own_readable_{};
    std::vector<readable> all_readable_;
    std::vector<std::byte> address_;
    std::vector<std::byte> addresses_;
    std::size_t longest_ = 0;
    std::shared_ptr<net::lookup_address_book> book_;  // has this rank's address
    std::vector<schedule::rank_t> members_;           // of the exchange, in the order of the group
    ucs::unique_fd memory_file_;  // of the node: made by this rank, or opened after round 2
    std::uint64_t own_memory_tag_ = 0;
    std::uint32_t proposal_;
    bool reserved_ = false;
    unsigned conflicts_ = 0;  // numbers that were not free on all ranks
    bool from_zero_ = false;  // the search for a number has begun again at 0
    membership made_;
};

}  // namespace ucg
