// Limits the memory of long frames that have begun to arrive and are not complete.
#pragma once

#include <cstdint>

#include "ucs/datastruct/intrusive.hpp"
#include "ucs/sys/usable_memory.hpp"

namespace uct::tcp {

// Counts the buffers that the connections of one interface have grown for frames which do not fit
// an ordinary buffer. A process that was told the address may open any number of connections, begin
// a frame on each and never complete it. When the buffers together pass the limit, the frame that
// was begun first is dropped and its connection ends. It may be one of
// a peer in order, if others have sent that many bytes since then. Frames that fit an ordinary
// buffer never come here. Owner context.
class unfinished_frames {
public:
    // One connection as far as its unfinished frame is concerned.
    class frame_owner {
    public:
        frame_owner(const frame_owner&) = delete;
        frame_owner& operator=(const frame_owner&) = delete;

        // Frees the buffer of the unfinished frame and ends the connection.
        virtual void drop_unfinished_frame() noexcept = 0;

    protected:
        frame_owner() noexcept = default;
        virtual ~frame_owner() = default;

    private:
        friend class unfinished_frames;
        ucs::datastruct::list_hook hook_;
        std::uint64_t bytes_ = 0;
    };

    explicit unfinished_frames(std::uint64_t most = ucs::sys::most_for_peers()) noexcept
        : most_(most) {}

    // Changes how many bytes all connections may take up.
    void set_most(std::uint64_t bytes) noexcept { most_ = bytes; }
    [[nodiscard]] std::uint64_t most() const noexcept { return most_; }
    [[nodiscard]] std::uint64_t used() const noexcept { return used_; }

    // The buffer of `grower` is to have `bytes` bytes. Drops the oldest frames of others as long as
    // the limit is passed. Returns false if the frame of `grower` is the oldest one: its connection
    // has to end.
    [[nodiscard]] bool grow(frame_owner& grower, std::uint64_t bytes) noexcept;

    // The connection has no grown buffer any more. Does nothing if it had none.
    void release(frame_owner& former) noexcept;

private:
    std::uint64_t used_ = 0;
    std::uint64_t most_;
    // In the order in which their frames were begun.
    ucs::datastruct::list<frame_owner, &frame_owner::hook_> owners_;
};

}  // namespace uct::tcp
