#include "uct/tcp/data/receiver.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace uct::tcp;

namespace {

using bytes = std::vector<std::byte>;

// A connection whose handlers keep the messages. Messages of id 1 can land in memory of their own.
class recorder final : public unfinished_frames::frame_owner {
public:
    recorder() {
        for (uct::am_handler& handler : table)
            handler = {.deliver = deliver, .arg = this};
        table[1].landing_header = 8;
        table[1].locate = locate;
        table[1].landed = landed;
    }

    void drop_unfinished_frame() noexcept override { ++drops; }

    unfinished_frames limit;
    unsigned drops = 0;
    std::array<uct::am_handler, uct::am_id_count> table;
    std::vector<bytes> came;
    unsigned landings = 0;
    bool take_place = true;
    std::size_t questions = 0;
    std::size_t refuse_from_question = ~std::size_t{0};

private:
    static void deliver(void* arg, void* data, std::size_t length) {
        auto* self = static_cast<recorder*>(arg);
        CHECK(reinterpret_cast<std::uintptr_t>(data) % 8 == 0);
        const auto* begin = static_cast<std::byte*>(data);
        self->came.emplace_back(begin, begin + length);
    }
    static void* locate(void* arg, const void*, std::size_t payload) {
        auto* self = static_cast<recorder*>(arg);
        if (!self->take_place || ++self->questions >= self->refuse_from_question) return nullptr;
        self->place.resize(payload);
        return self->place.data();
    }
    static void landed(void* arg, const void* header, std::size_t payload) {
        auto* self = static_cast<recorder*>(arg);
        CHECK(self->place.size() == payload);
        const auto* begin = static_cast<const std::byte*>(header);
        self->came.emplace_back(begin, begin + 8);
        self->came.back().insert(self->came.back().end(), self->place.begin(), self->place.end());
        ++self->landings;
    }
    bytes place;
};

void add_frame(bytes& stream, std::uint8_t id, const bytes& body,
               wire::frame_kind kind = wire::frame_kind::message) {
    const wire::frame_header header{static_cast<std::uint32_t>(body.size()), id, kind,
                                    wire::frame_mark};
    const std::size_t offset = stream.size();
    stream.resize(offset + wire::frame_size(body.size()));
    std::memcpy(stream.data() + offset, &header, sizeof header);
    std::copy(body.begin(), body.end(),
              stream.begin() + static_cast<std::ptrdiff_t>(offset + sizeof header));
}

// Passes a stream in pieces of at most `most()` bytes, as a socket would.
template<class Most>
ucs_status_t feed(receiver& into, const bytes& stream, Most most) {
    std::size_t offset = 0;
    while (offset < stream.size()) {
        std::size_t left = std::min<std::size_t>(most(), stream.size() - offset);
        std::size_t count = 0;
        for (const iovec& piece : into.space()) {
            const std::size_t step = std::min(left, piece.iov_len);
            std::memcpy(piece.iov_base, stream.data() + offset, step);
            offset += step;
            count += step;
            left -= step;
        }
        REQUIRE(count > 0);
        unsigned events = 0;
        if (const auto status = into.consume(count, events); status != UCS_OK) return status;
    }
    return UCS_OK;
}

}  // namespace

TEST_CASE("messages arrive whole, in order and aligned, with the stream cut anywhere") {
    for (unsigned seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        recorder handlers;
        buffer_pool pool(512);
        receiver stream(pool, handlers.table, handlers.limit, handlers);
        bytes wire;
        std::vector<bytes> sent;
        for (int i = 0; i < 40; ++i) {
            bytes body(random() % (random() % 8 == 0 ? 9000 : 300));
            for (std::byte& byte : body)
                byte = std::byte(random());
            add_frame(wire, static_cast<std::uint8_t>(random() % 3), body);
            sent.push_back(std::move(body));
        }
        const std::size_t longest = 1 + random() % (seed % 3 == 0 ? 10 : 2000);
        REQUIRE(feed(stream, wire, [&] { return 1 + random() % longest; }) == UCS_OK);
        REQUIRE(handlers.came == sent);
        CHECK_FALSE(stream.in_the_middle());
    }
}

namespace {

// A receiver that records messages.
struct receiving {
    recorder handlers;
    buffer_pool pool{512};
    receiver stream{pool, handlers.table, handlers.limit, handlers};
};

}  // namespace

TEST_CASE_METHOD(receiving, "a long message lands in the memory that its handler returns") {
    bytes wire;
    std::vector<bytes> sent;
    for (const std::size_t length : {100000U, 100003U, 16U, 5000U, 9U}) {
        sent.emplace_back(length, std::byte(length));
        add_frame(wire, 1, sent.back());
    }
    REQUIRE(feed(stream, wire, [] { return 3000U; }) == UCS_OK);
    CHECK(handlers.came == sent);
    CHECK(handlers.landings >= 3);
}

