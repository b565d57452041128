// Out-of-band exchange for tests whose ranks run in one thread.
#pragma once

#include <ucg/api/ucg.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace test {

// An out-of-band exchange of ranks that live in one thread.
class board {
public:
    explicit board(std::uint32_t size);
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

private:
    struct seat {
        board* owner;
        std::uint32_t rank;
        bool silent = false;
        std::size_t rounds = 0;  // begun
        void* recv = nullptr;
        std::size_t bytes = 0;
        std::uint64_t published = 0;
    };
    static ucs_status_t allgather(void* arg, const void* send, void* recv, std::size_t bytes,
                                  void** request);
    static ucs_status_t test(void* arg, void* request);
    static void release(void* arg, void* request);
    static ucs_status_t publish(void* arg, const void* block, std::size_t bytes,
                                std::uint64_t* number);
    static ucs_status_t look_up(void* arg, std::uint64_t number, std::uint32_t rank, void* block,
                                std::size_t* bytes);
    static ucs_status_t withdraw(void* arg, std::uint64_t number);
    static void progress(void* arg);

    std::vector<seat> seats_;
    std::vector<ucg_oob_t> members_;
    std::vector<std::vector<std::vector<std::byte>>> blocks_;     // by round and rank
    std::vector<std::vector<std::vector<std::byte>>> published_;  // by number and rank
    unsigned delay_ = 0;
    unsigned turns_ = 0;
    unsigned answers_ = 0;
    unsigned open_ = 0;
    bool lost_ = false;
    bool asking_ = false;
};

}  // namespace test
