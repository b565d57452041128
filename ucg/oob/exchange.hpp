// Base class of the bundled objects of ucg_oob.h: one allgather at a time, and look-ups of
// published blocks.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ucg/oob/tcp/wire.hpp"
#include "ucs/time/clock.hpp"
#include "ucs/type/status.h"

namespace ucg::oob {

// Converts a program's timeout in seconds; 0 selects the default, and infinity never ends.
[[nodiscard]] ucs::time::nanoseconds timeout_of(double seconds) noexcept;

// This rank, the number of ranks, and the timeout.
struct rank_params {
    rank_t rank = 0;
    rank_t size = 1;
    ucs::time::nanoseconds timeout = 0;  // of a round

    // Sets the timeout and validates all. UCS_ERR_INVALID_PARAM with a line in the log.
    [[nodiscard]] ucs_status_t check(const char* call, double seconds) noexcept;
};

// Runs one allgather at a time among the ranks. In between, ranks may look up blocks that others
// published. After a failure all further rounds fail in the same way, because the ranks no longer
// agree on the next round. The object belongs to the process that uses it first; a copy in a forked
// child does not disturb other ranks. Owner context; owned by the C object around it.
class exchange {
public:
    exchange(const exchange&) = delete;
    exchange& operator=(const exchange&) = delete;
    virtual ~exchange() = default;

    [[nodiscard]] rank_t rank() const noexcept { return self_.rank; }
    [[nodiscard]] rank_t size() const noexcept { return self_.size; }

    // Returns whether the exchange is private (UCG_OOB_PRIVATE).
    [[nodiscard]] virtual bool is_private() const noexcept { return false; }

    // Implement ucg_oob_t::allgather, test and release. The object is its own request.
    [[nodiscard]] ucs_status_t begin(const void* send, void* recv, std::size_t bytes) noexcept;
    [[nodiscard]] ucs_status_t test() noexcept;
    void release() noexcept;

    // Implement ucg_oob_t::publish, lookup, withdraw and progress. A refused block uses up its
    // number, too, so that the numbers of all ranks stay equal.
    [[nodiscard]] ucs_status_t publish(const void* block, std::size_t bytes,
                                       std::uint64_t& number) noexcept;
    [[nodiscard]] ucs_status_t look_up(std::uint64_t number, rank_t publisher, void* block,
                                       std::size_t& bytes) noexcept;
    [[nodiscard]] ucs_status_t withdraw(std::uint64_t number) noexcept;
    void serve() noexcept;

protected:
    explicit exchange(const rank_params& self) noexcept : self_(self) {}

    // The current round.
    struct round {
        std::uint64_t number = 0;  // from 0
        std::size_t bytes = 0;     // of each rank's block
        std::byte* into = nullptr;
        ucs::time::nanoseconds deadline = 0;
    };
    [[nodiscard]] const round& current() const noexcept { return current_; }
    [[nodiscard]] std::span<std::byte> block(rank_t rank) const noexcept {
        return {current_.into + rank * current_.bytes, current_.bytes};
    }
    [[nodiscard]] std::span<std::byte> all_blocks() const noexcept {
        return {current_.into, self_.size * current_.bytes};
    }
    [[nodiscard]] bool is_late() const noexcept { return ucs::time::now() >= current_.deadline; }
    [[nodiscard]] double timeout_seconds() const noexcept {
        return ucs::time::to_seconds(self_.timeout);
    }

    // Makes this process the owner of the object. Called before other ranks can see the object.
    void take_ownership() noexcept;
    // True if another process owns the object. This process then only closes descriptors.
    [[nodiscard]] bool is_copy() const noexcept;

    // Each writes a line to the log and returns the matching status.
    [[nodiscard]] ucs_status_t log_size_mismatch(rank_t peer, std::uint64_t peer_bytes) const;
    [[nodiscard]] ucs_status_t log_reported_failure(const char* reporter,
                                                    const wire::failure& failure) const;
    // `absent` are those of `peers` that never arrived, as far as this rank knows.
    [[nodiscard]] ucs_status_t log_timeout(std::span<const rank_t> peers,
                                           std::span<const rank_t> absent,
                                           const char* action = "take part",
                                           std::string_view place = {}) const;

    // Begins a round. This rank's block is in its place already. An error fails the object.
    [[nodiscard]] virtual ucs_status_t start() = 0;
    // Progresses the round. Returns UCS_OK, UCS_INPROGRESS, or an error that was logged.
    [[nodiscard]] virtual ucs_status_t advance() = 0;
    // Ends the round; nothing may access its memory afterwards. `status` is UCS_OK or the failure.
    // The implementation notifies other ranks of a failure if they cannot detect it.
    virtual void finish(ucs_status_t status) noexcept = 0;

    // Publishes this rank's block of at most wire::max_published bytes. Other ranks can find() it
    // when a round that begins later has succeeded. Errors need no line in the log, because the
    // caller then exchanges addresses in a round.
    [[nodiscard]] virtual ucs_status_t put(std::uint64_t number,
                                           std::span<const std::byte> block) = 0;
    // Finds a published block. Returns UCS_OK or UCS_ERR_BUFFER_TOO_SMALL by copy_block(),
    // UCS_INPROGRESS, or an error that was logged.
    [[nodiscard]] virtual ucs_status_t find(std::uint64_t number, rank_t publisher,
                                            std::span<std::byte> into, std::size_t& bytes) = 0;
    // This rank ends its look-ups of a number. UCS_INPROGRESS: see ucg_oob_t::withdraw.
    [[nodiscard]] virtual ucs_status_t drop(std::uint64_t) { return UCS_OK; }
    // Serves requests of other ranks. Called outside of rounds, too.
    virtual void serve_requests() {}

    // Copies a found block and sets `bytes`. Returns UCS_OK or UCS_ERR_BUFFER_TOO_SMALL.
    [[nodiscard]] static ucs_status_t copy_block(std::span<const std::byte> block,
                                                 std::span<std::byte> into,
                                                 std::size_t& bytes) noexcept;

private:
    enum class state { idle, under_way, ended };
    // A block that this rank has published.
    struct publication {
        std::uint64_t number;
        std::uint64_t next_round;  // the first round that began after the publication
    };
    struct pending_lookup {
        std::uint64_t number;
        rank_t publisher;
        ucs::time::nanoseconds deadline;
    };

    void end(ucs_status_t status) noexcept;
    template<class Body>
    ucs_status_t guarded(const Body& body) noexcept;
    [[nodiscard]] ucs_status_t refuse_copy() const noexcept;
    [[nodiscard]] ucs::time::nanoseconds deadline() const noexcept;
    [[nodiscard]] ucs_status_t check_lookup_deadline(std::uint64_t number, rank_t publisher);

    const rank_params self_;
    round current_;
    std::uint64_t next_round_ = 0;
    std::uint64_t rounds_over_ = 0;  // number of successful rounds
    std::uint64_t next_number_ = 0;
    std::vector<publication> published_;
    std::vector<pending_lookup> pending_lookups_;
    state state_ = state::idle;
    ucs_status_t failure_ = UCS_OK;
    pid_t owner_ = 0;
};

// The exchange of a single rank.
[[nodiscard]] std::unique_ptr<exchange> make_single();

}  // namespace ucg::oob
