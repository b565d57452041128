// Byte streams of generic datatypes, which the program packs and unpacks.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "test/integration/api/streams.hpp"

using namespace api;

namespace {

// Elements of 7 bytes that lie 11 bytes apart; packed, they are dense and every bit is turned.
class sparse {
public:
    static constexpr std::size_t width = 7;
    static constexpr std::size_t stride = 11;

    std::size_t most_at_once = ~std::size_t{0};  // that pack gives
    std::size_t fails_from = ~std::size_t{0};    // unpack, from this packed byte on
    int opened = 0;
    int finished = 0;
    ucp_datatype_t type = 0;

    sparse() {
        ucp_generic_dt_ops_t ops{};
        ops.start_pack = [](void* self, const void* buffer, std::size_t count) {
            return start(self, const_cast<void*>(buffer), count);
        };
        ops.start_unpack = start;
        ops.packed_size = [](void* state) { return of(state).count * width; };
        ops.pack = [](void* state, std::size_t offset, void* into, std::size_t most) {
            const std::size_t length =
                std::min({most, of(state).how->most_at_once, of(state).count * width - offset});
            for (std::size_t i = 0; i < length; ++i)
                static_cast<std::byte*>(into)[i] = ~of(state).at(offset + i);
            return length;
        };
        ops.unpack = [](void* state, std::size_t offset, const void* from, std::size_t length) {
            if (offset + length > of(state).how->fails_from) return UCS_ERR_IO_ERROR;
            for (std::size_t i = 0; i < length; ++i)
                of(state).at(offset + i) = ~static_cast<const std::byte*>(from)[i];
            return UCS_OK;
        };
        ops.finish = [](void* state) {
            ++of(state).how->finished;
            delete &of(state);
        };
        REQUIRE(ucp_dt_create_generic(&ops, this, &type) == UCS_OK);
    }
    ~sparse() { ucp_dt_destroy(type); }
    sparse(const sparse&) = delete;
    sparse& operator=(const sparse&) = delete;

    // Memory for so many elements, all of one byte.
    static std::vector<std::byte> memory(std::size_t count, std::byte all) {
        return std::vector<std::byte>(count * stride, all);
    }
    // Memory whose elements pack to these bytes; a part of an element at the end stays out.
    static std::vector<std::byte> holding(const std::vector<std::byte>& packed, std::byte between) {
        auto made = memory((packed.size() + width - 1) / width, between);
        for (std::size_t i = 0; i < packed.size(); ++i)
            made[place(i)] = ~packed[i];
        return made;
    }

private:
    struct use {
        sparse* how;
        std::byte* base;
        std::size_t count;
        std::byte& at(std::size_t packed) const { return base[place(packed)]; }
    };
    static std::size_t place(std::size_t packed) {
        return packed / width * stride + packed % width;
    }
    static use& of(void* state) { return *static_cast<use*>(state); }
    static void* start(void* self, void* buffer, std::size_t count) {
        ++static_cast<sparse*>(self)->opened;
        return new use{static_cast<sparse*>(self), static_cast<std::byte*>(buffer), count};
    }
};

ucs_status_ptr_t write(const pair& in, const sparse& how, const std::vector<std::byte>& memory) {
    const params as = params().type(how.type);
    return ucp_stream_send_nbx(in.ep, memory.data(), memory.size() / sparse::stride, &as);
}

// A receive of elements; its end is asked for.
struct reading {
    std::vector<std::byte> memory;
    std::size_t length = 0;
    ucs_status_ptr_t running;

    reading(const pair& in, const sparse& how, std::size_t count, bool wait_all)
        : memory(sparse::memory(count, std::byte{0x5a})) {
        params as = params().type(how.type).flag(UCP_OP_ATTR_FIELD_FLAGS);
        as.flags = wait_all ? static_cast<unsigned>(UCP_STREAM_RECV_FLAG_WAITALL) : 0U;
        running = ucp_stream_recv_nbx(in.back, memory.data(), count, &length, &as);
    }
    ucs_status_t end(const pair& in) {
        if (!UCS_PTR_IS_PTR(running)) return UCS_PTR_STATUS(running);
        REQUIRE(in.until(
            [&] { return ucp_stream_recv_request_test(running, &length) != UCS_INPROGRESS; }));
        return in.finish(running);
    }
};

void wait_for_bytes(const pair& in) {
    ucp_stream_poll_ep_t ready;
    REQUIRE(in.until([&] { return ucp_stream_worker_poll(in.receiver, &ready, 1, 0) == 1; }));
}

}  // namespace

