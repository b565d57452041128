#include "uct/tcp/data/encrypted_stream.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

using namespace uct::tcp;
using ucs::security::key;
using bytes = std::vector<std::byte>;

namespace {

const key session = key::from_text("the key of a session");

bytes random_bytes(std::size_t length, unsigned seed) {
    std::mt19937 random(seed);
    bytes made(length);
    for (std::byte& each : made)
        each = std::byte(random() & 0xff);
    return made;
}

iovec piece(const bytes& from) {
    return {const_cast<std::byte*>(from.data()), from.size()};
}

// Returns all records of a text.
bytes encrypted_text(encrypting_stream& out, const bytes& plain) {
    bytes made;
    std::size_t done = 0;
    do {
        const iovec rest{const_cast<std::byte*>(plain.data()) + done, plain.size() - done};
        out.encrypt(std::span(&rest, 1));
        made.insert(made.end(), out.ready().begin(), out.ready().end());
        out.sent(out.ready().size());
        done += out.finish_record();
    } while (done < plain.size());
    return made;
}

struct decrypted {
    bytes plain;
    bool broken = false;
};

// Returns the result of a receiver that gets the bytes in pieces.
decrypted decrypt_all(decrypting_stream& in, std::span<const std::byte> from, std::size_t step,
                      std::size_t room = 1000) {
    decrypted all;
    while (!all.broken) {
        bytes into(room);
        const iovec space = piece(into);
        const auto read = in.read(std::span(&space, 1));
        all.broken = read.status == decrypting_stream::outcome::broken;
        if (read.status == decrypting_stream::outcome::read) {
            all.plain.insert(all.plain.end(), into.begin(),
                             into.begin() + static_cast<std::ptrdiff_t>(read.count));
            continue;
        }
        if (from.empty()) break;
        const auto next = in.space();
        const std::size_t count = std::min({step, from.size(), next.size()});
        std::copy_n(from.begin(), count, next.begin());
        in.take(count);
        from = from.subspan(count);
    }
    return all;
}

}  // namespace

TEST_CASE("bytes that one side encrypts are decrypted by the other, in pieces of any size") {
    const std::size_t step = GENERATE(1U, 100U, 40000U, 1000000U);
    const std::size_t length = GENERATE(1U, 8U, 32767U, 32768U, 32769U, 100000U);
    encrypted_streams connecting(session, true);
    encrypted_streams accepting(session, false);
    for (unsigned round = 0; round < 2; ++round) {
        const bytes plain = random_bytes(length, round);
        const decrypted got =
            decrypt_all(accepting.in, encrypted_text(connecting.out, plain), step);
        CHECK_FALSE(got.broken);
        CHECK(got.plain == plain);
        CHECK_FALSE(accepting.in.has_ready());
        const decrypted back =
            decrypt_all(connecting.in, encrypted_text(accepting.out, plain), step);
        CHECK(back.plain == plain);
    }
}

TEST_CASE("a record is made of several pieces") {
    encrypted_streams both(session, true);
    encrypted_streams other(session, false);
    const bytes head = random_bytes(10, 1);
    const bytes body = random_bytes(20, 2);
    const iovec pieces[] = {piece(head), piece(body)};
    both.out.encrypt(pieces);
    CHECK(both.out.has_record());
    const decrypted got = decrypt_all(other.in, both.out.ready(), 7, 3);
    both.out.sent(both.out.ready().size());
    CHECK(both.out.finish_record() == 30);
    CHECK_FALSE(both.out.has_record());
    CHECK(std::equal(head.begin(), head.end(), got.plain.begin()));
    CHECK(std::equal(body.begin(), body.end(), got.plain.begin() + 10));
}

TEST_CASE("the directions and sessions have different keys") {
    encrypted_streams one(session, true);
    encrypted_streams same_side(session, true);
    CHECK(decrypt_all(same_side.in, encrypted_text(one.out, random_bytes(50, 1)), 1000).broken);
    encrypted_streams again(session, true);
    encrypted_streams elsewhere(key::from_text("the key of another session"), false);
    CHECK(decrypt_all(elsewhere.in, encrypted_text(again.out, random_bytes(50, 1)), 1000).broken);
}

TEST_CASE("the plaintext does not appear in the ciphertext") {
    encrypted_streams one(session, true);
    const bytes plain(300, std::byte{'x'});
    const bytes sent = encrypted_text(one.out, plain);
    const bytes run(4, std::byte{'x'});
    CHECK(std::search(sent.begin(), sent.end(), run.begin(), run.end()) == sent.end());
}

TEST_CASE("a changed bit anywhere breaks the stream, and its record is not delivered") {
    const bytes plain = random_bytes(60, 3);
    encrypted_streams one(session, true);
    const bytes sent = encrypted_text(one.out, plain);
    for (std::size_t bit = 0; bit < 8 * sent.size(); ++bit) {
        bytes changed = sent;
        changed[bit / 8] ^= std::byte{1} << (bit % 8);
        // If the length grew, more bytes must come before the record can be checked.
        const bytes more(encrypted::longest_record, std::byte{0});
        changed.insert(changed.end(), more.begin(), more.end());
        encrypted_streams other(session, false);
        const decrypted got = decrypt_all(other.in, changed, 100000);
        CHECK(got.broken);
        CHECK(got.plain.empty());
    }
}

TEST_CASE("records that are repeated, left out or exchanged break the stream") {
    encrypted_streams one(session, true);
    const bytes first = encrypted_text(one.out, random_bytes(40, 1));  // with the header
    const bytes second = encrypted_text(one.out, random_bytes(40, 2));
    const bytes third = encrypted_text(one.out, random_bytes(40, 3));
    const auto decrypts = [&](std::initializer_list<const bytes*> order) {
        bytes all;
        for (const bytes* each : order)
            all.insert(all.end(), each->begin(), each->end());
        encrypted_streams other(session, false);
        return !decrypt_all(other.in, all, 100000).broken;
    };
    CHECK(decrypts({&first, &second, &third}));
    CHECK_FALSE(decrypts({&first, &second, &second}));
    CHECK_FALSE(decrypts({&first, &third}));
    CHECK_FALSE(decrypts({&first, &third, &second}));
}
