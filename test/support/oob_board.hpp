// Out-of-band exchange for tests whose ranks run in one thread.
#pragma once

#include <ucg/api/ucg.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace test {

// An out-of-band exchange of ranks that live in one thread. A class can derive from it to delay
// contributions and to let ranks die.
class board {
public:
    explicit board(std::uint32_t size);
    virtual ~board() = default;
    board(const board&) = delete;
    board& operator=(const board&) = delete;

    [[nodiscard]] const ucg_oob_t* oob(std::uint32_t rank) const { return &members_[rank]; }
    // This rank does not take part (any more).
    void silence(std::uint32_t rank) { seats_[rank].silent = true; }
    // From now on a lookup is answered after it was made this many times.
    void delay_answers(unsigned times) { delay_ = times; }
    // From now on no address is found.
    void lose_answers() { lost_ = true; }
    // Returns whether other ranks may still look up addresses of a rank that withdraws.
    void keep_asking(bool on) { asking_ = on; }
    // Number of addresses that were found.
    [[nodiscard]] unsigned answers() const { return answers_; }
    // Ranks that may still look up addresses, of everything published.
    [[nodiscard]] unsigned open() const { return open_; }

protected:
    // The time at which other ranks see a contribution that is made now, and the time.
    virtual std::uint64_t next_arrival() { return 0; }
    [[nodiscard]] virtual std::uint64_t now() const { return 0; }
    // A round that waits for a dead rank fails.
    [[nodiscard]] virtual bool is_dead(std::uint32_t) const { return false; }
    // Ranks cannot publish addresses, and a canceled round, or blocks of different lengths, end the
    // exchange.
    void be_strict();

private:
    struct seat {
        board* owner;
        std::uint32_t rank;
        bool silent = false;
        std::size_t rounds = 0;  // begun
        void* recv = nullptr;
        std::size_t bytes = 0;
        std::uint64_t published = 0;
        ucs_status_t failure = UCS_OK;  // permanent
    };
    struct contribution {
        bool is_posted = false;
        std::uint64_t visible_at = 0;
        std::vector<std::byte> data;
    };
    static ucs_status_t allgather(void* arg, const void* send, void* recv, std::size_t bytes,
                                  void** request);
    static ucs_status_t test(void* arg, void* request);
    ucs_status_t test_round(seat& self);
    static void release(void* arg, void* request);
    static ucs_status_t publish(void* arg, const void* block, std::size_t bytes,
                                std::uint64_t* number);
    static ucs_status_t look_up(void* arg, std::uint64_t number, std::uint32_t rank, void* block,
                                std::size_t* bytes);
    static ucs_status_t withdraw(void* arg, std::uint64_t number);
    static void progress(void* arg);

    std::vector<seat> seats_;
    std::vector<ucg_oob_t> members_;
    std::vector<std::vector<contribution>> rounds_;               // by round and rank
    std::vector<std::vector<std::vector<std::byte>>> published_;  // by number and rank
    unsigned delay_ = 0;
    unsigned turns_ = 0;
    unsigned answers_ = 0;
    unsigned open_ = 0;
    bool lost_ = false;
    bool strict_ = false;
    bool asking_ = false;
};

}  // namespace test
