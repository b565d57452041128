// Limit of the memory for long frames that have begun to arrive and are not complete.
#pragma once

#include <cstdint>

#include "ucs/datastruct/intrusive.hpp"
#include "ucs/sys/usable_memory.hpp"

namespace uct::tcp {

// Counts the buffers that the connections of one interface have grown for frames which do not fit
// an ordinary buffer. A process that knows the address may open any number of connections, begin a
// frame on each and never complete it. When the buffers together exceed the limit, the oldest frame
// is dropped and its connection ends. The frame may belong to a well-behaved peer if others have
// sent that many bytes since then. Frames that fit an ordinary buffer are not counted. Owner
// context.
class unfinished_frames {
public:
    // The part of a connection that owns an unfinished frame.
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

    explicit unfinished_frames(std::uint64_t most = ucs::sys::peer_memory_limit()) noexcept
        : most_(most) {}

    // Sets the limit, in bytes, for all connections together.
    void set_most(std::uint64_t bytes) noexcept { most_ = bytes; }
    [[nodiscard]] std::uint64_t most() const noexcept { return most_; }
    [[nodiscard]] std::uint64_t used() const noexcept { return used_; }

    // The buffer of `grower` grows to `bytes` bytes. Drops the oldest frames of other connections
    // while the limit is exceeded. Returns false if the frame of `grower` itself is the oldest one:
    // then its connection must end.
    [[nodiscard]] bool grow(frame_owner& grower, std::uint64_t bytes) noexcept;

    // The connection has no grown buffer any more. Without one this does nothing.
    void release(frame_owner& former) noexcept;

private:
    std::uint64_t used_ = 0;
    std::uint64_t most_;
    // In the order in which their frames began.
    ucs::datastruct::list<frame_owner, &frame_owner::hook_> owners_;
};

}  // namespace uct::tcp
