// The greetings with which a connection begins, as two state classes without a socket: one for the
// side that connects, one for the side that accepts. wire.hpp has the records.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "ucs/security/challenge.hpp"
#include "uct/tcp/setup/credentials.hpp"

namespace uct::tcp {

// Collects greetings from a byte stream, one after the other.
class greeting_reader {
public:
    // Where to receive the next bytes. Not empty before a greeting is complete.
    [[nodiscard]] std::span<std::byte> space() noexcept {
        return std::span(bytes_).subspan(have_, wanted_ - have_);
    }
    enum class progress { incomplete, complete, other_version, malformed };
    // Adds the first `count` received bytes of space().
    [[nodiscard]] progress take(std::size_t count) noexcept;
    // Begins with the next greeting.
    void next() noexcept;

    // The value of a complete greeting, or of a greeting of another version.
    [[nodiscard]] const wire::greeting& value() const noexcept { return value_; }
    [[nodiscard]] std::span<const std::byte, wire::greeting_size> head() const noexcept {
        return std::span(bytes_).first<wire::greeting_size>();
    }
    // Bytes after the fixed part of the greeting.
    template<std::size_t Offset, std::size_t Size>
    [[nodiscard]] std::span<const std::byte, Size> tail() const noexcept {
        return std::span<const std::byte, Size>(bytes_.data() + wire::greeting_size + Offset, Size);
    }

    template<std::size_t Offset>
    [[nodiscard]] ucs::security::public_key public_key_at() const noexcept {
        ucs::security::public_key copy;
        const auto from = tail<Offset, sizeof copy>();
        std::copy(from.begin(), from.end(), copy.begin());
        return copy;
    }

private:
    std::array<std::byte, wire::greeting_size + wire::longest_tail> bytes_{};
    std::size_t have_ = 0;
    std::size_t wanted_ = wire::greeting_size;
    wire::greeting value_;
};

// One greeting with its tail, ready to be sent.
class packed_greeting {
public:
    packed_greeting(const wire::greeting& value, std::span<const std::byte> tail) noexcept;
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return std::span(bytes_).first(size_);
    }

private:
    std::array<std::byte, wire::greeting_size + wire::longest_tail> bytes_;
    std::size_t size_;
};

// The connecting side. Part of a connection until it is established; owner context.
class connecting_handshake {
public:
    // `to` is the id of the peer's interface, and `peer_address` the key of its address.
    connecting_handshake(const credentials& own, std::uint64_t to,
                         const ucs::security::key& peer_address, std::uint32_t attempt) noexcept;

    // The first greeting.
    [[nodiscard]] packed_greeting hello() const noexcept;

    [[nodiscard]] std::span<std::byte> space() noexcept { return reader_.space(); }

    enum class step {
        incomplete,  // receive more
        send_proof,  // send proof(), then receive more
        welcomed,    // the connection is established; attempt() and session_key() are valid
        refused,     // the peer refused; reason() says why
        unproven,    // the peer has proven nothing: send refusal() and close
        foreign,     // no reply of this protocol
    };
    // Takes the first `count` bytes of space().
    [[nodiscard]] step take(std::size_t count) noexcept;

    [[nodiscard]] packed_greeting proof() const noexcept;
    [[nodiscard]] packed_greeting refusal() const noexcept;
    [[nodiscard]] wire::refusal_reason reason() const noexcept { return reader_.value().reason; }
    // Number of the peer's last attempt.
    [[nodiscard]] std::uint32_t attempt() const noexcept { return reader_.value().attempt; }
    // The key of this connection. Requires that `take` has returned send_proof.
    [[nodiscard]] ucs::security::key session_key() const noexcept {
        return identity_->session_key();
    }

private:
    step on_challenge() noexcept;
    [[nodiscard]] bool is_welcome() const noexcept;
    [[nodiscard]] bool is_for_us() const noexcept;

    const wire::greeting hello_;
    const credentials& own_;
    ucs::security::initiator initiator_;
    std::optional<ucs::security::proof> proof_;  // once the peer has proven its secret
    std::optional<identity> identity_;           // from then on
    greeting_reader reader_;
};

// The accepting side. Part of a pending connection; owner context.
class accepting_handshake {
public:
    explicit accepting_handshake(const credentials& own) noexcept : own_(own) {}

    [[nodiscard]] std::span<std::byte> space() noexcept { return reader_.space(); }

    enum class step {
        incomplete,      // receive more
        send_challenge,  // send challenge(), then receive more
        agreed,          // hello() is valid and proven; welcome or refuse it
        refuse,          // send a refusal with reason() and close
        unproven,        // the peer reports that this side's proof is wrong: close
        impostor,        // the peer is not the interface that hello() names: close
        foreign,         // no greeting of this protocol: close
    };
    // Takes the first `count` bytes of space().
    [[nodiscard]] step take(std::size_t count) noexcept;

    [[nodiscard]] const wire::greeting& hello() const noexcept { return hello_; }
    // The tag of the peer's address. Requires that `take` has returned agreed.
    [[nodiscard]] const address_tag& peer_address() const noexcept { return peer_address_; }
    [[nodiscard]] packed_greeting challenge() const noexcept;
    [[nodiscard]] wire::refusal_reason reason() const noexcept { return reason_; }
    // Accepts the peer. Requires that `take` has returned agreed. `attempt` is the number of this
    // interface's last attempt.
    [[nodiscard]] packed_greeting welcome(std::uint32_t attempt) const noexcept;
    // The key of this connection; caller must have agreed.
    [[nodiscard]] ucs::security::key session_key() const noexcept {
        return identity_->session_key();
    }

private:
    step on_hello() noexcept;
    step on_proof() noexcept;
    step refuse(wire::refusal_reason reason) noexcept;

    const credentials& own_;
    wire::greeting hello_;
    std::optional<ucs::security::responder> responder_;  // once the hello has come
    std::optional<identity> identity_;                   // once the proof has come
    address_tag peer_address_{};                         // from then on
    wire::refusal_reason reason_ = wire::refusal_reason::none;
    greeting_reader reader_;
};

// Returns the text for a received refusal: the reason, and what to do about it.
[[nodiscard]] const char* explain_refusal(wire::refusal_reason reason) noexcept;

// Returns the text for a refusal that this side sends, as the end of a sentence about the peer.
// Returns nullptr if the reason is ordinary and needs no log line.
[[nodiscard]] const char* explain_own_refusal(wire::refusal_reason reason) noexcept;

}  // namespace uct::tcp
