#include "ucp/address/address.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/address/samples.hpp"
#include "ucp/address/crc32c.hpp"
#include "ucp/address/wire.hpp"

using namespace ucp::address;

namespace {

using bytes = std::vector<std::byte>;

// Parses from memory of exactly this size, so that a sanitizer detects any read behind it.
ucs::result<worker_address> parse_exactly(const bytes& packed) {
    const auto exact = std::make_unique<std::byte[]>(packed.size());
    std::copy(packed.begin(), packed.end(), exact.get());
    return parse(std::span<const std::byte>(exact.get(), packed.size()));
}

ucs::result<worker_address> parse_padded(bytes packed) {
    packed.resize(max_packed_size);
    return parse(packed.data());
}

// Corrects header check and checksum of a changed address.
void seal(bytes& packed) {
    packed[wire::check_at] = std::byte{wire::header_check(packed)};
    const std::uint32_t crc = wire::checksum(packed);
    for (std::size_t i = 0; i < 4; ++i)
        packed[wire::crc_at + i] = static_cast<std::byte>(crc >> (8 * i) & 0xff);
}

}  // namespace

TEST_CASE("CRC-32C has its published check value", "[ucp][address]") {
    const char digits[] = "123456789";
    const auto all = std::as_bytes(std::span(digits, 9));
    REQUIRE(crc32c(all) == 0xe3069283);
    REQUIRE(crc32c(all.subspan(4), crc32c(all.first(4))) == 0xe3069283);
}

TEST_CASE("numbers of an address keep nine bits", "[ucp][address]") {
    for (const float value : {1e-9F, 8.5e-7F, 1.0F, 1.2e8F, 5.3e10F, 3e38F})
        REQUIRE(std::abs(quantise(value) - value) <= value / 256);
    for (const float value : {0.0F, 1.0F, 0.5F, 1024.0F})
        REQUIRE(quantise(value) == value);
    REQUIRE(quantise(quantise(1.2e8F)) == quantise(1.2e8F));
    REQUIRE(quantise(-1.0F) == 0);
    REQUIRE(quantise(std::numeric_limits<float>::quiet_NaN()) == 0);
    REQUIRE(std::isfinite(quantise(std::numeric_limits<float>::infinity())));
    REQUIRE(std::isfinite(quantise(std::numeric_limits<float>::max())));
}

TEST_CASE("an address comes back as it was packed", "[ucp][address]") {
    const worker_address original = test::ordinary_address();
    const bytes packed = pack(original, false);
    const auto parsed = parse_exactly(packed);
    REQUIRE(parsed.ok());
    REQUIRE(*parsed == original);
    REQUIRE(*packed_length(packed.data()) == packed.size());
}

TEST_CASE("random addresses come back as they were packed", "[ucp][address]") {
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        INFO("seed " << seed);
        std::mt19937_64 random(seed);
        const worker_address original = test::random_address(random, 12);
        const bytes packed = pack(original, false);
        REQUIRE(packed.size() <= max_packed_size);
        const auto parsed = parse_exactly(packed);
        REQUIRE(parsed.ok());
        REQUIRE(*parsed == original);
        REQUIRE(*parse_padded(packed) == original);
    }
}

TEST_CASE("an address is small", "[ucp][address]") {
    const worker_address full = test::ordinary_address();
    REQUIRE(pack(full, false).size() < 174);
    REQUIRE(pack(full, true).size() < 124);
    REQUIRE(pack({}, false).size() <= 45);
}

TEST_CASE("a network address contains only transports that other hosts can use", "[ucp][address]") {
    const worker_address full = test::ordinary_address();
    const auto parsed = parse_exactly(pack(full, true));
    REQUIRE(parsed.ok());
    REQUIRE(parsed->uid() == full.uid());
    REQUIRE(parsed->entries == std::vector<entry>{full.entries.back()});
}

TEST_CASE("an address with too many interfaces drops the slowest and keeps every scope",
          "[ucp][address]") {
    worker_address crowded = test::ordinary_address();
    for (int i = 0; i < 300; ++i) {
        const auto bandwidth = static_cast<float>(1 + i) * 1e8F;
        crowded.entries.push_back(
            test::make_entry("tcp", "eth" + std::to_string(i), uct::scope::network, 20, bandwidth));
    }
    test::log_capture logs;
    const bytes packed = pack(crowded, false);
    REQUIRE(packed.size() <= max_packed_size);
    REQUIRE(packed.size() > max_packed_size - 64);
    const auto parsed = parse_exactly(packed);
    REQUIRE(parsed.ok());
    REQUIRE(parsed->entries.front() == crowded.entries.front());
    REQUIRE(parsed->entries.back() == crowded.entries.back());
    for (const uct::scope scope : {uct::scope::process, uct::scope::host, uct::scope::network}) {
        REQUIRE(std::any_of(parsed->entries.begin(), parsed->entries.end(),
                            [scope](const entry& each) { return each.scope == scope; }));
    }
}

TEST_CASE("entries and names that the format cannot express are dropped or cleaned",
          "[ucp][address]") {
    worker_address odd = test::ordinary_address();
    odd.name = std::string("bad\nname\x7f") + std::string(40, 'x');
    odd.entries[0].transport = "sixteen-letters!";
    odd.entries[1].device = "a blank";
    odd.entries[2].iface_address.resize(256);
    test::log_capture logs;
    const auto parsed = parse_exactly(pack(odd, false));
    REQUIRE(parsed.ok());
    REQUIRE(logs.count("is left out", ucs::log::level::error) == 3);
    REQUIRE(parsed->name == "bad_name_" + std::string(22, 'x'));
    REQUIRE(parsed->entries == std::vector<entry>{odd.entries.back()});
}

