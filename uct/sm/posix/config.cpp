#include "uct/sm/posix/config.hpp"

#include <algorithm>

#include "uct/sm/posix/log.hpp"

namespace uct::posix {
namespace {

constexpr std::size_t min_segment = 2048;  // an address of any length fits a message
constexpr std::size_t max_segment = 64 * 1024;
constexpr std::size_t default_segment = 8256;
constexpr std::size_t default_bulk = 256 * 1024;

std::size_t or_default(ucs::config::memunits value, std::size_t otherwise) noexcept {
    return value.is_auto() ? otherwise : value.bytes;
}

ucs_status_t refuse(const char* name, std::size_t value, std::size_t low, std::size_t high) {
    ucs::log::error(posix_log, "UCX_POSIX_{} is {}, but it must lie between {} and {}", name, value,
                    low, high);
    return UCS_ERR_INVALID_PARAM;
}

}  // namespace

const ucs::config::table& config::options() {
    using ucs::config::make_option;
    static const ucs::config::table table{
        "POSIX shared memory transport",
        {
            make_option<&config::fifo_size>(
                "POSIX_FIFO_SIZE", "256",
                "How many messages may wait in the ring of one endpoint. Rounded up to a power "
                "of two; each takes 64 bytes."),
            make_option<&config::seg_size>(
                "POSIX_SEG_SIZE", "8256",
                "Largest message, from 2 KB to 64 KB. Longer data goes in several."),
            make_option<&config::bulk_size>(
                "POSIX_BULK_SIZE", "256k",
                "Bytes in the ring of one endpoint for messages that do not fit in a slot (over "
                "56 bytes). Rounded up to a power of two, at least four messages of "
                "POSIX_SEG_SIZE. Pages are used when data first goes through them. What fits in "
                "the cache of both processors is fastest."),
            make_option<&config::max_poll>(
                "POSIX_MAX_POLL", "16",
                "How many messages of one sender are handled before the next sender has its turn."),
            make_option<&config::latency>("POSIX_LAT", "50ns",
                                          "Estimated one-way time of a small message."),
            make_option<&config::bandwidth>(
                "POSIX_BW", "12g",
                "Estimated bytes per second of a stream of large messages, both copies included."),
            make_option<&config::overhead>("POSIX_OVERHEAD", "10ns",
                                           "Estimated processor time per message."),
        }};
    return table;
}

ucs::result<ring_geometry> config::geometry() const {
    const std::size_t message = or_default(seg_size, default_segment);
    if (message < min_segment || message > max_segment) {
        return refuse("SEG_SIZE", message, min_segment, max_segment);
    }
    if (fifo_size < 1 || fifo_size > ring_geometry::max_slots) {
        return refuse("FIFO_SIZE", fifo_size, 1, ring_geometry::max_slots);
    }
    const std::size_t bulk = or_default(bulk_size, default_bulk);
    if (bulk < 1 || bulk > ring_geometry::max_bulk) {
        return refuse("BULK_SIZE", bulk, 1, ring_geometry::max_bulk);
    }
    return ring_geometry{std::max(std::bit_ceil(fifo_size), ring_geometry::min_slots),
                         static_cast<std::uint32_t>(std::bit_ceil(
                             std::max({bulk, message * 4, std::size_t{ring_geometry::min_bulk}}))),
                         static_cast<std::uint32_t>(round_up(message, sizeof(std::uint64_t)))};
}

}  // namespace uct::posix
