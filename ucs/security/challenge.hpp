// A mutual keyed challenge: two sides prove to each other that they know the same key, without I/O.
//
//   initiator                          responder
//   {nonce}                     ->
//                               <-     {nonce, proof of the responder}
//   {proof of the initiator}    ->
//
// A proof is a tag over the role of the side that makes it, both nonces, and the context that the
// caller names: the kind of the connection and the identities of both sides. So a proof is of no
// use in the other direction, in another exchange, or for another connection.
#pragma once

#include <optional>

#include "ucs/security/mac.hpp"

namespace ucs::security {

inline constexpr std::size_t nonce_size = 16;
inline constexpr std::size_t proof_size = tag_size;
inline constexpr std::size_t reply_size = nonce_size + proof_size;

using nonce = std::array<std::byte, nonce_size>;
using proof = tag;
using reply = std::array<std::byte, reply_size>;

// Random bytes that no other exchange has.
[[nodiscard]] nonce fresh_nonce() noexcept;

// The side that begins. Value type, used by one thread; all calls compute only.
class initiator {
public:
    // `context` is not kept.
    initiator(const key& shared, bytes context) noexcept;

    // The first record; it goes to the responder.
    [[nodiscard]] const nonce& challenge() const noexcept { return own_; }

    // Checks the responder's record. Returns the proof that goes back, or nothing: the other side
    // does not know the key, or the record belongs to another exchange.
    [[nodiscard]] std::optional<proof> answer(
        std::span<const std::byte, reply_size> received) noexcept;

    // A key of this exchange alone, the same on both sides. Caller must have got a proof.
    [[nodiscard]] key session_key() const noexcept;

private:
    key exchange_key_;
    nonce own_;
    nonce peer_{};
};

// The side that answers. Value type, used by one thread; all calls compute only.
class responder {
public:
    // `context` is not kept.
    responder(const key& shared, bytes context,
              std::span<const std::byte, nonce_size> received) noexcept;

    // The second record; it goes to the initiator.
    [[nodiscard]] reply answer() const noexcept;

    // Checks the third record. False: the initiator does not know the key.
    [[nodiscard]] bool accepts(std::span<const std::byte, proof_size> received) const noexcept;

    // A key of this exchange alone, the same on both sides. Caller must have accepted a proof.
    [[nodiscard]] key session_key() const noexcept;

private:
    key exchange_key_;
    nonce own_;
    nonce peer_;
};

}  // namespace ucs::security