TEST_CASE("zeros and anything else behind an address are ignored", "[ucp][address]") {
    const worker_address original = test::ordinary_address();
    bytes packed = pack(original, false);
    for (const std::byte filler : {std::byte{0}, std::byte{0xff}}) {
        bytes longer = packed;
        longer.resize(4096, filler);
        REQUIRE(*parse(longer) == original);
        REQUIRE(*parse(longer.data()) == original);
    }
}

TEST_CASE("every flipped bit is detected, with one log line", "[ucp][address]") {
    const bytes packed = pack(test::ordinary_address(), false);
    for (std::size_t bit = 0; bit < 8 * packed.size(); ++bit) {
        INFO("bit " << bit);
        bytes damaged = packed;
        damaged[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
        test::log_capture logs;
        REQUIRE(parse_exactly(damaged).status() == UCS_ERR_INVALID_ADDR);
        REQUIRE(logs.count("invalid worker address", ucs::log::level::error) == 1);
        REQUIRE(parse_padded(damaged).status() == UCS_ERR_INVALID_ADDR);
        REQUIRE(logs.size() == 2);
    }
}

TEST_CASE("every truncated address is refused, padded or not", "[ucp][address]") {
    const bytes packed = pack(test::ordinary_address(), false);
    for (std::size_t length = 0; length < packed.size(); ++length) {
        INFO("length " << length);
        bytes cut(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(length));
        test::log_capture logs;
        REQUIRE(parse_exactly(cut).status() == UCS_ERR_INVALID_ADDR);
        REQUIRE(logs.size() == 1);
        cut.resize(packed.size());
        // Replacing zeros by zeros is no damage.
        if (cut != packed) REQUIRE(parse_padded(cut).status() == UCS_ERR_INVALID_ADDR);
    }
}

TEST_CASE("versions: newer is unsupported, older is invalid", "[ucp][address]") {
    bytes packed = pack(test::ordinary_address(), false);
    test::log_capture logs;
    packed[wire::version_at] = std::byte{wire::version + 1};
    REQUIRE(parse_exactly(packed).status() == UCS_ERR_INVALID_ADDR);  // damaged, not newer
    seal(packed);
    REQUIRE(parse_exactly(packed).status() == UCS_ERR_UNSUPPORTED);
    packed[wire::version_at] = std::byte{wire::version - 1};
    seal(packed);
    REQUIRE(parse_exactly(packed).status() == UCS_ERR_INVALID_ADDR);
    REQUIRE(logs.size() == 3);
}

TEST_CASE("data that is not an address is refused", "[ucp][address]") {
    test::log_capture logs;
    REQUIRE(parse(nullptr).status() == UCS_ERR_INVALID_ADDR);
    REQUIRE(packed_length(nullptr).status() == UCS_ERR_INVALID_ADDR);
    const bytes zeros(max_packed_size);
    REQUIRE(parse(zeros.data()).status() == UCS_ERR_INVALID_ADDR);
    const auto foreign = std::make_unique<char>('x');  // only the first byte is read
    REQUIRE(parse(foreign.get()).status() == UCS_ERR_INVALID_ADDR);
    REQUIRE(logs.size() == 4);
}

TEST_CASE("impossible lengths in the header are refused", "[ucp][address]") {
    const bytes packed = pack(test::ordinary_address(), false);
    for (const std::size_t claimed : {0U, 1U, 9U, 1025U, 65535U}) {
        INFO("length " << claimed);
        bytes lying(packed.begin(), packed.begin() + wire::header_size);
        lying[wire::length_at] = static_cast<std::byte>(claimed & 0xff);
        lying[wire::length_at + 1] = static_cast<std::byte>(claimed >> 8);
        lying[wire::check_at] = std::byte{wire::header_check(lying)};
        const auto exact = std::make_unique<std::byte[]>(lying.size());
        std::copy(lying.begin(), lying.end(), exact.get());
        test::log_capture logs;
        REQUIRE(parse(exact.get()).status() == UCS_ERR_INVALID_ADDR);
        REQUIRE(logs.count("impossible length") == 1);
    }
}

TEST_CASE("a public key whose highest bit is set is refused", "[ucp][address]") {
    // X25519 ignores the highest bit. Without this check, two addresses with different keys would
    // lead to the same worker.
    auto address = test::ordinary_address();
    address.identity.back() |= std::byte{0x80};
    const test::log_capture logs;
    CHECK(parse_exactly(pack(address, false)).status() == UCS_ERR_INVALID_ADDR);
    CHECK(logs.count("public key") == 1);
}

// A faulty peer may compute a correct checksum over invalid contents.
TEST_CASE("contents are checked behind a correct checksum", "[ucp][address]") {
    const bytes packed = pack(test::ordinary_address(), false);
    std::size_t accepted = 0;
    for (std::uint64_t seed = 1; seed <= 20000; ++seed) {
        std::mt19937_64 random(seed);
        bytes changed = packed;
        for (std::size_t i = 1 + random() % 3; i > 0; --i) {
            const std::size_t position =
                wire::header_size + random() % (packed.size() - wire::header_size);
            changed[position] = static_cast<std::byte>(random() & 0xff);
        }
        seal(changed);
        test::log_capture logs;
        const auto parsed = parse_exactly(changed);
        INFO("seed " << seed);
        if (!parsed.ok()) {
            REQUIRE(parsed.status() == UCS_ERR_INVALID_ADDR);
            REQUIRE(logs.size() == 1);
            continue;
        }
        // some changes result in another valid address, which must survive another round trip
        ++accepted;
        REQUIRE(*parse_exactly(pack(*parsed, false)) == *parsed);
    }
    REQUIRE(accepted > 0);
    REQUIRE(accepted < 20000);
}
