#include "uct/sm/posix/config.hpp"

#include <algorithm>
#include <bit>

namespace uct::posix {
namespace {

constexpr std::size_t default_segment = 8256;
constexpr std::size_t default_bulk = 256 * 1024;

std::size_t or_default(ucs::config::memunits value, std::size_t otherwise) noexcept {
    return value.is_auto() ? otherwise : value.bytes;
}

}  // namespace

const ucs::config::table& config::options() {
    using ucs::config::at_least;
    using ucs::config::between;
    using ucs::config::make_option;
    static const ucs::config::table table{
        "POSIX shared memory transport",
        {
            make_option<&config::fifo_size>(
                "POSIX_FIFO_SIZE", "256",
                "How many messages may wait in the ring of one endpoint. Rounded up to a power "
                "of two, at least 8; each takes 64 bytes.",
                between("1", "65536").or_limited()),
            make_option<&config::seg_size>(
                "POSIX_SEG_SIZE", "8256",
                "Largest message. Longer data goes in several. An address of any length fits the "
                "least.",
                between("2k", "64k").or_auto().or_limited()),
            make_option<&config::bulk_size>(
                "POSIX_BULK_SIZE", "256k",
                "Bytes in the ring of one endpoint for messages that do not fit in a slot (over "
                "56 bytes). Rounded up to a power of two, at least four messages of "
                "POSIX_SEG_SIZE. Pages are used when data first goes through them. What fits in "
                "the cache of both processors is fastest.",
                between("4k", "64m").or_auto()),
            make_option<&config::max_poll>(
                "POSIX_MAX_POLL", "16",
                "How many messages of one sender are handled before the next sender has its turn.",
                at_least("1")),
            make_option<&config::latency>("POSIX_LAT", "50ns",
                                          "Estimated one-way time of a small message.",
                                          between("0", "1s")),
            make_option<&config::bandwidth>(
                "POSIX_BW", "12g",
                "Estimated bytes per second of a stream of large messages, both copies included.",
                between("1MBs", "1PBs").or_auto()),
            make_option<&config::overhead>("POSIX_OVERHEAD", "10ns",
                                           "Estimated processor time per message.",
                                           between("0", "1s")),
            make_option<&config::linger>(
                "POSIX_LINGER", "200ms",
                "How long closing waits for peers that have yet to accept a connection over which "
                "messages were sent.",
                between("0", "60s")),
        }};
    return table;
}

ring_geometry config::geometry() const noexcept {
    const std::size_t message = or_default(seg_size, default_segment);
    const std::size_t bulk = or_default(bulk_size, default_bulk);
    return ring_geometry{std::max(std::bit_ceil(fifo_size), ring_geometry::min_slots),
                         static_cast<std::uint32_t>(std::bit_ceil(std::max(bulk, message * 4))),
                         static_cast<std::uint32_t>(round_up(message, sizeof(std::uint64_t)))};
}

}  // namespace uct::posix
