// Tests of the mutual challenge-response.
#include "ucs/security/challenge.hpp"

#include <catch2/catch.hpp>

using namespace ucs::security;

namespace {

const key shared = key::from_text("the key that both sides share");
const bytes context = bytes_of("tcp, from 1, to 2");

// The records that an initiator and a responder send to each other.
struct exchange {
    exchange(const key& of_initiator, const key& of_responder)
        : begins(of_initiator, context), answers(of_responder, context, begins.challenge()) {}

    initiator begins;
    responder answers;
};

}  // namespace

TEST_CASE("two sides that share a key prove it to each other") {
    exchange both(shared, shared);
    const auto proven = both.begins.answer(both.answers.answer());
    REQUIRE(proven);
    CHECK(both.answers.accepts(*proven));
    CHECK(both.begins.session_key() == both.answers.session_key());
}

TEST_CASE("sessions of one key have different keys") {
    exchange one(shared, shared);
    exchange other(shared, shared);
    REQUIRE(one.begins.answer(one.answers.answer()));
    REQUIRE(other.begins.answer(other.answers.answer()));
    CHECK_FALSE(one.begins.session_key() == other.begins.session_key());
}

TEST_CASE("a responder without the key is refused") {
    exchange both(shared, key::from_text("another key than the shared one"));
    CHECK_FALSE(both.begins.answer(both.answers.answer()));
}

TEST_CASE("an initiator without the key is refused") {
    // A second responder that shares the wrong key makes the initiator give its proof.
    const key wrong = key::random();
    initiator begins(wrong, context);
    const responder accomplice(wrong, context, begins.challenge());
    const auto proven = begins.answer(accomplice.answer());
    REQUIRE(proven);
    const responder answers(shared, context, begins.challenge());
    CHECK_FALSE(answers.accepts(*proven));
    CHECK_FALSE(answers.accepts(proof{}));
}

TEST_CASE("a proof for another connection is refused") {
    initiator begins(shared, context);
    const responder elsewhere(shared, bytes_of("tcp, from 1, to 3"), begins.challenge());
    CHECK_FALSE(begins.answer(elsewhere.answer()));
}

TEST_CASE("an initiator's own records, reflected, are refused") {
    // The attacker opens a second connection to the initiator's host, and forwards its replies.
    initiator begins(shared, context);
    const responder mirror(shared, context, begins.challenge());
    const auto answered = mirror.answer();
    const auto proven = begins.answer(answered);
    REQUIRE(proven);
    CHECK_FALSE(mirror.accepts(std::span(answered).subspan<nonce_size>()));

    reply reflected{};
    std::copy(begins.challenge().begin(), begins.challenge().end(), reflected.begin());
    std::copy(proven->begin(), proven->end(), reflected.begin() + nonce_size);
    CHECK_FALSE(begins.answer(reflected));
}

TEST_CASE("recorded records of one exchange are refused in the next") {
    exchange recorded(shared, shared);
    const reply words = recorded.answers.answer();
    const auto proven = recorded.begins.answer(words);
    REQUIRE(proven);

    initiator fresh(shared, context);
    CHECK_FALSE(fresh.answer(words));
    const responder again(shared, context, recorded.begins.challenge());
    CHECK_FALSE(again.accepts(*proven));
}

TEST_CASE("a changed bit anywhere is detected") {
    for (std::size_t bit = 0; bit < 8 * reply_size; ++bit) {
        exchange both(shared, shared);
        reply words = both.answers.answer();
        words[bit / 8] ^= std::byte{1} << (bit % 8);
        CHECK_FALSE(both.begins.answer(words));
    }
    for (std::size_t bit = 0; bit < 8 * nonce_size; ++bit) {
        initiator begins(shared, context);
        nonce changed = begins.challenge();
        changed[bit / 8] ^= std::byte{1} << (bit % 8);
        const responder answers(shared, context, changed);
        CHECK_FALSE(begins.answer(answers.answer()));
    }
    exchange both(shared, shared);
    const auto proven = both.begins.answer(both.answers.answer());
    REQUIRE(proven);
    for (std::size_t bit = 0; bit < 8 * proof_size; ++bit) {
        proof changed = *proven;
        changed[bit / 8] ^= std::byte{1} << (bit % 8);
        CHECK_FALSE(both.answers.accepts(changed));
    }
    CHECK(both.answers.accepts(*proven));
}
