#include "ucs/security/key.hpp"

#include <catch2/catch.hpp>

using namespace ucs::security;

TEST_CASE("keys for different purposes and contexts differ") {
    const key parent = key::from_text("the parent of all keys");
    const key one = key::derive(parent, "tcp", bytes_of("a"));
    CHECK(one == key::derive(parent, "tcp", bytes_of("a")));
    CHECK_FALSE(one == key::derive(parent, "tcp", bytes_of("b")));
    CHECK_FALSE(one == key::derive(parent, "cm", bytes_of("a")));
    CHECK_FALSE(one == key::derive(key::from_text("another parent"), "tcp", bytes_of("a")));
    CHECK_FALSE(one == parent);
}

TEST_CASE("the boundary between purpose and context counts") {
    const key parent = key::random();
    CHECK_FALSE(key::derive(parent, "tcp", bytes_of("x")) == key::derive(parent, "tcpx"));
}

TEST_CASE("a combined key needs both keys") {
    const key first = key::random();
    const key second = key::random();
    CHECK(key::combine(first, second) == key::combine(first, second));
    CHECK_FALSE(key::combine(first, second) == key::combine(first, key::random()));
    CHECK_FALSE(key::combine(first, second) == key::combine(key::random(), second));
    CHECK_FALSE(key::combine(first, second) == key::combine(second, first));
}

TEST_CASE("random keys and secrets do not repeat") {
    CHECK_FALSE(key::random() == key::random());
    CHECK_FALSE(worker_secret::random() == worker_secret::random());
}

TEST_CASE("bytes are written as two hexadecimal digits each") {
    const std::byte some[] = {std::byte{0}, std::byte{0x1f}, std::byte{0xa0}, std::byte{0xff}};
    CHECK(hex_text(some) == "001fa0ff");
    CHECK(hex_text({}).empty());
}

TEST_CASE("a worker's secret round-trips through bytes") {
    const worker_secret secret = worker_secret::random();
    const worker_secret copy = worker_secret::from_bytes(secret.data());
    CHECK(copy == secret);
    CHECK(copy.as_key() == secret.as_key());
    CHECK_FALSE(worker_secret::random().as_key() == secret.as_key());
}

TEST_CASE("the tag is BLAKE2b of the framed fields") {
    // Python: hashlib.blake2b(b"\3".ljust(8, b"\0") + b"abc", digest_size=16, key=hashlib.blake2b(
    // b"\x0f".ljust(8, b"\0") + b"hawser key text" + b"\4".ljust(8, b"\0") + b"test",
    // digest_size=32).digest()).hexdigest()
    const tag made = authenticate(key::from_text("test"), {bytes_of("abc")});
    std::string text;
    for (const std::byte each : made) {
        constexpr char digits[] = "0123456789abcdef";
        text += digits[std::to_integer<unsigned>(each) >> 4];
        text += digits[std::to_integer<unsigned>(each) & 15];
    }
    CHECK(text == "77542030a08d7cdae59e220607932b18");
}

TEST_CASE("the boundaries between fields of a tag count") {
    const key with = key::random();
    const tag one = authenticate(with, {bytes_of("ab"), bytes_of("c")});
    CHECK(same_tag(one, authenticate(with, {bytes_of("ab"), bytes_of("c")})));
    CHECK_FALSE(same_tag(one, authenticate(with, {bytes_of("a"), bytes_of("bc")})));
    CHECK_FALSE(same_tag(one, authenticate(with, {bytes_of("abc")})));
    CHECK_FALSE(same_tag(one, authenticate(with, {bytes_of("ab"), bytes_of("c"), {}})));
    CHECK_FALSE(same_tag(one, authenticate(key::random(), {bytes_of("ab"), bytes_of("c")})));
}
