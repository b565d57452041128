// Access to a peer's memory over several lanes at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ucp/mem/reached.hpp"
#include "ucs/datastruct/intrusive.hpp"
#include "uct/api/ep.hpp"

namespace ucp {

class peer;

// What is read or written, in one piece at both ends.
struct striped_work {
    bool put;
    std::byte* local;
    std::uint64_t remote;
    std::size_t length;
    const mem::reached_memory* memory;  // by which the lanes reach it, as long as it is wanted
    std::size_t most_rails;
};

// Whether a send, whose pieces these are, still wants the rest of them.
[[nodiscard]] bool is_wanted_by_send(const uct::completion& parts) noexcept;

// Each rail takes its share at once (ucp/rma/rail_share.hpp). What is longer than a chunk of
// each rail goes on with whichever rail has ended one, so that they carry as much as they are fast,
// whatever slows them down; two chunks at a time, so that none waits for us. A chunk whose rail
// fails goes over another one: nobody is told of data before all of it is there, and a chunk
// that is moved twice is the same data.
//
// Owns itself, from `begin` until its part of the caller's completion has ended. In its peer's
// list, which says when a lane goes. Owner context.
class striped_access {
public:
    // Takes one part of `whole`, and ends it with the outcome. `wanted` is asked whether the rest
    // is still to be moved. False, and nothing was begun: there is one rail for this memory, it is
    // too short, or there is no memory for it.
    [[nodiscard]] static bool begin(peer& with, const striped_work& work, uct::completion& whole,
                                    bool (*wanted)(const uct::completion& whole)) noexcept;

    // The lane is destroyed after this. May end the access.
    void lose(const uct::ep& lane) noexcept;
    // Chunks that ended where nothing could follow at once go on, or the access ends.
    void go_on() noexcept { feed(); }
    // Whether what waits for room on a lane is a chunk; then it waits no more.
    [[nodiscard]] static bool is(const uct::pending_request& queued) noexcept;
    static void drop(uct::pending_request& queued) noexcept;

    ucs::datastruct::auto_unlink_hook peer_hook;

private:
    struct rail {
        uct::ep* lane;
        const uct::remote_memory* in;
        double nominal;  // weight by what its port says
        double weight;   // as it was when the access began
        double carried = 0;
        std::size_t chunk_length = 0;
        ucs_status_t failure = UCS_OK;
    };
    struct range {
        std::size_t from;
        std::size_t length;
    };
    // In flight, or waiting for room, or neither.
    struct chunk {
        striped_access* of;
        std::size_t rail;
        bool busy = false;
        range what{};
        uct::completion done{};
        uct::pending_request pending{};
    };

    striped_access(peer& with, const striped_work& work, std::vector<rail> rails,
                   uct::completion& whole, bool (*wanted)(const uct::completion& whole));
    static void share_out(std::vector<rail>& among, std::size_t length, std::size_t shortest,
                          std::size_t longest) noexcept;
    static void share_to_learn(std::vector<rail>& among, std::size_t length, std::size_t shortest,
                               std::size_t longest) noexcept;
    static void chunk_done(uct::completion& done) noexcept;
    static ucs_status_t progress_chunk(uct::pending_request& queued) noexcept;
    [[nodiscard]] bool take(chunk& into) noexcept;
    [[nodiscard]] ucs_status_t post(chunk& next) noexcept;
    [[nodiscard]] ucs_status_t move(chunk& next) noexcept;
    void ended(chunk& which, ucs_status_t status) noexcept;
    void feed() noexcept;
    void learn_shares() noexcept;
    void end_if_over() noexcept;

    peer& with_;
    const striped_work work_;
    uct::completion& whole_;
    bool (*const wanted_)(const uct::completion& whole);
    std::vector<rail> rails_;
    std::vector<chunk> chunks_;  // never moves
    std::vector<range> again_;   // of rails that failed; has room for all chunks
    std::size_t next_ = 0;       // everything below is taken
    ucs_status_t failure_ = UCS_OK;
    bool feeding_ = false;
};

// How many of a peer's rails, the first ones, move so much of a rendezvous at the same time.
[[nodiscard]] std::size_t rails_for(const peer& with, std::size_t length) noexcept;

// Their bytes per second.
[[nodiscard]] double rails_bandwidth(const peer& with, std::size_t length) noexcept;

// How long the chunks of a rail are that carries this part of a transfer: as few as its share
// makes, of whole pages.
[[nodiscard]] std::size_t chunk_length_of(double part, std::size_t length, std::size_t shortest,
                                          std::size_t longest) noexcept;

// Chunks are no shorter than this, and nothing is striped that is less than two of them.
[[nodiscard]] bool is_striped(const peer& with, std::size_t length) noexcept;

}  // namespace ucp
