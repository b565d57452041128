#include "ucs/security/challenge.hpp"

#include <algorithm>

#include "ucs/security/sodium.hpp"

namespace ucs::security {

namespace {

key exchange_key_of(const key& shared, bytes context) noexcept {
    return key::derive(shared, "hawser challenge", context);
}

proof prove(const key& exchange_key, std::string_view role, const nonce& of_initiator,
            const nonce& of_responder) noexcept {
    return authenticate(exchange_key, {bytes_of(role), of_initiator, of_responder});
}

key session_of(const key& exchange_key, const nonce& of_initiator,
               const nonce& of_responder) noexcept {
    std::array<std::byte, 2 * nonce_size> both;
    std::copy(of_responder.begin(), of_responder.end(),
              std::copy(of_initiator.begin(), of_initiator.end(), both.begin()));
    return key::derive(exchange_key, "hawser session", both);
}

}  // namespace

nonce fresh_nonce() noexcept {
    start_sodium();
    nonce made;
    randombytes_buf(made.data(), made.size());
    return made;
}

initiator::initiator(const key& shared, bytes context) noexcept
    : exchange_key_(exchange_key_of(shared, context)), own_(fresh_nonce()) {}

std::optional<proof> initiator::answer(std::span<const std::byte, reply_size> received) noexcept {
    std::copy_n(received.begin(), nonce_size, peer_.begin());
    if (!same_tag(received.subspan<nonce_size>(), prove(exchange_key_, "responder", own_, peer_))) {
        return std::nullopt;
    }
    return prove(exchange_key_, "initiator", own_, peer_);
}

key initiator::session_key() const noexcept {
    return session_of(exchange_key_, own_, peer_);
}

responder::responder(const key& shared, bytes context,
                     std::span<const std::byte, nonce_size> received) noexcept
    : exchange_key_(exchange_key_of(shared, context)), own_(fresh_nonce()) {
    std::copy(received.begin(), received.end(), peer_.begin());
}

reply responder::answer() const noexcept {
    reply made;
    const proof own = prove(exchange_key_, "responder", peer_, own_);
    std::copy(own.begin(), own.end(), std::copy(own_.begin(), own_.end(), made.begin()));
    return made;
}

bool responder::accepts(std::span<const std::byte, proof_size> received) const noexcept {
    return same_tag(received, prove(exchange_key_, "initiator", peer_, own_));
}

key responder::session_key() const noexcept {
    return session_of(exchange_key_, peer_, own_);
}

}  // namespace ucs::security
