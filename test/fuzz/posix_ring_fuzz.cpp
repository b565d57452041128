// A hostile sender: the input is written over control lines, slots and the first bulk bytes, then
// the receiver reads.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "uct/sm/posix/ring_reader.hpp"
#include "uct/sm/posix/ring_writer.hpp"

using namespace uct::posix;

namespace {
constexpr ring_geometry geometry{8, 4096, 1024};
struct alignas(4096) segment_memory {
    std::byte bytes[geometry.segment_size()];
};
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static segment_memory memory;
    std::memset(memory.bytes, 0, sizeof memory.bytes);
    ring_reader reader{geometry, memory.bytes};
    ring_writer writer{geometry, memory.bytes, true};
    constexpr std::size_t round = sizeof(ring_control) + geometry.slots * sizeof(slot);
    for (unsigned lap = 0; lap < 4 && size > 0; ++lap) {
        const std::size_t length = std::min(size, round);
        std::memcpy(memory.bytes, data, length);
        data += length;
        size -= length;
        for (unsigned i = 0; i < geometry.slots && reader.ready(); ++i) {
            ring_message message;
            if (!reader.take(message)) return 0;
            const auto* begin = static_cast<const std::byte*>(message.data);
            if (begin < memory.bytes || message.length > sizeof memory.bytes ||
                begin + message.length > memory.bytes + sizeof memory.bytes) {
                std::abort();
            }
            volatile unsigned sum = 0;
            for (std::size_t index = 0; index < message.length; ++index)
                sum = sum + static_cast<unsigned>(begin[index]);
            (void)reader.release();
        }
        if (writer.refresh() && writer.has_slot() && writer.reserve(1024) != nullptr) {
            (void)writer.commit(1, 1024);
        }
        (void)writer.sleep();
        (void)reader.sleep();
    }
    return 0;
}
