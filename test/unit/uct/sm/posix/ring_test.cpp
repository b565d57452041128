#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "uct/sm/posix/ring_reader.hpp"
#include "uct/sm/posix/ring_writer.hpp"

using namespace uct;
using namespace uct::posix;

namespace {

constexpr ring_geometry small_ring{8, 4096, 1024};

// Memory of a ring within one process, with a guard after it for the address sanitizer.
struct ring_memory {
    explicit ring_memory(const ring_geometry& geometry = small_ring, bool reader_may_sleep = false)
        : size(geometry.segment_size()),
          bytes(static_cast<std::byte*>(::operator new (size, std::align_val_t{4096}))),
          writer((std::memset(bytes.get(), 0, size), geometry), bytes.get(), reader_may_sleep),
          reader(geometry, bytes.get()) {}

    struct release {
        void operator()(std::byte* memory) const {
            ::operator delete (memory, std::align_val_t{4096});
        }
    };
    std::size_t size;
    std::unique_ptr<std::byte, release> bytes;
    ring_writer writer;
    ring_reader reader;
};

std::string text_of(std::uint64_t seed, std::size_t length) {
    std::string text(length, '\0');
    for (std::size_t i = 0; i < length; ++i)
        text[i] = static_cast<char>(seed * 31 + i);
    return text;
}

// Sends `text`, inline if it fits and `packed` does not request the bulk bytes. Returns false if
// there is no room.
bool send(ring_writer& writer, am_id id, const std::string& text, bool packed) {
    if (!writer.has_slot() && (!writer.refresh() || !writer.has_slot())) return false;
    if (!packed && text.size() >= 8 && text.size() <= inline_message) {
        std::uint64_t header = 0;
        std::memcpy(&header, text.data(), 8);
        (void)writer.put_inline(id, header, text.data() + 8, text.size() - 8);
        return true;
    }
    std::byte* into = writer.reserve(small_ring.max_message);
    if (into == nullptr && writer.refresh()) into = writer.reserve(small_ring.max_message);
    if (into == nullptr) return false;
    std::memcpy(into, text.data(), text.size());
    (void)writer.commit(id, text.size());
    return true;
}

std::string receive(ring_reader& reader, am_id* id = nullptr) {
    ring_message message;
    REQUIRE(reader.ready());
    REQUIRE(reader.take(message));
    std::string text(static_cast<const char*>(message.data), message.length);
    if (id != nullptr) *id = message.id;
    (void)reader.release();
    return text;
}

}  // namespace

TEST_CASE("posix ring: a writer without ring has no room and no counters to read", "[posix]") {
    ring_writer writer;
    CHECK_FALSE(writer.has_slot());
    CHECK(writer.refresh());
    CHECK_FALSE(writer.has_slot());
}

TEST_CASE("posix ring: laps keep order and contents at every size", "[posix]") {
    ring_memory ring;
    for (std::uint64_t i = 0; i < 5000; ++i) {
        const std::string text = text_of(i, i % 1025);
        REQUIRE(send(ring.writer, static_cast<am_id>(i % 32), text, i % 3 == 0));
        am_id id = 0;
        REQUIRE(receive(ring.reader, &id) == text);
        REQUIRE(id == i % 32);
        REQUIRE_FALSE(ring.reader.ready());
    }
}

TEST_CASE("posix ring: a full ring refuses until the reader has freed slots", "[posix]") {
    ring_memory ring;
    std::uint64_t sent = 0, got = 0;
    while (send(ring.writer, 1, text_of(sent, 16), false))
        ++sent;
    CHECK(sent == small_ring.slots);
    while (ring.reader.ready())
        CHECK(receive(ring.reader) == text_of(got++, 16));
    CHECK(got == sent);
    CHECK(send(ring.writer, 1, text_of(sent, 16), false));
}

