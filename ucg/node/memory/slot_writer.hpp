// Copies into a rank's slots, by ordinary or by non-temporal stores, whichever is faster now.
#pragma once

#include <cstddef>
#include <cstring>

#include "ucs/time/clock.hpp"

namespace ucg::node {

// Chooses between ordinary and non-temporal stores. Other ranks have read a slot since it was last
// written. If their caches are near, ordinary stores get the lines back at little cost, and readers
// find the data in a cache. If their caches are far (in another part of a large processor, or where
// a host moves a virtual one), ordinary stores wait for each line; then it is several times faster
// to write to main memory and to read from there.
// This may change while a program runs, so the writer measures it continuously: it times some
// ordinary copies, and while it uses non-temporal stores, it tries a few ordinary copies now and
// then. The time includes reading the source, and even main memory delivers that sooner than the
// threshold for slow. Each rank has one per group. Owner context.
class slot_writer {
public:
    struct limits {
        std::size_t least = 4096;  // bytes; shorter copies are neither timed nor non-temporal
        // An ordinary copy is slow if it takes longer than slow_copy plus slow_byte for each byte,
        // in ns. (Lines that no processor has cached for long come from main memory.)
        double slow_byte = 0.2;
        double slow_copy = 800;
        unsigned timed_every = 8;    // copies, while stores are ordinary
        unsigned tried_every = 256;  // copies, while stores are non-temporal
        unsigned in_a_row =
            3;  // timed copies that must agree; a single one may have been interrupted
    };

    // `fresh`: bytes of memory that has not been touched yet, where the first copies wait for
    // pages. Timing begins after this many bytes.
    explicit slot_writer(const limits& bounds, std::size_t fresh = 0) noexcept
        : limits_(bounds), fresh_(fresh) {}

    // If `bytes` is 0, `from` may be null.
    void put(std::byte* into, const std::byte* from, std::size_t bytes) noexcept {
        if (bytes >= limits_.least)
            put_long(into, from, bytes);
        else if (bytes != 0)
            std::memcpy(into, from, bytes);
    }

    // Returns whether long copies use non-temporal stores now.
    [[nodiscard]] bool is_nontemporal() const noexcept { return is_nontemporal_; }

    // Notes how long an ordinary copy took. Called by put() and by tests.
    void note(std::size_t bytes, ucs::time::nanoseconds took) noexcept;

private:
    void put_long(std::byte* into, const std::byte* from, std::size_t bytes) noexcept;

    const limits limits_;
    std::size_t fresh_;
    bool is_nontemporal_ = false;
    unsigned copies_ = 0;   // since the last timed copy
    unsigned against_ = 0;  // timed copies in a row that contradict the current choice
};

}  // namespace ucg::node
