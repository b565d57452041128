// Mutual challenge-response: two sides prove to each other that they know the same key. No I/O.
//
//   initiator                          responder
//   {nonce}                     ->
//                               <-     {nonce, proof of the responder}
//   {proof of the initiator}    ->
//
// A proof is a tag over the role of its sender, both nonces, and the context from the caller: the
// kind of the connection and the identities of both sides. So a proof is invalid in the other
// direction, in another exchange, and for another connection.
#pragma once

#include <optional>

#include "ucs/security/key.hpp"

namespace ucs::security {

inline constexpr std::size_t nonce_size = 16;
inline constexpr std::size_t proof_size = tag_size;
inline constexpr std::size_t reply_size = nonce_size + proof_size;

using nonce = std::array<std::byte, nonce_size>;
using proof = tag;
using reply = std::array<std::byte, reply_size>;

// Returns random bytes that are unique to one exchange.
[[nodiscard]] nonce fresh_nonce() noexcept;

// The side that begins. Value type, used by one thread. No call does I/O.
class initiator {
public:
    // `context` is not kept.
    initiator(const key& shared, bytes context) noexcept;

    // The first record, for the responder.
    [[nodiscard]] const nonce& challenge() const noexcept { return own_; }

    // Checks the responder's record. Returns the proof to send back; nullopt if the other side does
    // not know the key, or the record belongs to another exchange.
    [[nodiscard]] std::optional<proof> answer(
        std::span<const std::byte, reply_size> received) noexcept;

    // A key for this exchange only, the same on both sides. answer() must have returned a proof.
    [[nodiscard]] key session_key() const noexcept;

private:
    key exchange_key_;
    nonce own_;
    nonce peer_{};
};

// The side that answers. Value type, used by one thread. No call does I/O.
class responder {
public:
    // `context` is not kept.
    responder(const key& shared, bytes context,
              std::span<const std::byte, nonce_size> received) noexcept;

    // The second record, for the initiator.
    [[nodiscard]] reply answer() const noexcept;

    // Checks the third record. Returns false if the initiator does not know the key.
    [[nodiscard]] bool accepts(std::span<const std::byte, proof_size> received) const noexcept;

    // A key for this exchange only, the same on both sides. accepts() must have returned true.
    [[nodiscard]] key session_key() const noexcept;

private:
    key exchange_key_;
    nonce own_;
    nonce peer_;
};

}  // namespace ucs::security
