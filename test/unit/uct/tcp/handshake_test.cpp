// Greetings without a socket: both sides, and strangers in place of either.
#include "uct/tcp/handshake.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

using namespace uct::tcp;
using ucs::security::key;
using connecting = connecting_handshake::step;
using accepting = accepting_handshake::step;

namespace {

constexpr std::uint64_t first_id = 11;
constexpr std::uint64_t second_id = 22;
constexpr std::uint32_t attempt = 7;

// Hands bytes to one side as they would come from a socket, `piece` at a time.
template<class Handshake>
typename Handshake::step give(Handshake& side, std::span<const std::byte> bytes,
                              std::size_t piece = 64) {
    auto done = Handshake::step::incomplete;
    while (!bytes.empty() && done == Handshake::step::incomplete) {
        const std::span<std::byte> space = side.space();
        const std::size_t count = std::min({piece, bytes.size(), space.size()});
        std::copy_n(bytes.begin(), count, space.begin());
        bytes = bytes.subspan(count);
        done = side.take(count);
    }
    return done;
}

// Two interfaces and the handshake of a connection from the first to the second.
struct pair {
    explicit pair(const key* first_key = nullptr, const key* second_key = nullptr,
                  bool first_encrypts = false, bool second_encrypts = false)
        : first(first_key, first_encrypts),
          second(second_key, second_encrypts),
          connects(first, first_id, second_id, key_of_secret(second.secret().data()), attempt),
          accepts(second, second_id) {}

    packed_greeting welcome() const {
        return {{.kind = wire::greeting_kind::welcome, .from = second_id, .to = first_id}, {}};
    }

    credentials first;
    credentials second;
    connecting_handshake connects;
    accepting_handshake accepts;
};

const key job = key::from_text("the key of the job");

void check_agree(pair& both, std::size_t piece = 64) {
    CHECK(give(both.accepts, both.connects.hello().bytes(), piece) == accepting::send_challenge);
    CHECK(give(both.connects, both.accepts.challenge().bytes(), piece) == connecting::send_proof);
    CHECK(give(both.accepts, both.connects.proof().bytes(), piece) == accepting::agreed);
    CHECK(both.accepts.hello().from == first_id);
    CHECK(both.accepts.hello().attempt == attempt);
    CHECK(both.accepts.claim().holds_for(key_of_secret(both.first.secret().data())));
    CHECK_FALSE(both.accepts.claim().holds_for(key_of_secret(both.second.secret().data())));
    CHECK(give(both.connects, both.welcome().bytes(), piece) == connecting::welcomed);
    CHECK(both.connects.session_key() == both.accepts.session_key());
}

}  // namespace

TEST_CASE("two interfaces agree, with and without a job key, in pieces of any size") {
    const std::size_t piece = GENERATE(1U, 7U, 40U, 64U);
    pair without;
    check_agree(without, piece);
    pair with(&job, &job);
    check_agree(with, piece);
    pair encrypted(&job, &job, true, true);
    check_agree(encrypted, piece);
}

TEST_CASE("sides with different terms refuse each other with the reason") {
    const auto reason_of = [](pair&& both) {
        CHECK(give(both.accepts, both.connects.hello().bytes()) == accepting::refuse);
        return both.accepts.reason();
    };
    CHECK(reason_of(pair(nullptr, &job)) == wire::refusal_reason::key_missing);
    CHECK(reason_of(pair(&job, nullptr)) == wire::refusal_reason::key_unexpected);
    CHECK(reason_of(pair(&job, &job, true, false)) == wire::refusal_reason::encryption_differs);
    CHECK(reason_of(pair(&job, &job, false, true)) == wire::refusal_reason::encryption_differs);
}

TEST_CASE("different job keys are noticed by the side that connects, which says so") {
    const key other = key::from_text("the key of another job");
    pair both(&job, &other);
    CHECK(give(both.accepts, both.connects.hello().bytes()) == accepting::send_challenge);
    CHECK(give(both.connects, both.accepts.challenge().bytes()) == connecting::unproven);
    CHECK(give(both.accepts, both.connects.refusal().bytes()) == accepting::unproven);
}

TEST_CASE("a stranger that knows the port and the id, and not the secret, is refused") {
    pair both;
    const credentials stranger(nullptr, false);
    connecting_handshake guess(stranger, first_id, second_id,
                               key_of_secret(stranger.secret().data()), attempt);
    CHECK(give(both.accepts, guess.hello().bytes()) == accepting::send_challenge);
    CHECK(give(guess, both.accepts.challenge().bytes()) == connecting::unproven);
    // It sends a proof of an exchange with itself all the same.
    accepting_handshake accomplice(stranger, second_id);
    connecting_handshake again(stranger, first_id, second_id,
                               key_of_secret(stranger.secret().data()), attempt);
    CHECK(give(accomplice, again.hello().bytes()) == accepting::send_challenge);
    CHECK(give(again, accomplice.challenge().bytes()) == connecting::send_proof);
    CHECK(give(both.accepts, again.proof().bytes()) == accepting::refuse);
    CHECK(both.accepts.reason() == wire::refusal_reason::keys_differ);
}