TEST_CASE("posix ring: full bulk bytes refuse, and the largest message fits again when drained",
          "[posix]") {
    ring_memory ring;
    for (unsigned round = 0; round < 100; ++round) {
        std::uint64_t sent = 0;
        while (send(ring.writer, 1, text_of(sent, 1024 - 64 * (round % 3)), true))
            ++sent;
        CHECK(sent >= 2);
        for (std::uint64_t got = 0; got < sent; ++got)
            REQUIRE(receive(ring.reader) == text_of(got, 1024 - 64 * (round % 3)));
        REQUIRE_FALSE(ring.reader.ready());
    }
}

TEST_CASE("posix ring: impossible counters of the reader are found", "[posix]") {
    ring_memory ring;
    auto* control = reinterpret_cast<ring_control*>(ring.bytes.get());
    SECTION("more slots consumed than sent") {
        control->slots_consumed = 1;
    }
    SECTION("counters that ran backwards") {
        control->slots_consumed = ~0ULL - 100;
    }
    SECTION("more bulk bytes consumed than sent") {
        control->bulk_consumed = 64;
    }
    CHECK_FALSE(ring.writer.refresh());
}

TEST_CASE("posix ring: invalid data in a slot is refused", "[posix]") {
    ring_memory ring;
    auto* first = reinterpret_cast<slot*>(ring.bytes.get() + sizeof(ring_control));
    std::uint64_t position = 0;
    SECTION("inline message longer than a slot") {
        first->word = slot_word::make(1, 1, 0, 57);
    }
    SECTION("unknown flags") {
        first->word = slot_word::make(1, 1, 2U << 16, 8);
    }
    SECTION("bulk message longer than the bulk bytes") {
        first->word = slot_word::make(1, 1, slot_word::bulk_flag, 4097);
    }
    SECTION("bulk message over the end") {
        first->word = slot_word::make(1, 1, slot_word::bulk_flag, 128);
        position = 4096 - 64;
    }
    SECTION("bulk position not aligned") {
        first->word = slot_word::make(1, 1, slot_word::bulk_flag, 100);
        position = 8;
    }
    SECTION("bulk position far ahead") {
        first->word = slot_word::make(1, 1, slot_word::bulk_flag, 100);
        position = 1ULL << 40;
    }
    std::memcpy(first->body, &position, sizeof position);
    ring_message message;
    REQUIRE(ring.reader.ready());
    CHECK_FALSE(ring.reader.take(message));
}

TEST_CASE("posix ring: random garbage never leads outside the segment", "[posix]") {
    const auto seed = GENERATE(1U, 2U, 3U, 4U);
    std::mt19937_64 random{seed};
    ring_memory ring;
    for (unsigned i = 0; i < 20000; ++i) {
        const std::size_t offset = random() % ring.size & ~std::size_t{7};
        std::uint64_t value = random();
        if (random() % 2 == 0) value &= 0xffffffff'0001ff01U >> (random() % 33);
        std::memcpy(ring.bytes.get() + offset % 1024, &value, sizeof value);
        (void)send(ring.writer, 1, text_of(i, random() % 1025), random() % 2 == 0);
        ring_message message;
        if (!ring.reader.ready() || !ring.reader.take(message)) continue;
        const auto* data = static_cast<const std::byte*>(message.data);
        INFO("seed " << seed << ", step " << i);
        REQUIRE(data >= ring.bytes.get());
        REQUIRE(data + message.length <= ring.bytes.get() + ring.size);
        (void)ring.reader.release();
    }
}

TEST_CASE("posix ring: two threads see every message once, in order", "[posix]") {
    ring_memory ring;
    constexpr std::uint64_t count = 20000;
    std::thread sender([&] {
        for (std::uint64_t i = 0; i < count;) {
            if (send(ring.writer, 1, text_of(i, i * 7 % 1025), i % 2 == 0)) {
                ++i;
            } else {
                std::this_thread::yield();
            }
        }
    });
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < count;) {
        if (!ring.reader.ready()) {
            std::this_thread::yield();
            continue;
        }
        ring_message message;
        if (!ring.reader.take(message)) {
            wrong = count;
            break;
        }
        const std::string expected = text_of(i, i * 7 % 1025);
        if (message.length != expected.size() ||
            std::memcmp(message.data, expected.data(), message.length) != 0) {
            ++wrong;
        }
        (void)ring.reader.release();
        ++i;
    }
    sender.join();
    CHECK(wrong == 0);
}