TEST_CASE("a message that loses its destination is dropped and the next one is intact") {
    for (std::size_t question = 2; question < 12; ++question) {
        recorder handlers;
        handlers.refuse_from_question = question;
        buffer_pool pool(512);
        receiver stream(pool, handlers.table, handlers.limit, handlers);
        bytes wire;
        add_frame(wire, 1, bytes(10003, std::byte{1}));
        add_frame(wire, 2, bytes(77, std::byte{2}));
        REQUIRE(feed(stream, wire, [] { return 900U; }) == UCS_OK);
        REQUIRE_FALSE(handlers.came.empty());
        CHECK(handlers.came.back() == bytes(77, std::byte{2}));
        CHECK_FALSE(stream.in_the_middle());
    }
}

TEST_CASE_METHOD(receiving, "a message whose handler declines landing is delivered normally") {
    handlers.take_place = false;
    bytes wire;
    add_frame(wire, 1, bytes(10003, std::byte{1}));
    REQUIRE(feed(stream, wire, [] { return 100U; }) == UCS_OK);
    REQUIRE(handlers.came.size() == 1);
    CHECK(handlers.came[0] == bytes(10003, std::byte{1}));
}

TEST_CASE_METHOD(receiving, "control frames are reported and no message") {
    bytes wire;
    add_frame(wire, 2, bytes(5));
    add_frame(wire, 0, {}, wire::frame_kind::leave);
    REQUIRE(feed(stream, wire, [] { return 3U; }) == UCS_OK);
    CHECK(handlers.came.size() == 1);
    CHECK(stream.take_control() == 1U << static_cast<unsigned>(wire::frame_kind::leave));
    CHECK(stream.take_control() == 0);
}

TEST_CASE_METHOD(receiving, "an invalid frame is refused, and messages before it are delivered") {
    bytes wire;
    add_frame(wire, 2, bytes(5));
    wire.resize(wire.size() + 64, std::byte{0x55});
    CHECK(feed(stream, wire, [] { return 1000U; }) == UCS_ERR_INVALID_PARAM);
    CHECK(handlers.came.size() == 1);
}

TEST_CASE_METHOD(receiving, "the memory of a long frame follows the bytes that have arrived") {
    bytes wire;
    add_frame(wire, 2, bytes(200'000, std::byte{7}));
    std::size_t fed = 0;
    while (fed + 100 < wire.size()) {
        REQUIRE(feed(stream,
                     bytes(wire.begin() + static_cast<std::ptrdiff_t>(fed),
                           wire.begin() + static_cast<std::ptrdiff_t>(fed + 100)),
                     [] { return 100U; }) == UCS_OK);
        fed += 100;
        REQUIRE(handlers.limit.used() <= 8 * fed);
        if (fed > 512) REQUIRE(handlers.limit.used() > fed);
    }
    REQUIRE(feed(stream, bytes(wire.begin() + static_cast<std::ptrdiff_t>(fed), wire.end()),
                 [] { return 100U; }) == UCS_OK);
    REQUIRE(handlers.came.size() == 1);
    CHECK(handlers.came[0] == bytes(200'000, std::byte{7}));
    CHECK(handlers.limit.used() == 0);
}

TEST_CASE_METHOD(receiving,
                 "frames that land or fit an ordinary buffer do not count for the limit") {
    handlers.limit.set_most(0);
    bytes wire;
    add_frame(wire, 1, bytes(100'000));
    add_frame(wire, 2, bytes(500));
    CHECK(feed(stream, wire, [] { return 77U; }) == UCS_OK);
    CHECK(handlers.came.size() == 2);
}

TEST_CASE("if unfinished frames exceed the limit, the oldest one is dropped") {
    recorder first;
    recorder second;
    unfinished_frames limit(10'000);
    buffer_pool pool(512);
    receiver older(pool, first.table, limit, first);
    receiver newer(pool, second.table, limit, second);
    bytes wire;
    add_frame(wire, 2, bytes(9'000));
    const bytes half(wire.begin(), wire.begin() + 4'000);
    REQUIRE(feed(older, half, [] { return 500U; }) == UCS_OK);
    SECTION("another one grows") {
        REQUIRE(feed(newer, wire, [] { return 500U; }) == UCS_OK);
        CHECK(first.drops == 1);
        CHECK(second.came.size() == 1);
        older.reset();
    }
    SECTION("it grows itself") {
        limit.set_most(8'200);
        REQUIRE(feed(newer, bytes(wire.begin(), wire.begin() + 100), [] { return 50U; }) == UCS_OK);
        CHECK(feed(older, bytes(wire.begin() + 4'000, wire.end()), [] { return 500U; }) ==
              UCS_ERR_EXCEEDS_LIMIT);
        CHECK(first.drops == 0);
        older.reset();
    }
    CHECK(second.drops == 0);
    CHECK(limit.used() == 0);
}