TEST_CASE("a refusal that has the other side try again counts only from a proven peer") {
    const auto reason = GENERATE(wire::refusal_reason::lost_race, wire::refusal_reason::stale);
    pair both;
    const packed_greeting refusal(
        {.kind = wire::greeting_kind::refusal, .from = second_id, .to = first_id, .reason = reason},
        {});
    CHECK(give(both.connects, refusal.bytes()) == connecting::unproven);
    pair proven;
    CHECK(give(proven.accepts, proven.connects.hello().bytes()) == accepting::send_challenge);
    CHECK(give(proven.connects, proven.accepts.challenge().bytes()) == connecting::send_proof);
    CHECK(give(proven.connects, refusal.bytes()) == connecting::refused);
}

TEST_CASE("a successor of the port that knows the id, and not the secret, proves nothing") {
    pair both;
    const credentials stranger(nullptr, false);
    accepting_handshake successor(stranger, second_id);
    CHECK(give(successor, both.connects.hello().bytes()) == accepting::send_challenge);
    CHECK(give(both.connects, successor.challenge().bytes()) == connecting::unproven);
}

TEST_CASE("a peer that welcomes without a challenge proves nothing") {
    pair both(&job, &job);
    CHECK(give(both.connects, both.welcome().bytes()) == connecting::unproven);
}

TEST_CASE("a changed bit of any greeting keeps the connection from being made") {
    constexpr std::size_t head = wire::greeting_size;
    const auto flip = [](const packed_greeting& from, std::size_t bit) {
        std::vector<std::byte> bytes(from.bytes().begin(), from.bytes().end());
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
        return bytes;
    };
    const auto completes = [&](pair& both, unsigned changed, std::size_t bit) {
        const auto hello = both.connects.hello();
        if (give(both.accepts, changed == 0 ? flip(hello, bit)
                                            : std::vector<std::byte>(hello.bytes().begin(),
                                                                     hello.bytes().end())) !=
            accepting::send_challenge) {
            return false;
        }
        const auto challenge = both.accepts.challenge();
        if (give(both.connects, changed == 1 ? flip(challenge, bit)
                                             : std::vector<std::byte>(challenge.bytes().begin(),
                                                                      challenge.bytes().end())) !=
            connecting::send_proof) {
            return false;
        }
        const auto proof = both.connects.proof();
        return give(both.accepts, changed == 2 ? flip(proof, bit)
                                               : std::vector<std::byte>(proof.bytes().begin(),
                                                                        proof.bytes().end())) ==
                   accepting::agreed &&
               both.accepts.claim().holds_for(key_of_secret(both.first.secret().data()));
    };
    pair untouched(&job, &job);
    REQUIRE(completes(untouched, 3, 0));
    for (std::size_t bit = 0; bit < 8 * (head + ucs::security::nonce_size); ++bit) {
        pair both(&job, &job);
        CHECK_FALSE(completes(both, 0, bit));
    }
    for (std::size_t bit = 8 * head; bit < 8 * (head + ucs::security::reply_size); ++bit) {
        pair both(&job, &job);
        CHECK_FALSE(completes(both, 1, bit));
    }
    for (std::size_t bit = 8 * head; bit < 8 * (head + 2 * ucs::security::tag_size); ++bit) {
        pair both(&job, &job);
        CHECK_FALSE(completes(both, 2, bit));
    }
}

TEST_CASE("greetings that are not due are foreign") {
    pair both;
    CHECK(give(both.accepts, both.welcome().bytes()) == accepting::foreign);
    pair twice;
    CHECK(give(twice.accepts, twice.connects.hello().bytes()) == accepting::send_challenge);
    CHECK(give(twice.accepts, twice.connects.hello().bytes()) == accepting::foreign);
    CHECK(give(twice.connects, twice.accepts.challenge().bytes()) == connecting::send_proof);
    CHECK(give(twice.connects, twice.accepts.challenge().bytes()) == connecting::foreign);
    pair mirrored;
    CHECK(give(mirrored.connects, mirrored.connects.hello().bytes()) == connecting::foreign);
}

TEST_CASE("every refusal that needs an explanation has one on both sides") {
    for (const auto reason :
         {wire::refusal_reason::key_missing, wire::refusal_reason::key_unexpected,
          wire::refusal_reason::keys_differ, wire::refusal_reason::encryption_differs}) {
        CHECK(std::string_view(explain_refusal(reason)).find("UCX_") != std::string_view::npos);
        CHECK(explain_own_refusal(reason) != nullptr);
    }
    CHECK(explain_own_refusal(wire::refusal_reason::lost_race) == nullptr);
}