TEST_CASE("posix ring: a sleeping reader is woken by the next message, once", "[posix]") {
    ring_memory ring{small_ring, true};
    CHECK_FALSE(ring.writer.put_inline(1, 0, nullptr, 0));  // no side sleeps
    CHECK_FALSE(ring.reader.sleep());                       // there is a message
    receive(ring.reader);
    CHECK_FALSE(ring.writer.put_inline(1, 1, nullptr, 0));  // the reader did not go to sleep
    receive(ring.reader);
    REQUIRE(ring.reader.sleep());
    CHECK(ring.reader.sleep());  // again, as in another thread
    CHECK(ring.writer.put_inline(1, 2, nullptr, 0));
    CHECK_FALSE(ring.writer.put_inline(1, 3, nullptr, 0));
    receive(ring.reader);
    receive(ring.reader);
    REQUIRE(ring.reader.sleep());
    REQUIRE(ring.writer.reserve(100) != nullptr);
    CHECK(ring.writer.commit(1, 100));
    CHECK_FALSE(ring.reader.sleep());
}

TEST_CASE("posix ring: the mark of an earlier sleep survives a failed attempt to sleep",
          "[posix]") {
    ring_memory ring{small_ring, true};
    REQUIRE(ring.reader.sleep());
    ring_writer impolite{small_ring, ring.bytes.get()};  // wakes no reader
    CHECK_FALSE(impolite.put_inline(1, 0, nullptr, 0));
    CHECK_FALSE(ring.reader.sleep());
    CHECK(reinterpret_cast<ring_control*>(ring.bytes.get())->receiver_sleeps == 1);
}

TEST_CASE("posix ring: a sleeping writer is woken when there is room", "[posix]") {
    ring_memory ring;
    while (send(ring.writer, 1, text_of(0, 16), false)) {
    }
    REQUIRE(ring.writer.sleep());
    bool called = false;
    while (ring.reader.ready()) {
        ring_message message;
        REQUIRE(ring.reader.take(message));
        const bool calls = ring.reader.release();
        CHECK_FALSE((called && calls));
        called = called || calls;
    }
    CHECK(called);
    CHECK_FALSE(ring.writer.sleep());  // there is room
    CHECK(ring.writer.sleep());        // the writer knows that now
    CHECK(ring_writer{}.sleep());
}

TEST_CASE("posix ring: two threads that sleep whenever possible miss no wake-up", "[posix]") {
    ring_memory ring{small_ring, true};
    constexpr std::uint64_t count = 20000;
    std::atomic<unsigned> reader_calls{0}, writer_calls{0};
    // Sleeps until woken. Work that the other side published before it checked the mark needs no
    // wake-up.
    const auto wait = [](std::atomic<unsigned>& calls) {
        calls.wait(0);
        calls.store(0);
    };
    const auto call = [](std::atomic<unsigned>& calls) {
        calls.store(1);
        calls.notify_one();
    };
    std::thread sender([&] {
        for (std::uint64_t i = 0; i < count;) {
            if (!ring.writer.has_slot() && (!ring.writer.refresh() || !ring.writer.has_slot())) {
                if (ring.writer.sleep()) wait(writer_calls);
                continue;
            }
            if (ring.writer.put_inline(1, i++, nullptr, 0)) call(reader_calls);
        }
    });
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < count;) {
        if (!ring.reader.ready()) {
            if (ring.reader.sleep()) wait(reader_calls);
            continue;
        }
        ring_message message;
        if (!ring.reader.take(message)) break;
        std::uint64_t number = 0;
        std::memcpy(&number, message.data, sizeof number);
        if (number != i++) ++wrong;
        if (ring.reader.release()) call(writer_calls);
    }
    sender.join();
    CHECK(wrong == 0);
}
