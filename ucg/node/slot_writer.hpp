// How a rank copies into its slots.
#pragma once

#include <cstddef>
#include <cstring>

#include "ucs/time/clock.hpp"

namespace ucg::node {

// By ordinary stores, or past the caches. A slot was read by others when it was used last. Where
// their caches are near, taking its lines back costs little, and what is written is read from one.
// Where they are far (another part of a large processor, or where a host puts a virtual one),
// ordinary stores wait for each line: then it is several times faster to write to main memory, and
// to read from there. Which of them holds may change while a program runs, so it is measured while
// it goes on: some ordinary copies are timed, and while the others are in use, a few ordinary ones
// are tried now and then. What is timed includes reading the source, which even main memory gives
// sooner than what counts as slow. One per rank and group. Owner context.
class slot_writer {
public:
    struct limits {
        std::size_t least = 4096;  // bytes of what is measured, and written past the caches
        // Ordinary stores are slow that take longer than this: ns for each byte, and at all (lines
        // that nobody had for long come from main memory).
        double slow_byte = 0.2;
        double slow_copy = 800;
        unsigned timed_every = 8;    // copies, while they are ordinary ones
        unsigned tried_every = 256;  // copies, while they are not
        unsigned in_a_row = 3;       // copies that must agree: one alone may have been interrupted
    };

    // `fresh`: bytes of memory that nobody has touched yet, where first copies wait for pages: so
    // many bytes are copied before any is timed.
    explicit slot_writer(const limits& by, std::size_t fresh = 0) noexcept
        : by_(by), fresh_(fresh) {}

    // The source of nothing may be null.
    void put(std::byte* into, const std::byte* from, std::size_t bytes) noexcept {
        if (bytes >= by_.least)
            put_long(into, from, bytes);
        else if (bytes != 0)
            std::memcpy(into, from, bytes);
    }

    // Whether long copies go past the caches now.
    [[nodiscard]] bool streams() const noexcept { return streams_; }

    // For put(), and for tests: an ordinary copy took so long.
    void note(std::size_t bytes, ucs::time::nanoseconds took) noexcept;

private:
    void put_long(std::byte* into, const std::byte* from, std::size_t bytes) noexcept;

    const limits by_;
    std::size_t fresh_;
    bool streams_ = false;
    unsigned copies_ = 0;   // since the last one that was timed
    unsigned against_ = 0;  // timed ones in a row that speak against what is done now
};

}  // namespace ucg::node
