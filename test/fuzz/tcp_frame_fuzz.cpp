// Arbitrary bytes from a peer, in arbitrary pieces: the greeting and frame parsers of tcp must stay
// inside their buffers. The first input byte chooses the piece length.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "uct/tcp/data/receiver.hpp"
#include "uct/tcp/setup/address.hpp"

using namespace uct::tcp;

namespace {

struct places {
    std::vector<std::byte> room;
    unsigned questions = 0;
};

struct lone_connection final : unfinished_frames::frame_owner {
    void drop_unfinished_frame() noexcept override {}
};

void read_all(void*, void* data, std::size_t length) {
    volatile unsigned sum = 0;
    for (std::size_t i = 0; i < length; ++i)
        sum = sum + static_cast<unsigned char*>(data)[i];
}

void* locate(void* arg, const void*, std::size_t length) {
    auto& self = *static_cast<places*>(arg);
    if (++self.questions % 5 == 0 || length > 100000) return nullptr;
    if (self.room.size() < length) self.room.resize(length);
    return self.room.data();
}

void feed(std::span<const std::uint8_t> input, std::size_t step) {
    places taken;
    std::array<uct::am_handler, uct::am_id_count> table;
    table.fill({.deliver = read_all});
    table[1] = {.deliver = read_all,
                .landing_header = 16,
                .locate = locate,
                .landed = [](void*, const void*, std::size_t) {},
                .arg = &taken};
    buffer_pool pool(256);
    unfinished_frames limit;
    lone_connection user;
    receiver stream(pool, table, limit, user);
    while (!input.empty()) {
        std::size_t count = 0;
        for (const iovec& piece : stream.space()) {
            const std::size_t part = std::min({step - count, piece.iov_len, input.size()});
            std::memcpy(piece.iov_base, input.data(), part);
            input = input.subspan(part);
            count += part;
        }
        unsigned events = 0;
        if (stream.consume(count, events) != UCS_OK) return;
        static_cast<void>(stream.take_control());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::span<const std::uint8_t> input(data + 1, size - 1);
    if (input.size() >= wire::greeting_size) {
        static_cast<void>(wire::parse_greeting(std::as_bytes(input.first<wire::greeting_size>())));
    }
    static_cast<void>(address::parse(std::as_bytes(input), 1));
    feed(input, std::size_t{data[0]} + 1);
    return 0;
}
