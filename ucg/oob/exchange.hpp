// What all bundled objects of ucg_oob.h share.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ucg/oob/tcp_wire.hpp"
#include "ucs/time/clock.hpp"
#include "ucs/type/status.h"

namespace ucg::oob {

// Seconds as a program gives them; 0 is the default. Never for infinity.
[[nodiscard]] ucs::time::nanoseconds timeout_of(double seconds) noexcept;

// How this rank takes part.
struct membership {
    rank_t rank = 0;
    rank_t size = 1;
    ucs::time::nanoseconds timeout = 0;  // for a round

    // UCS_ERR_INVALID_PARAM with a line in the log.
    [[nodiscard]] ucs_status_t check(const char* call, double seconds) noexcept;
};

// One allgather at a time among the members, and blocks that they may look up in between. After a
// failure all further ones fail in the same way: the members no longer agree on what comes next. It
// belongs to the process that uses it first: a copy that a fork() made elsewhere disturbs nobody.
// Owner context; owned by the C object around it.
class exchange {
public:
    exchange(const exchange&) = delete;
    exchange& operator=(const exchange&) = delete;
    virtual ~exchange() = default;

    [[nodiscard]] rank_t rank() const noexcept { return who_.rank; }
    [[nodiscard]] rank_t size() const noexcept { return who_.size; }

    // Returns whether the exchange is private (UCG_OOB_PRIVATE).
    [[nodiscard]] virtual bool is_private() const noexcept { return false; }

    // As ucg_oob_t::allgather, test and release; the object is its own request.
    [[nodiscard]] ucs_status_t begin(const void* send, void* recv, std::size_t bytes) noexcept;
    [[nodiscard]] ucs_status_t test() noexcept;
    void release() noexcept;

    // As ucg_oob_t::publish, lookup, withdraw and progress. A number is used up also where its
    // block is refused, so that those of all ranks stay the same.
    [[nodiscard]] ucs_status_t publish(const void* block, std::size_t bytes,
                                       std::uint64_t& number) noexcept;
    [[nodiscard]] ucs_status_t look_up(std::uint64_t number, rank_t of, void* block,
                                       std::size_t& bytes) noexcept;
    [[nodiscard]] ucs_status_t withdraw(std::uint64_t number) noexcept;
    void serve() noexcept;

protected:
    explicit exchange(const membership& who) noexcept : who_(who) {}

    // The round under way. `from` is this rank's block in `into`.
    struct round {
        std::uint64_t number = 0;  // from 0
        std::size_t bytes = 0;     // of each
        std::byte* into = nullptr;
        ucs::time::nanoseconds deadline = 0;
    };
    [[nodiscard]] const round& now() const noexcept { return now_; }
    [[nodiscard]] std::span<std::byte> block(rank_t of) const noexcept {
        return {now_.into + of * now_.bytes, now_.bytes};
    }
    [[nodiscard]] std::span<std::byte> all_blocks() const noexcept {
        return {now_.into, who_.size * now_.bytes};
    }
    [[nodiscard]] bool is_late() const noexcept { return ucs::time::now() >= now_.deadline; }
    [[nodiscard]] double timeout_seconds() const noexcept {
        return ucs::time::to_seconds(who_.timeout);
    }

    // The object belongs to this process from here on, as the others may see of it already.
    void own() noexcept;
    // Whether it belongs to another process: then this one closes descriptors, and does no more.
    [[nodiscard]] bool is_copy() const noexcept;

    // A line in the log, and the status that it means.
    [[nodiscard]] ucs_status_t differs(rank_t who, std::uint64_t its_bytes) const;
    [[nodiscard]] ucs_status_t told(const char* by, const wire::failure& why) const;
    // `absent` are those of `who` that were never here, as far as that is known.
    [[nodiscard]] ucs_status_t late(std::span<const rank_t> who, std::span<const rank_t> absent,
                                    const char* what = "take part",
                                    std::string_view where = {}) const;

    // A round begins: this rank's block is in its place already. An error fails the object.
    [[nodiscard]] virtual ucs_status_t start() = 0;
    // Moves it on: UCS_OK, UCS_INPROGRESS or an error, which was logged.
    [[nodiscard]] virtual ucs_status_t advance() = 0;
    // It ends here and nothing may touch its memory any more; `why` is UCS_OK or how it failed. The
    // others are to be told of a failure where they cannot see it.
    virtual void finish(ucs_status_t why) noexcept = 0;

    // This rank's block of at most wire::most_published bytes, for those who find() it once a round
    // that begins later has ended well. Errors need no line in the log: then addresses are
    // exchanged.
    [[nodiscard]] virtual ucs_status_t put(std::uint64_t number,
                                           std::span<const std::byte> block) = 0;
    // UCS_OK by hand_over(); UCS_INPROGRESS; else an error, which was logged.
    [[nodiscard]] virtual ucs_status_t find(std::uint64_t number, rank_t of,
                                            std::span<std::byte> into, std::size_t& bytes) = 0;
    // This rank does not look for what has this number any more. UCS_INPROGRESS: see
    // ucg_oob_t::withdraw.
    [[nodiscard]] virtual ucs_status_t drop(std::uint64_t) { return UCS_OK; }
    // What others ask, while there may be no round.
    virtual void answer() {}

    // The result of a look-up: UCS_OK or UCS_ERR_BUFFER_TOO_SMALL.
    [[nodiscard]] static ucs_status_t hand_over(std::span<const std::byte> block,
                                                std::span<std::byte> into,
                                                std::size_t& bytes) noexcept;

private:
    enum class state { idle, under_way, ended };
    // What this rank has published.
    struct publication {
        std::uint64_t number;
        std::uint64_t before;  // a round that was not begun then
    };
    struct unanswered {
        std::uint64_t number;
        rank_t of;
        ucs::time::nanoseconds deadline;
    };

    void end(ucs_status_t how) noexcept;
    template<class Body>
    ucs_status_t guarded(const Body& body) noexcept;
    [[nodiscard]] ucs_status_t refuse_copy() const noexcept;
    [[nodiscard]] ucs::time::nanoseconds deadline() const noexcept;
    [[nodiscard]] ucs_status_t see_question(std::uint64_t number, rank_t of);

    const membership who_;
    round now_;
    std::uint64_t next_round_ = 0;
    std::uint64_t rounds_over_ = 0;  // the number of those that ended well
    std::uint64_t next_number_ = 0;
    std::vector<publication> published_;
    std::vector<unanswered> asked_;
    state state_ = state::idle;
    ucs_status_t failure_ = UCS_OK;
    pid_t owner_ = 0;
};

// A rank alone.
[[nodiscard]] std::unique_ptr<exchange> make_single();

}  // namespace ucg::oob
