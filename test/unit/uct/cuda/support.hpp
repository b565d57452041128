// Interfaces of the CUDA transports on the stand-in driver.
#pragma once

#include <catch2/catch.hpp>

#include "test/cuda/driver/functions.hpp"
#include "test/cuda/driver/standin.h"
#include "test/support/log_capture.hpp"
#include "test/support/memory_block.hpp"
#include "test/support/uct_side.hpp"
#include "uct/base/builtin.hpp"

namespace test {

using bytes = std::vector<std::byte>;

inline bytes pattern(std::size_t length, unsigned seed) {
    bytes made(length);
    for (std::size_t i = 0; i < length; ++i)
        made[i] = static_cast<std::byte>((i * 7 + seed) * 31 >> 2);
    return made;
}

struct setting {
    const char* name;
    const char* text;
};

inline ucs::config::source source_of(std::initializer_list<setting> settings) {
    ucs::config::source made = ucs::config::source::empty();
    for (const setting& each : settings)
        made.set(each.name, each.text);
    return made;
}

// A worker with an interface of a CUDA transport.
class cuda_side : public uct_side {
public:
    explicit cuda_side(const uct::component& transport,
                       std::initializer_list<setting> settings = {})
        : uct_side(transport, transport.query(ucs::config::source::empty()).usable.at(0),
                   source_of(settings)) {}
};

// Notes the end of one operation.
struct ending : uct::completion {
    unsigned calls = 0;
    ending() : uct::completion{.done = note} {}
    static void note(uct::completion& ended) { ++static_cast<ending&>(ended).calls; }
};

// Progresses until an operation has ended that returned `started`, and returns its status.
inline ucs_status_t result_of(uct_side& side, ucs_status_t started, const ending& done) {
    if (started != UCS_INPROGRESS) return started;
    for (unsigned turn = 0; turn < 10'000'000 && done.calls == 0; ++turn)
        side.progress();
    REQUIRE(done.calls == 1);
    return done.status;
}

// Puts a block to a place, or gets it from there, and returns the status.
inline ucs_status_t transfer(uct_side& side, uct::ep& via, bool is_get, const memory_block& block,
                             const uct::remote_place& place) {
    ending done;
    const uct::iov piece{block.data(), block.size()};
    const ucs_status_t started = is_get ? via.get_zcopy({&piece, 1}, place, &done)
                                        : via.put_zcopy({&piece, 1}, place, &done);
    return result_of(side, started, done);
}

// Counts the calls of the driver that start an operation.
inline unsigned long long calls_to_start(uct_side& side, uct::ep& via, const memory_block& block,
                                         const uct::remote_place& place) {
    ending done;
    const uct::iov piece{block.data(), block.size()};
    standin_reset_calls();
    const ucs_status_t started = via.get_zcopy({&piece, 1}, place, &done);
    const unsigned long long calls = standin_calls(nullptr);
    REQUIRE(result_of(side, started, done) == UCS_OK);
    return calls;
}

inline std::uint64_t address_of(const memory_block& block) {
    return reinterpret_cast<std::uint64_t>(block.data());
}

// Counts what the stand-in has not released.
inline std::size_t live_objects() {
    std::size_t count = 0;
    for (const char* kind : {"stream", "event", "pinned memory", "imported memory", "mapping",
                             "reservation", "allocation handle"})
        count += standin_live(kind);
    return count;
}

}  // namespace test
