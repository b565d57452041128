// The streams, events and bounce buffer of this library in one CUDA context.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ucs/cuda/context.hpp"
#include "ucs/cuda/handle.hpp"
#include "ucs/vfs/directory.hpp"
#include "uct/cuda/base/operation.hpp"

namespace uct::cuda {

class context_streams;

// An event behind a copy, on which an operation waits.
struct pending_event {
    ucs::cuda::event event;
    operation* waiter = nullptr;
    ucs::datastruct::queue_hook hook;
};
using event_queue = ucs::datastruct::queue<pending_event, &pending_event::hook>;

// One stream and the events that were recorded on it, in their order.
struct lane {
    context_streams& owner;
    std::string name;
    ucs::cuda::stream stream;
    event_queue in_flight{};
    bool is_touched = false;  // has copies behind its last event
    std::uint64_t copies = 0;
    std::uint64_t bytes = 0;
};

// Numbers of the lanes of a context. Copies of one lane end in their order, so each direction has
// its own. Lanes of peers' devices follow `first_peer`.
enum class lane_number : std::uint8_t {
    host_to_device,
    device_to_host,
    device_to_device,
    immediate,  // copies for which the caller waits
    first_peer,
};
inline constexpr unsigned most_peer_lanes = 16;
inline constexpr unsigned most_lanes =
    static_cast<unsigned>(lane_number::first_peer) + most_peer_lanes;
[[nodiscard]] constexpr lane_number peer_lane(unsigned number) noexcept {
    return static_cast<lane_number>(static_cast<unsigned>(lane_number::first_peer) +
                                    number % most_peer_lanes);
}

// Makes streams and events when they are first used, and keeps them. The program may destroy the
// context at any time, and the driver destroys everything in it then: the owner asks is_alive()
// before each use. Owned by a copy_queue, owner context. The context MUST be current in the calls
// that say so.
class context_streams {
public:
    static constexpr std::size_t bounce_size = std::size_t{64} << 10U;

    enum class condition : std::uint8_t {
        usable,
        broken,  // a call has failed that must not fail
        gone,    // the program has destroyed the context
    };

    // Failures are logged. May throw std::bad_alloc.
    [[nodiscard]] static ucs::result<std::unique_ptr<context_streams>> make(
        const ucs::cuda::driver_functions& driver, ucs::cuda::CUcontext context);
    // Destroys the handles, unless the context is gone.
    ~context_streams();
    context_streams(const context_streams&) = delete;
    context_streams& operator=(const context_streams&) = delete;

    [[nodiscard]] ucs::cuda::CUcontext context() const noexcept { return context_.handle; }

    // Returns false if the context was destroyed, even if another one has its handle now. One call
    // of the driver. Before CUDA 12 the driver does not tell, and calls with the context fail.
    [[nodiscard]] bool is_alive() const noexcept;

    [[nodiscard]] condition state() const noexcept { return state_; }
    void set_state(condition state) noexcept {
        if (state_ != condition::gone) state_ = state;
    }
    // Sets the state after a failed call.
    void note_failure(ucs::cuda::CUresult outcome) noexcept;

    // Returns a stream, the context being current. Failures are logged.
    [[nodiscard]] ucs::result<lane*> find_lane(lane_number number);

    // Lets the operation wait for everything that is on the stream now. Returns false if there is
    // no event for it: the caller waits for the stream, which tells whether it works. The context
    // is current.
    [[nodiscard]] bool record(lane& behind, operation& waiter) noexcept;

    // Takes the oldest event of a stream, and returns the operation that waits for it; null if it
    // waits no more.
    operation* take_event(lane& from) noexcept;

    // Returns pinned memory for copies that the caller waits for; empty if there is none. The
    // context is current at the first call.
    [[nodiscard]] std::span<std::byte> bounce() noexcept;

    [[nodiscard]] bool has_events() const noexcept { return events_in_flight_ > 0; }

    // Calls `visit(lane&)` for each stream.
    template<class Visit>
    void for_each_lane(Visit&& visit) {
        for (const std::unique_ptr<lane>& each : lanes_) {
            if (each != nullptr) visit(*each);
        }
    }

    void describe(ucs::vfs::directory& into) const;

private:
    context_streams(const ucs::cuda::driver_functions& driver,
                    const ucs::cuda::context_identity& context) noexcept
        : driver_(driver), context_(context) {}
    [[nodiscard]] pending_event* take_free() noexcept;
    void abandon() noexcept;

    const ucs::cuda::driver_functions& driver_;
    const ucs::cuda::context_identity context_;
    condition state_ = condition::usable;
    std::array<std::unique_ptr<lane>, most_lanes> lanes_;
    std::vector<std::unique_ptr<pending_event>> events_;
    event_queue free_;
    std::size_t events_in_flight_ = 0;
    ucs::cuda::pinned_memory bounce_;
    bool has_no_bounce_ = false;
};

}  // namespace uct::cuda
