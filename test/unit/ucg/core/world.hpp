// Groups of many ranks in one process, each with a context of its own, all driven by one thread.
#pragma once

#include <ucg/api/ucg.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace test {

// An out-of-band exchange of ranks that live in one thread.
class board {
public:
    explicit board(std::uint32_t size);
    board(const board&) = delete;
    board& operator=(const board&) = delete;

    [[nodiscard]] const ucg_oob_t* of(std::uint32_t rank) const { return &members_[rank]; }
    // This rank never comes (again).
    void silence(std::uint32_t rank) { seats_[rank].silent = true; }
    // From now on an answer comes when it was asked for so often.
    void delay_answers(unsigned times) { delay_ = times; }
    // From now on nobody knows where anybody is.
    void lose_answers() { lost_ = true; }
    // Whether others may still ask whoever withdraws.
    void keep_asking(bool on) { asking_ = on; }
    // How often an address was found.
    [[nodiscard]] unsigned answers() const { return answers_; }
    // Ranks that may still ask, of all that was published.
    [[nodiscard]] unsigned open() const { return open_; }

private:
    struct seat {
        board* of;
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
    std::vector<std::vector<std::vector<std::byte>>> said_;       // by round and rank
    std::vector<std::vector<std::vector<std::byte>>> published_;  // by number and rank
    unsigned delay_ = 0;
    unsigned turns_ = 0;
    unsigned answers_ = 0;
    unsigned open_ = 0;
    bool lost_ = false;
    bool asking_ = false;
};

[[nodiscard]] ucg_coll_args_t barrier();

// How the making of a group ends on each of its ranks, with a context of its own that `context_of`
// makes. Nothing is left of it.
std::vector<ucs_status_t> try_to_make(
    board& over, std::uint32_t ranks,
    const std::function<ucg_context_h(std::uint32_t)>& context_of);

// A group, and its ranks' contexts.
class world {
public:
    // `nodes[i]`: name of the node of rank i, with /NAME behind it that of its NUMA node;
    // transports: UCX_TLS.
    world(const std::vector<std::string>& nodes, const char* transports = "sm,self");
    ~world();

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(groups.size()); }
    void progress();
    // Whether it came to be in a time that suffices anywhere.
    bool run_until(const std::function<bool()>& done);
    // The status that all groups have when all are decided.
    static ucs_status_t wait(world& in, const std::vector<ucg_group_h>& all);
    [[nodiscard]] board& met() { return *board_; }
    // This rank dies without a word: nothing of it moves any more, or until it is thawed.
    void freeze(std::uint32_t rank) { frozen_[rank] = true; }
    void thaw(std::uint32_t rank) { frozen_[rank] = false; }

    std::vector<ucg_context_h> contexts;
    std::vector<ucg_group_h> groups;

private:
    std::vector<bool> frozen_;
    std::unique_ptr<board> board_;
};

// One request on every rank, freed at the end.
class requests {
public:
    explicit requests(world& in) : in_(in) {}
    requests(const requests&) = delete;
    requests& operator=(const requests&) = delete;
    ~requests();

    void add(std::uint32_t rank, const ucg_coll_args_t& args);
    void start();
    // The worst status of all.
    ucs_status_t run();
    [[nodiscard]] bool over() const;
    [[nodiscard]] const std::vector<ucg_request_h>& all() const { return all_; }

private:
    world& in_;
    std::vector<ucg_request_h> all_;
};

}  // namespace test