TEST_CASE("streams of generic datatypes are packed and unpacked, of every size") {
    const settings config =
        GENERATE(settings{}, settings{{"STREAM_WINDOW", "256k"}, {"ZCOPY_THRESH", "0"}});
    const pair in(for_streams(config));
    sparse how;
    how.most_at_once = GENERATE(as<std::size_t>(), 13, ~std::size_t{0});
    const bool posted_first = GENERATE(false, true);
    int operations = 0;
    for (const std::size_t count : {1U, 100U, 3000U, 20'000U, 100'000U}) {
        const auto packed = pattern(count * sparse::width, 3);
        const auto from = sparse::holding(packed, std::byte{0x11});
        const ucs_status_ptr_t early = posted_first ? nullptr : write(in, how, from);
        reading all(in, how, count, true);
        const ucs_status_ptr_t writing = posted_first ? write(in, how, from) : early;
        CHECK(all.end(in) == UCS_OK);
        CHECK(all.length == packed.size());
        CHECK(all.memory == sparse::holding(packed, std::byte{0x5a}));  // nothing in the gaps
        CHECK(in.finish(writing) == UCS_OK);
        operations += 2;
        CHECK(how.opened == operations);
        CHECK(how.finished == operations);
    }
}

TEST_CASE("a stream's bytes do not depend on the datatypes of both sides") {
    const pair in;
    sparse how;
    const std::size_t length = 5000 * sparse::width;
    const auto packed = pattern(length, 4);
    const ucs_status_ptr_t writing = write(in, how, sparse::holding(packed, std::byte{0}));
    std::vector<std::byte> got;
    while (got.size() < length) {
        in.progress();
        const auto some = in.read_some(1001);
        got.insert(got.end(), some.begin(), some.end());
    }
    CHECK(got == packed);
    CHECK(in.finish(writing) == UCS_OK);
    const ucs_status_ptr_t back = in.write(packed);
    reading all(in, how, 5000, true);
    CHECK(all.end(in) == UCS_OK);
    CHECK(all.memory == sparse::holding(packed, std::byte{0x5a}));
    CHECK(in.finish(back) == UCS_OK);
}

TEST_CASE("a receive of a generic datatype ends within an element, WAITALL does not") {
    const pair in;
    sparse how;
    const auto packed = pattern(3 * sparse::width + 4, 5);
    CHECK(in.finish(in.write(packed)) == UCS_OK);
    wait_for_bytes(in);
    reading some(in, how, 10, false);
    CHECK(some.end(in) == UCS_OK);
    CHECK(some.length == packed.size());
    auto expected = sparse::holding(packed, std::byte{0x5a});
    expected.resize(some.memory.size(), std::byte{0x5a});
    CHECK(some.memory == expected);

    CHECK(in.finish(in.write(packed)) == UCS_OK);
    wait_for_bytes(in);
    reading all(in, how, 4, true);
    REQUIRE(UCS_PTR_IS_PTR(all.running));
    const auto rest = pattern(3, 6);
    CHECK(in.finish(in.write(rest)) == UCS_OK);
    CHECK(all.end(in) == UCS_OK);
    CHECK(all.length == 4 * sparse::width);
    auto whole = packed;
    whole.insert(whole.end(), rest.begin(), rest.end());
    CHECK(all.memory == sparse::holding(whole, std::byte{0x5a}));
    CHECK(how.finished == 2);
}

TEST_CASE("a receive whose unpacking fails ends with that error, and the next one goes on") {
    const pair in;
    sparse how;
    const std::size_t count = GENERATE(as<std::size_t>(), 50, 40'000);
    const bool posted_first = GENERATE(false, true);
    const auto packed = pattern(count * sparse::width, 7);
    how.fails_from = packed.size() / 2;
    const ucs_status_ptr_t early = posted_first ? nullptr : in.write(packed);
    if (!posted_first) wait_for_bytes(in);
    reading failing(in, how, count, true);
    const ucs_status_ptr_t writing = posted_first ? in.write(packed) : early;
    CHECK(failing.end(in) == UCS_ERR_IO_ERROR);
    CHECK(in.finish(writing) == UCS_OK);
    CHECK(how.finished == 1);
    how.fails_from = ~std::size_t{0};
    const auto more = pattern(20 * sparse::width, 8);
    CHECK(in.finish(in.write(more)) == UCS_OK);
    reading next(in, how, 20, true);
    CHECK(next.end(in) == UCS_OK);
    CHECK(next.memory == sparse::holding(more, std::byte{0x5a}));
}

TEST_CASE("a send whose packing gives nothing ends with an error, and the stream goes on") {
    const pair in;
    sparse how;
    how.most_at_once = 0;
    const std::size_t count = GENERATE(as<std::size_t>(), 1, 40'000);
    const auto memory = sparse::memory(count, std::byte{1});
    CHECK(in.finish(write(in, how, memory)) == UCS_ERR_INVALID_PARAM);
    CHECK(how.finished == 1);
    const auto bytes = pattern(1000, 9);
    CHECK(in.finish(in.write(bytes)) == UCS_OK);
    std::vector<std::byte> got;
    REQUIRE(in.until([&] {
        const auto some = in.read_some(100);
        got.insert(got.end(), some.begin(), some.end());
        return got.size() == bytes.size();
    }));
    CHECK(got == bytes);
}
