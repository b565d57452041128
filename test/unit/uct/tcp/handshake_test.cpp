// Unit tests: greetings without a socket, between peers and with strangers in place of either side.
#include "uct/tcp/setup/handshake.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace uct::tcp;
using ucs::security::key;
using connecting = connecting_handshake::step;
using accepting = accepting_handshake::step;

namespace {

constexpr std::uint32_t attempt = 7;

// Passes bytes to one side as from a socket, `piece` bytes at a time.
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
          connects(first, second.id(), second.address_key(), attempt),
          accepts(second) {}

    // A welcome without any proof.
    packed_greeting bare_welcome() const {
        const std::array<std::byte, ucs::security::tag_size> tail{};
        return {{.kind = wire::greeting_kind::welcome, .from = second.id(), .to = first.id()},
                tail};
    }
    packed_greeting refusal(wire::refusal_reason reason) const {
        return {{.kind = wire::greeting_kind::refusal,
                 .from = second.id(),
                 .to = first.id(),
                 .reason = reason},
                {}};
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
    CHECK(both.accepts.hello().from == both.first.id());
    CHECK(both.accepts.hello().attempt == attempt);
    CHECK(give(both.connects, both.accepts.welcome(9).bytes(), piece) == connecting::welcomed);
    CHECK(both.connects.attempt() == 9);
    CHECK(both.connects.session_key() == both.accepts.session_key());
}

// Returns a greeting with a tail that the sender computes itself.
std::vector<std::byte> with_tail(const wire::greeting& value, ucs::security::bytes first,
                                 ucs::security::bytes second, ucs::security::bytes third = {}) {
    std::vector<std::byte> made(wire::greeting_size);
    value.pack(std::span(made).first<wire::greeting_size>());
    for (const auto part : {first, second, third})
        made.insert(made.end(), part.begin(), part.end());
    return made;
}

// Returns the end of a proof: an address tag, and the tag over it.
std::vector<std::byte> with_address(const ucs::security::tag& identity) {
    std::vector<std::byte> both(sizeof(address_tag) + identity.size());
    std::ranges::copy(identity, both.begin() + sizeof(address_tag));
    return both;
}

address address_with_port(const credentials& own, std::uint16_t port) {
    address made;
    made.iface_id = own.id();
    std::ranges::copy(own.secret().data(), made.secret.begin());
    made.v4 = {ip_address::v4(std::array{std::byte{127}, std::byte{0}, std::byte{0}, std::byte{1}}),
               port, 8};
    return made;
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

TEST_CASE("the connecting side notices different job keys and reports them") {
    const key other = key::from_text("the key of another job");
    pair both(&job, &other);
    CHECK(give(both.accepts, both.connects.hello().bytes()) == accepting::send_challenge);
    CHECK(give(both.connects, both.accepts.challenge().bytes()) == connecting::unproven);
    CHECK(give(both.accepts, both.connects.refusal().bytes()) == accepting::unproven);
}

TEST_CASE("a stranger that knows the port and the id, and not the secret, is refused") {
    pair both;
    const credentials stranger(nullptr, false);
    connecting_handshake guess(stranger, both.second.id(), stranger.address_key(), attempt);
    CHECK(give(both.accepts, guess.hello().bytes()) == accepting::send_challenge);
    CHECK(give(guess, both.accepts.challenge().bytes()) == connecting::unproven);
    // It still sends a proof, and everything else that it can compute.
    wire::greeting last = both.accepts.hello();
    last.kind = wire::greeting_kind::proof;
    const auto tag = identity::agree(stranger.pair(), both.second.pair().public_half(),
                                     both.second.id(), guess.session_key())
                         ->of_connecting({});
    CHECK(give(both.accepts, with_tail(last, ucs::security::fresh_nonce(),
                                       stranger.pair().public_half(), with_address(tag))) ==
          accepting::refuse);
    CHECK(both.accepts.reason() == wire::refusal_reason::keys_differ);
}

TEST_CASE("a handshake is bound to the whole address, even if id and secret match") {
    pair both;
    both.second.set_address(address_with_port(both.second, 5000));
    const auto port = GENERATE(std::uint16_t{5000}, std::uint16_t{5001});
    connecting_handshake connects(both.first, both.second.id(),
                                  key_of_address(address_with_port(both.second, port)), attempt);
    CHECK(give(both.accepts, connects.hello().bytes()) == accepting::send_challenge);
    CHECK(give(connects, both.accepts.challenge().bytes()) ==
          (port == 5000 ? connecting::send_proof : connecting::unproven));
}

TEST_CASE("the accepting side learns the address of the connecting side") {
    pair both;
    both.first.set_address(address_with_port(both.first, 4000));
    check_agree(both);
    CHECK(both.accepts.peer_address() ==
          tag_of_address(key_of_address(address_with_port(both.first, 4000))));
    CHECK(both.accepts.peer_address() !=
          tag_of_address(key_of_address(address_with_port(both.first, 4001))));
}

TEST_CASE("a refusal that leads to a retry counts only from a proven peer") {
    const auto reason = GENERATE(wire::refusal_reason::lost_race, wire::refusal_reason::stale);
    pair both;
    CHECK(give(both.connects, both.refusal(reason).bytes()) == connecting::unproven);
    pair proven;
    CHECK(give(proven.accepts, proven.connects.hello().bytes()) == accepting::send_challenge);
    CHECK(give(proven.connects, proven.accepts.challenge().bytes()) == connecting::send_proof);
    CHECK(give(proven.connects, proven.refusal(reason).bytes()) == connecting::refused);
}

TEST_CASE("knowing an address does not suffice to connect in its name") {
    pair both;
    const credentials third(nullptr, false);
    const wire::greeting hello{
        .attempt = 0x7fff0000, .from = both.first.id(), .to = both.second.id()};
    std::array<std::byte, wire::greeting_size> head;
    hello.pack(head);
    ucs::security::initiator exchange(both.second.address_key(), head);
    CHECK(give(both.accepts, with_tail(hello, exchange.challenge(), {})) ==
          accepting::send_challenge);
    const packed_greeting challenge = both.accepts.challenge();
    const auto proof =
        exchange.answer(std::span<const std::byte>(challenge.bytes())
                            .subspan<wire::greeting_size, ucs::security::reply_size>());
    REQUIRE(proof);
    // It can show the public key of the other, and make the tag of its own pair only.
    const bool shows_own = GENERATE(true, false);
    const auto& shown = shows_own ? third.pair().public_half() : both.first.pair().public_half();
    const auto tag = identity::agree(third.pair(), both.second.pair().public_half(),
                                     both.second.id(), exchange.session_key())
                         ->of_connecting({});
    wire::greeting last = hello;
    last.kind = wire::greeting_kind::proof;
    std::vector<std::byte> record = with_tail(last, *proof, shown, with_address(tag));
    CHECK(give(both.accepts, record) == accepting::impostor);
}

TEST_CASE("knowing an address does not suffice to accept in its name") {
    pair both;
    const credentials third(nullptr, false);
    const packed_greeting hello = both.connects.hello();
    ucs::security::responder exchange(
        both.second.address_key(), hello.bytes().first<wire::greeting_size>(),
        hello.bytes().subspan<wire::greeting_size, ucs::security::nonce_size>());
    const wire::greeting answer{
        .kind = wire::greeting_kind::challenge, .from = both.second.id(), .to = both.first.id()};
    SECTION("with its own public key") {
        CHECK(give(both.connects, with_tail(answer, exchange.answer(),
                                            third.pair().public_half())) == connecting::unproven);
    }
    SECTION("with that of the other") {
        CHECK(give(both.connects,
                   with_tail(answer, exchange.answer(), both.second.pair().public_half())) ==
              connecting::send_proof);
        wire::greeting welcome = answer;
        welcome.kind = wire::greeting_kind::welcome;
        const auto tag = identity::agree(third.pair(), both.first.pair().public_half(),
                                         both.first.id(), exchange.session_key())
                             ->of_accepting();
        CHECK(give(both.connects, with_tail(welcome, tag, {})) == connecting::unproven);
        CHECK_FALSE(both.connects.session_key() == exchange.session_key());
    }
    SECTION("with the tag that it got") {
        CHECK(give(both.connects,
                   with_tail(answer, exchange.answer(), both.second.pair().public_half())) ==
              connecting::send_proof);
        const packed_greeting proof = both.connects.proof();
        wire::greeting welcome = answer;
        welcome.kind = wire::greeting_kind::welcome;
        CHECK(give(both.connects, with_tail(welcome, proof.bytes().last<ucs::security::tag_size>(),
                                            {})) == connecting::unproven);
    }
}

TEST_CASE("a process that takes over the port without the secret proves nothing") {
    pair both;
    const credentials stranger(nullptr, false);
    const packed_greeting hello = both.connects.hello();
    const ucs::security::responder successor(
        stranger.address_key(), hello.bytes().first<wire::greeting_size>(),
        hello.bytes().subspan<wire::greeting_size, ucs::security::nonce_size>());
    const wire::greeting answer{
        .kind = wire::greeting_kind::challenge, .from = both.second.id(), .to = both.first.id()};
    CHECK(give(both.connects, with_tail(answer, successor.answer(),
                                        both.second.pair().public_half())) == connecting::unproven);
}

TEST_CASE("a peer that welcomes without a challenge proves nothing") {
    pair both(&job, &job);
    CHECK(give(both.connects, both.bare_welcome().bytes()) == connecting::unproven);
}

TEST_CASE("a changed bit of any greeting keeps the connection from being made") {
    constexpr std::size_t head = wire::greeting_size;
    const auto completes = [&](pair& both, unsigned changed, std::size_t bit) {
        const auto sent = [&](unsigned number, const packed_greeting& greeting) {
            std::vector<std::byte> bytes(greeting.bytes().begin(), greeting.bytes().end());
            if (number == changed) bytes[bit / 8] ^= std::byte{1} << (bit % 8);
            return bytes;
        };
        return give(both.accepts, sent(0, both.connects.hello())) == accepting::send_challenge &&
               give(both.connects, sent(1, both.accepts.challenge())) == connecting::send_proof &&
               give(both.accepts, sent(2, both.connects.proof())) == accepting::agreed &&
               give(both.connects, sent(3, both.accepts.welcome(1))) == connecting::welcomed;
    };
    pair untouched(&job, &job);
    REQUIRE(completes(untouched, 4, 0));
    for (std::size_t bit = 0; bit < 8 * (head + ucs::security::nonce_size); ++bit) {
        pair both(&job, &job);
        CHECK_FALSE(completes(both, 0, bit));
    }
    constexpr std::size_t open = sizeof(ucs::security::public_key);
    constexpr std::size_t tails[]{0, ucs::security::reply_size + open,
                                  2 * ucs::security::tag_size + open, ucs::security::tag_size};
    for (const unsigned changed : {1U, 2U, 3U}) {
        for (std::size_t bit = 8 * head; bit < 8 * (head + tails[changed]); ++bit) {
            pair both(&job, &job);
            CAPTURE(changed, bit);
            CHECK_FALSE(completes(both, changed, bit));
        }
    }
}

TEST_CASE("greetings out of order are foreign") {
    pair both;
    CHECK(give(both.accepts, both.bare_welcome().bytes()) == accepting::foreign);
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
