#include "uct/sm/posix/wire.hpp"

#include "test/support/parsing.hpp"

using namespace uct::posix;

namespace {

hello good_hello() {
    hello said{.pid = 1, .slots = 256, .bulk_size = 262144, .max_message = 8256};
    said.segment_size = said.geometry().segment_size();
    return said;
}

parsed<hello> parse(const hello& said) {
    return parse_hello(std::as_bytes(std::span(&said, 1)));
}

}  // namespace

TEST_CASE("posix hello: a valid one is parsed", "[posix]") {
    const parsed<hello> answer = parse(good_hello());
    REQUIRE(answer.value);
    CHECK(answer.value->geometry() == ring_geometry{256, 262144, 8256});
}

TEST_CASE("posix hello: every wrong field is refused with a reason", "[posix]") {
    const std::pair<const char*, void (*)(hello&)> changes[] = {
        {"magic", [](hello& said) { said.header.magic ^= 1; }},
        {"version", [](hello& said) { said.header.version = 1; }},
        {"kind", [](hello& said) { said.header.kind = packet_kind::challenge; }},
        {"slots not a power of two", [](hello& said) { said.slots = 255; }},
        {"no slots", [](hello& said) { said.slots = 0; }},
        {"too many slots", [](hello& said) { said.slots = 1U << 31; }},
        {"bulk size not a power of two", [](hello& said) { said.bulk_size -= 1; }},
        {"huge bulk size", [](hello& said) { said.bulk_size = 1U << 31; }},
        {"messages larger than the bulk bytes allow",
         [](hello& said) { said.max_message = 131072; }},
        {"segment smaller than the ring", [](hello& said) { said.segment_size -= 4096; }},
        {"segment larger than the ring", [](hello& said) { said.segment_size += 1; }},
    };
    for (const auto& [name, change] : changes) {
        INFO(name);
        hello said = good_hello();
        change(said);
        const parsed<hello> answer = parse(said);
        CHECK_FALSE(answer.value);
        CHECK_FALSE(answer.reason.empty());
    }
}

TEST_CASE("posix hello: other lengths are refused", "[posix]") {
    const hello said = good_hello();
    test::check_only_whole(std::as_bytes(std::span(&said, 1)),
                           [](auto bytes) { return parse_hello(bytes).value; });
}

TEST_CASE("posix challenge and reply: one of the right kind and length is read", "[posix]") {
    const challenge asked{.reply_socket = 17, .nonce = ucs::security::fresh_nonce()};
    const reply answered;
    const auto question = std::as_bytes(std::span(&asked, 1));
    const auto answer = std::as_bytes(std::span(&answered, 1));
    REQUIRE(parse_challenge(question).value);
    CHECK(parse_challenge(question).value->reply_socket == 17);
    CHECK(parse_challenge(question).value->nonce == asked.nonce);
    CHECK_FALSE(parse_challenge(answer).value);
    CHECK_FALSE(parse_reply(question).value);
    test::check_only_whole(question, [](auto bytes) { return parse_challenge(bytes).value; });
    test::check_only_whole(answer, [](auto bytes) { return parse_reply(bytes).value; });
}

TEST_CASE("posix goodbye: known reasons are parsed, others are refused", "[posix]") {
    packet_header said{.kind = packet_kind::refused};
    CHECK(parse_goodbye(std::as_bytes(std::span(&said, 1))) == packet_kind::refused);
    said.kind = static_cast<packet_kind>(77);
    CHECK_FALSE(parse_goodbye(std::as_bytes(std::span(&said, 1))));
    said = {};
    said.magic = 0;
    CHECK_FALSE(parse_goodbye(std::as_bytes(std::span(&said, 1))));
    CHECK_FALSE(parse_goodbye({}));
}

TEST_CASE("posix wake-up call: it is distinguished from a goodbye", "[posix]") {
    packet_header said{.kind = packet_kind::wake_up_call};
    const auto bytes = std::as_bytes(std::span(&said, 1));
    CHECK(is_wake_up_call(bytes));
    CHECK_FALSE(parse_goodbye(bytes));
    CHECK_FALSE(is_wake_up_call(bytes.first(7)));
    said.version = 1;
    CHECK_FALSE(is_wake_up_call(bytes));
    said = {};
    CHECK_FALSE(is_wake_up_call(bytes));
}
