#include "uct/tcp/data/send_queue.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <vector>

using namespace uct::tcp;

namespace {

using bytes = std::vector<std::byte>;

void note(uct::completion&) {}

// Removes at most `most` bytes from the queue, as a socket would.
uct::completion* take(send_queue& from, std::size_t most, bytes& into) {
    std::size_t taken = 0;
    for (const iovec& piece : from.pieces()) {
        const std::size_t step = std::min(piece.iov_len, most - taken);
        const auto* begin = static_cast<const std::byte*>(piece.iov_base);
        into.insert(into.end(), begin, begin + step);
        taken += step;
    }
    return from.advance(taken);
}

bytes numbered(std::size_t count, int start) {
    bytes made(count);
    for (std::size_t i = 0; i < count; ++i)
        made[i] = std::byte(start + static_cast<int>(i));
    return made;
}

}  // namespace

TEST_CASE("queued bytes are sent in order, in writes of any size") {
    buffer_pool pool(256);
    std::mt19937 random(3);
    send_queue queue(pool);
    bytes before;
    bytes after;
    int next = 0;
    for (int round = 0; round < 5000; ++round) {
        const std::size_t length = 8 * (1 + random() % 12);
        if (queue.has_room(length)) {
            const bytes frame = numbered(length, next++);
            REQUIRE(queue.append(frame));
            before.insert(before.end(), frame.begin(), frame.end());
        }
        CHECK(take(queue, random() % 60, after) == nullptr);
        REQUIRE(queue.queued() == before.size());
        REQUIRE(queue.sent() == after.size());
    }
    while (!queue.empty())
        take(queue, 100, after);
    CHECK(before == after);
}

TEST_CASE("a message from the caller's memory is whole on the wire and ends once") {
    buffer_pool pool(256);
    for (std::size_t step = 1; step < 90; ++step) {
        send_queue queue(pool);
        REQUIRE(queue.append(numbered(16, 1)));
        uct::completion done{.done = note};
        bytes one = numbered(13, 50);
        bytes two = numbered(32, 90);
        const bytes header = numbered(9, 200);
        const std::array<uct::iov, 3> payload{
            {{one.data(), one.size()}, {nullptr, 0}, {two.data(), two.size()}}};
        queue.next_zcopy()->compose(7, header, payload, 54, &done);
        queue.start_zcopy();
        CHECK_FALSE(queue.has_room(8));
        bytes wire;
        unsigned ended = 0;
        while (!queue.empty())
            ended += take(queue, step, wire) == &done ? 1U : 0U;
        CHECK(ended == 1);
        REQUIRE(wire.size() == 16 + wire::frame_size(54));
        wire::frame_header frame;
        std::memcpy(&frame, wire.data() + 16, sizeof frame);
        CHECK(frame.length == 54);
        CHECK(frame.id == 7);
        bytes body = header;
        body.insert(body.end(), one.begin(), one.end());
        body.insert(body.end(), two.begin(), two.end());
        body.resize(56);  // padding
        CHECK(std::equal(body.begin(), body.end(), wire.begin() + 24));
        CHECK(queue.has_room(8));
    }
}

TEST_CASE("clearing returns the completion of the message in progress") {
    buffer_pool pool(256);
    send_queue queue(pool);
    CHECK(queue.clear() == nullptr);
    uct::completion done{.done = note};
    bytes one = numbered(13, 50);
    const uct::iov piece{one.data(), one.size()};
    queue.next_zcopy()->compose(7, {}, {&piece, 1}, 13, &done);
    queue.start_zcopy();
    CHECK(queue.clear() == &done);
    CHECK(queue.empty());
}
