// Tests of records over a socket: their pieces, wrong headers, and the ends of connections.
#include "ucs/net/record_stream.hpp"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "test/support/socket_pair.hpp"

namespace {

using bytes = std::vector<std::byte>;
constexpr std::uint32_t longest = 4'000'000;

std::optional<std::uint32_t> parse(std::span<const std::byte, 4> from) noexcept {
    std::uint32_t length = 0;
    std::memcpy(&length, from.data(), sizeof length);
    if (length > longest) return std::nullopt;
    return length;
}

using stream = ucs::net::record_stream<4, &parse>;

bytes head_of(std::uint32_t length) {
    bytes head(sizeof length);
    std::memcpy(head.data(), &length, sizeof length);
    return head;
}

bytes body_of(std::size_t length) {
    bytes body(length);
    for (std::size_t i = 0; i < length; ++i)
        body[i] = static_cast<std::byte>(i * 7 + length);
    return body;
}

// Both ends of a connection.
struct both_ends {
    both_ends() {
        test::socket_pair ends(SOCK_STREAM | SOCK_NONBLOCK);
        near.emplace(std::move(ends.near));
        far.emplace(std::move(ends.far));
    }
    // Receives a whole record, while the other end sends. Returns its body.
    bytes receive() {
        const auto finish = [&](const auto& read) {
            ucs_status_t status = UCS_INPROGRESS;
            while ((status = read()) == UCS_INPROGRESS)
                CHECK(far->flush() != UCS_ERR_CONNECTION_RESET);
            REQUIRE(status == UCS_OK);
        };
        finish([&] { return near->read_header(); });
        bytes body(near->header());
        finish([&] { return near->read_body(body); });
        return body;
    }
    std::optional<stream> near, far;
};

template<class Call>
void check_gone(const Call& call, int reason) {
    errno = -1;
    const ucs_status_t status = call();
    const int error = errno;
    CHECK(status == UCS_ERR_CONNECTION_RESET);
    CHECK(error == reason);
}

}  // namespace

TEST_CASE_METHOD(both_ends, "records of any length arrive whole and in order") {
    for (const std::uint32_t length : {0U, 1U, 300U, longest, 5U}) {
        CAPTURE(length);
        const bytes body = body_of(length);
        far->put(head_of(length), body);
        const bool same = receive() == body;
        CHECK(same);
        CHECK_FALSE(far->is_sending());
        CHECK_FALSE(near->in_record());
    }
    CHECK(near->received() == 5 * 4 + 306 + longest);
}

TEST_CASE_METHOD(both_ends, "a record may arrive in single bytes") {
    bytes all = head_of(3);
    const bytes body = body_of(3);
    all.insert(all.end(), body.begin(), body.end());
    bytes got(3);
    for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK((i < 4 ? near->read_header() : near->read_body(got)) == UCS_INPROGRESS);
        REQUIRE(::send(far->fd(), &all[i], 1, 0) == 1);
        if (i == 3) CHECK(near->read_header() == UCS_OK);
    }
    CHECK(near->header() == 3);
    CHECK(near->read_body(got) == UCS_OK);
    CHECK(got == body);
}

TEST_CASE_METHOD(both_ends, "a malformed header is refused, and nothing after it is received") {
    const bytes body = body_of(8);
    far->put(head_of(longest + 1), body);
    REQUIRE(far->flush() == UCS_OK);
    CHECK(near->read_header() == UCS_ERR_INVALID_PARAM);
    CHECK(near->read_header() == UCS_ERR_INVALID_PARAM);
    CHECK_FALSE(near->in_record());
    CHECK(near->received() == 4);
}

TEST_CASE_METHOD(both_ends, "the end of the peer is reported with its reason") {
    bytes into(8);
    SECTION("it closes in the middle of a record") {
        const bytes part = body_of(5);
        far->put(head_of(8), part);
        REQUIRE(far->flush() == UCS_OK);
        far.reset();
        REQUIRE(near->read_header() == UCS_OK);
        check_gone([&] { return near->read_body(into); }, 0);
        near->put(into);
        check_gone([&] { return near->flush(); }, EPIPE);
    }
    SECTION("it ends without having read") {
        near->put(into);
        REQUIRE(near->flush() == UCS_OK);
        far->take().reset();
        check_gone([&] { return near->read_header(); }, ECONNRESET);
    }
}

TEST_CASE_METHOD(both_ends, "a closed connection delivers its last record, whatever was unread") {
    near->put(body_of(200));
    REQUIRE(near->flush() == UCS_OK);
    const bytes body = body_of(3);
    far->put(head_of(3), body);
    REQUIRE(far->flush() == UCS_OK);
    far->close();
    CHECK(near->read_header() == UCS_OK);
    bytes into(3);
    CHECK(near->read_body(into) == UCS_OK);
    CHECK(into == body);
}

TEST_CASE_METHOD(both_ends, "a body whose memory goes away is not sent any more") {
    const bytes body = body_of(longest);
    far->put(head_of(longest), body);
    REQUIRE(far->flush() == UCS_INPROGRESS);
    CHECK_FALSE(far->forget_body());
    CHECK_FALSE(far->is_sending());
    near->put(head_of(0));
    REQUIRE(near->flush() == UCS_OK);
    CHECK(near->forget_body());
}
