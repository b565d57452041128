// Access to a peer's memory over several lanes (rails) at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ucp/core/slots.hpp"
#include "ucp/mem/access_path.hpp"
#include "ucs/datastruct/intrusive.hpp"
#include "uct/api/ep.hpp"

namespace ucp {

// A transfer that is contiguous at both ends.
struct striped_work {
    bool put;
    std::byte* local;
    std::uint64_t remote;
    std::size_t length;
    // the lanes' access to the peer's memory; valid while the transfer is wanted
    const mem::access_path* memory;
    std::size_t most_rails;
};

// Returns true while the send to which `parts` belongs still wants the rest of its data.
[[nodiscard]] bool is_wanted_by_send(const uct::completion& parts) noexcept;

// Each rail takes its share at once (ucp/core/rail_share.hpp). If the transfer is longer than one
// chunk per rail, a rail that finishes a chunk takes the next one. So each rail carries as much as
// its speed allows, whatever slows it down. Each rail has two chunks in flight, so that it does not
// wait for this process. If a rail fails, another rail moves its chunks: no completion is reported
// before all data is there, and a chunk that is moved twice carries the same data.
//
// The object owns itself, from `begin` until its part of the caller's completion has ended. It is
// in its peer's list, and the peer reports lost lanes. Owner context.
class striped_access {
public:
    // Adds one part to `whole`, and ends that part with the outcome. `wanted` returns whether the
    // rest is still to be moved. Returns false without starting if only one rail reaches this
    // memory, if the transfer is too short, or if there is no memory.
    [[nodiscard]] static bool begin(peer& remote, const striped_work& work, uct::completion& whole,
                                    bool (*wanted)(const uct::completion& whole)) noexcept;

    // Call before the lane is destroyed. May end the access.
    void lane_lost(const uct::ep& lane) noexcept;
    // Continues after chunks that ended in a callback where no further chunk could be posted; may
    // end the access.
    void resume() noexcept { post_chunks(); }
    // Returns true if the request that waits for room on a lane is a chunk.
    // Ends the waiting of such a chunk.
    [[nodiscard]] static bool is_chunk(const uct::pending_request& queued) noexcept;
    static void drop(uct::pending_request& queued) noexcept;

    ucs::datastruct::auto_unlink_hook peer_hook;

private:
    struct rail {
        uct::ep* lane;
        const uct::remote_memory* memory;
        double nominal;  // weight according to its port
        double weight;   // weight when the access began
        double carried = 0;
        std::size_t chunk_length = 0;
        ucs_status_t failure = UCS_OK;
    };
    struct range {
        std::size_t from;
        std::size_t length;
    };
    // A chunk is in flight, waits for room, or is idle.
    struct chunk {
        striped_access* access;
        std::size_t rail;
        bool busy = false;
        range part{};
        uct::completion done{};
        uct::pending_request pending{};
    };

    striped_access(peer& remote, const striped_work& work, std::vector<rail> rails,
                   uct::completion& whole, bool (*wanted)(const uct::completion& whole));
    static void share_out(std::vector<rail>& among, std::size_t length, std::size_t shortest,
                          std::size_t longest) noexcept;
    static void share_to_learn(std::vector<rail>& among, std::size_t length, std::size_t shortest,
                               std::size_t longest) noexcept;
    static void chunk_done(uct::completion& done) noexcept;
    static ucs_status_t progress_chunk(uct::pending_request& queued) noexcept;
    [[nodiscard]] bool take(chunk& next) noexcept;
    [[nodiscard]] ucs_status_t post(chunk& next) noexcept;
    [[nodiscard]] ucs_status_t move(chunk& next) noexcept;
    void ended(chunk& finished, ucs_status_t status) noexcept;
    void post_chunks() noexcept;
    void learn_shares() noexcept;
    void end_if_over() noexcept;

    peer& peer_;
    const striped_work work_;
    uct::completion& whole_;
    bool (*const wanted_)(const uct::completion& whole);
    std::vector<rail> rails_;
    std::vector<chunk> chunks_;   // never moves
    std::vector<range> retries_;  // ranges of failed rails; has capacity for all chunks
    std::size_t next_ = 0;        // all bytes below are taken
    ucs_status_t failure_ = UCS_OK;
    bool posting_ = false;
};

// Slot of a peer: transfers over several rails, which are notified when a lane is lost.
struct striped_transfers {
    explicit striped_transfers(peer&) noexcept {}

    ucs::datastruct::auto_list<striped_access, &striped_access::peer_hook> list;
};

// Returns the number of a peer's rails, the first ones, that move a rendezvous of this length
// together.
[[nodiscard]] std::size_t rails_for(const peer& remote, std::size_t length) noexcept;

// Returns the sum of these rails' bandwidth in bytes per second.
[[nodiscard]] double rails_bandwidth(const peer& remote, std::size_t length) noexcept;

// Returns the chunk length of a rail that carries this part of a transfer: as few chunks as
// possible, of whole pages.
[[nodiscard]] std::size_t chunk_length_of(double part, std::size_t length, std::size_t shortest,
                                          std::size_t longest) noexcept;

// Returns true if the transfer is split over rails: it must be at least two chunks of the smallest
// length.
[[nodiscard]] bool is_striped(const peer& remote, std::size_t length) noexcept;

}  // namespace ucp
