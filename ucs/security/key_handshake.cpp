#include "ucs/security/key_handshake.hpp"

#include <algorithm>

namespace ucs::security {

namespace {

constexpr std::array magic{std::byte{'H'}, std::byte{'W'}, std::byte{'S'}, std::byte{'O'}};
constexpr std::byte version{2};
constexpr std::byte keyed_bit{1};

}  // namespace

const char* explain(handshake_failure failure) noexcept {
    switch (failure) {
        case handshake_failure::own_key_missing:
            return "it has a job key and this process has none; set the same UCX_JOB_KEY or "
                   "UCX_JOB_KEY_FILE in all processes of the job";
        case handshake_failure::peer_key_missing:
            return "it has no job key and this process has one; set the same UCX_JOB_KEY or "
                   "UCX_JOB_KEY_FILE in all processes of the job";
        case handshake_failure::keys_differ:
            return "its job key is another one; set the same UCX_JOB_KEY or UCX_JOB_KEY_FILE in "
                   "all processes of the job";
        case handshake_failure::other_version:
            return "it runs another version";
        case handshake_failure::foreign:
            return "it speaks another protocol";
        case handshake_failure::interrupted:
            return "it closed the connection";
        case handshake_failure::none:
            break;
    }
    return "it gave no reason";
}

bool key_handshake::begins_with(bytes received) noexcept {
    return std::equal(magic.begin(), magic.end(), received.begin());
}

key_handshake::key_handshake(role side, const key* shared, std::string_view purpose) noexcept
    : side_(side),
      keyed_(shared != nullptr),
      expected_(side == role::client ? server_record : client_record) {
    if (keyed_) purpose_key_ = key::derive(*shared, "hawser opening", bytes_of(purpose));
    if (side_ == role::server) return;
    put(kind::hello, {});
    if (!keyed_) return;
    initiator_.emplace(*purpose_key_, bytes(out_).first(header_size));
    put(kind::hello, initiator_->challenge());
}

void key_handshake::put(kind record_kind, bytes content, handshake_failure reason) noexcept {
    std::copy(magic.begin(), magic.end(), out_.begin());
    out_[4] = version;
    out_[5] = static_cast<std::byte>(record_kind);
    out_[6] = keyed_ ? keyed_bit : std::byte{0};
    out_[7] = static_cast<std::byte>(reason);
    const std::size_t size = side_ == role::client ? client_record : server_record;
    const auto end = std::copy(content.begin(), content.end(), out_.begin() + header_size);
    std::fill(end, out_.end(), std::byte{0});
    out_size_ = size;
}

void key_handshake::fail(handshake_failure reason) noexcept {
    step_ = step::failed;
    failure_ = reason;
}

// Sends the reason from the point of view of the peer.
void key_handshake::refuse(handshake_failure reason) noexcept {
    const handshake_failure peer_view =
        reason == handshake_failure::own_key_missing    ? handshake_failure::peer_key_missing
        : reason == handshake_failure::peer_key_missing ? handshake_failure::own_key_missing
                                                        : reason;
    put(kind::refusal, {}, peer_view);
    fail(reason);
}

key_handshake::step key_handshake::take(std::size_t count) noexcept {
    have_ += count;
    if (have_ < expected_) {
        // Recognise other protocols before a full record has arrived.
        const std::size_t known = std::min(have_, magic.size());
        if (!std::equal(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(known),
                        magic.begin())) {
            fail(handshake_failure::foreign);
        }
        return step_;
    }
    have_ = 0;
    const bool is_plain = (in_[6] & ~keyed_bit) == std::byte{0} && in_[7] == std::byte{0};
    if (!std::equal(magic.begin(), magic.end(), in_.begin())) {
        fail(handshake_failure::foreign);
    } else if (in_[4] != version) {
        refuse(handshake_failure::other_version);
    } else if (received_kind() == kind::refusal) {
        on_refusal();
    } else if (!is_plain) {
        fail(handshake_failure::foreign);
    } else if (side_ == role::client) {
        on_server_record();
    } else if (responder_) {
        on_proof();
    } else {
        on_hello();
    }
    return step_;
}

void key_handshake::on_refusal() noexcept {
    const auto reason = static_cast<handshake_failure>(in_[7]);
    const bool is_known = reason > handshake_failure::none && reason < handshake_failure::foreign;
    fail(is_known ? reason : handshake_failure::foreign);
}

void key_handshake::on_hello() noexcept {
    if (received_kind() != kind::hello) return fail(handshake_failure::foreign);
    has_record_ = true;
    if (keyed_ && !peer_is_keyed()) return refuse(handshake_failure::peer_key_missing);
    if (!keyed_ && peer_is_keyed()) return refuse(handshake_failure::own_key_missing);
    if (!keyed_) {
        put(kind::accept, {});
        step_ = step::agreed;
        return;
    }
    responder_.emplace(*purpose_key_, bytes(in_).first(header_size),
                       std::span(in_).subspan<header_size, nonce_size>());
    put(kind::challenge, responder_->answer());
}

void key_handshake::on_server_record() noexcept {
    has_record_ = true;
    // A server that accepts without a proof has no key.
    if (keyed_ && received_kind() == kind::accept)
        return refuse(handshake_failure::peer_key_missing);
    const kind expected = keyed_ ? kind::challenge : kind::accept;
    if (received_kind() != expected || peer_is_keyed() != keyed_) {
        return fail(handshake_failure::foreign);
    }
    step_ = step::agreed;
    if (!keyed_) return;
    const auto proven = initiator_->answer(std::span(in_).subspan<header_size, reply_size>());
    if (!proven) return refuse(handshake_failure::keys_differ);
    put(kind::client_proof, *proven);
}

void key_handshake::on_proof() noexcept {
    if (received_kind() != kind::client_proof || !peer_is_keyed()) {
        return fail(handshake_failure::foreign);
    }
    if (!responder_->accepts(std::span(in_).subspan<header_size, proof_size>())) {
        return refuse(handshake_failure::keys_differ);
    }
    step_ = step::agreed;
}

}  // namespace ucs::security
