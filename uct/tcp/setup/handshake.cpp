#include "uct/tcp/setup/handshake.hpp"

namespace uct::tcp {

greeting_reader::progress greeting_reader::take(std::size_t count) noexcept {
    have_ += count;
    if (have_ < wanted_) return progress::incomplete;
    if (wanted_ > wire::greeting_size) return progress::complete;
    const wire::parsed_greeting parsed = wire::parse_greeting(head());
    value_ = parsed.value;
    if (parsed.error == wire::greeting_error::other_version) return progress::other_version;
    if (parsed.error != wire::greeting_error::none) return progress::malformed;
    wanted_ += value_.tail_size();
    return have_ < wanted_ ? progress::incomplete : progress::complete;
}

void greeting_reader::next() noexcept {
    have_ = 0;
    wanted_ = wire::greeting_size;
}

packed_greeting::packed_greeting(const wire::greeting& value,
                                 std::span<const std::byte> tail) noexcept
    : size_(wire::greeting_size + tail.size()) {
    value.pack(std::span(bytes_).first<wire::greeting_size>());
    std::copy(tail.begin(), tail.end(), bytes_.begin() + wire::greeting_size);
}

namespace {

std::array<std::byte, wire::greeting_size> packed(const wire::greeting& value) noexcept {
    std::array<std::byte, wire::greeting_size> bytes;
    value.pack(bytes);
    return bytes;
}

// Returns whether the peer gives this reason only after the challenge, in which it proves that it
// is the peer. A peer chooses between two connections after both sides have sent their proofs.
// Without the peer's proof, such a refusal comes from another process, for example one that listens
// on the port of a peer that has ended. It must not make this side retry for ever.
bool needs_proof(wire::refusal_reason reason) noexcept {
    return reason == wire::refusal_reason::lost_race || reason == wire::refusal_reason::stale;
}

}  // namespace

connecting_handshake::connecting_handshake(const credentials& own, std::uint64_t to,
                                           const ucs::security::key& peer_address,
                                           std::uint32_t attempt) noexcept
    : hello_{.kind = wire::greeting_kind::hello,
             .attempt = attempt,
             .from = own.id(),
             .to = to,
             .terms = own.terms()},
      own_(own),
      initiator_(own.shared_key(peer_address), packed(hello_)) {}

packed_greeting connecting_handshake::hello() const noexcept {
    return {hello_, initiator_.challenge()};
}

bool connecting_handshake::is_for_us() const noexcept {
    return reader_.value().from == hello_.to && reader_.value().to == hello_.from;
}

connecting_handshake::step connecting_handshake::take(std::size_t count) noexcept {
    switch (reader_.take(count)) {
        case greeting_reader::progress::incomplete:
            return step::incomplete;
        case greeting_reader::progress::complete:
            break;
        default:
            return step::foreign;
    }
    if (!is_for_us()) return step::foreign;
    switch (reader_.value().kind) {
        case wire::greeting_kind::refusal:
            return needs_proof(reason()) && !proof_ ? step::unproven : step::refused;
        case wire::greeting_kind::challenge:
            return on_challenge();
        case wire::greeting_kind::welcome:
            return is_welcome() ? step::welcomed : step::unproven;
        default:
            return step::foreign;
    }
}

connecting_handshake::step connecting_handshake::on_challenge() noexcept {
    if (proof_) return step::foreign;
    proof_ = initiator_.answer(reader_.tail<0, ucs::security::reply_size>());
    if (!proof_) return step::unproven;
    identity_ = identity::agree(own_.pair(), reader_.public_key_at<ucs::security::reply_size>(),
                                hello_.to, initiator_.session_key());
    if (!identity_) return step::unproven;
    reader_.next();
    return step::send_proof;
}

// If the peer skipped the challenge, there is no identity_, and the welcome is invalid.
bool connecting_handshake::is_welcome() const noexcept {
    return identity_ && ucs::security::same_tag(reader_.tail<0, ucs::security::tag_size>(),
                                                identity_->of_accepting());
}

packed_greeting connecting_handshake::proof() const noexcept {
    wire::greeting value = hello_;
    value.kind = wire::greeting_kind::proof;
    const ucs::security::public_key& public_half = own_.pair().public_half();
    const address_tag address = own_.own_address_tag();
    const ucs::security::tag tag = identity_->of_connecting(address);
    std::array<std::byte, ucs::security::proof_size + sizeof(ucs::security::public_key) +
                              sizeof(address_tag) + ucs::security::tag_size>
        tail;
    auto end = std::copy(proof_->begin(), proof_->end(), tail.begin());
    end = std::copy(public_half.begin(), public_half.end(), end);
    end = std::copy(address.begin(), address.end(), end);
    std::copy(tag.begin(), tag.end(), end);
    return {value, tail};
}

packed_greeting connecting_handshake::refusal() const noexcept {
    wire::greeting value = hello_;
    value.kind = wire::greeting_kind::refusal;
    value.reason = wire::refusal_reason::keys_differ;
    return {value, {}};
}

accepting_handshake::step accepting_handshake::take(std::size_t count) noexcept {
    switch (reader_.take(count)) {
        case greeting_reader::progress::incomplete:
            return step::incomplete;
        case greeting_reader::progress::complete:
            return responder_ ? on_proof() : on_hello();
        case greeting_reader::progress::other_version:
            hello_ = reader_.value();
            return refuse(wire::refusal_reason::other_version);
        default:
            return step::foreign;
    }
}

accepting_handshake::step accepting_handshake::refuse(wire::refusal_reason reason) noexcept {
    reason_ = reason;
    return step::refuse;
}

accepting_handshake::step accepting_handshake::on_hello() noexcept {
    hello_ = reader_.value();
    if (hello_.kind != wire::greeting_kind::hello) return step::foreign;
    if (hello_.to != own_.id()) return refuse(wire::refusal_reason::not_me);
    const wire::terms ours = own_.terms();
    if (hello_.terms.job_key != ours.job_key) {
        return refuse(ours.job_key ? wire::refusal_reason::key_missing
                                   : wire::refusal_reason::key_unexpected);
    }
    if (hello_.terms.encrypted != ours.encrypted) {
        return refuse(wire::refusal_reason::encryption_differs);
    }
    responder_.emplace(own_.shared_key(own_.address_key()), reader_.head(),
                       reader_.tail<0, ucs::security::nonce_size>());
    reader_.next();
    return step::send_challenge;
}

accepting_handshake::step accepting_handshake::on_proof() noexcept {
    const wire::greeting& received = reader_.value();
    if (received.kind == wire::greeting_kind::refusal) return step::unproven;
    if (received.kind != wire::greeting_kind::proof) return step::foreign;
    if (!responder_->accepts(reader_.tail<0, ucs::security::proof_size>())) {
        return refuse(wire::refusal_reason::keys_differ);
    }
    identity_ = identity::agree(own_.pair(), reader_.public_key_at<ucs::security::proof_size>(),
                                hello_.from, responder_->session_key());
    constexpr std::size_t offset = ucs::security::proof_size + sizeof(ucs::security::public_key);
    std::ranges::copy(reader_.tail<offset, sizeof(address_tag)>(), peer_address_.begin());
    const auto shown = reader_.tail<offset + sizeof(address_tag), ucs::security::tag_size>();
    if (!identity_ || !ucs::security::same_tag(shown, identity_->of_connecting(peer_address_))) {
        return step::impostor;
    }
    return step::agreed;
}

packed_greeting accepting_handshake::challenge() const noexcept {
    const wire::greeting value{.kind = wire::greeting_kind::challenge,
                               .attempt = hello_.attempt,
                               .from = own_.id(),
                               .to = hello_.from,
                               .terms = hello_.terms};
    const ucs::security::reply answer = responder_->answer();
    const ucs::security::public_key& public_half = own_.pair().public_half();
    std::array<std::byte, ucs::security::reply_size + sizeof(ucs::security::public_key)> tail;
    std::copy(public_half.begin(), public_half.end(),
              std::copy(answer.begin(), answer.end(), tail.begin()));
    return {value, tail};
}

packed_greeting accepting_handshake::welcome(std::uint32_t attempt) const noexcept {
    const wire::greeting value{.kind = wire::greeting_kind::welcome,
                               .attempt = attempt,
                               .from = own_.id(),
                               .to = hello_.from,
                               .terms = own_.terms()};
    return {value, identity_->of_accepting()};
}

const char* explain_refusal(wire::refusal_reason reason) noexcept {
    switch (reason) {
        case wire::refusal_reason::not_me:
            return "the interface that listened there is gone";
        case wire::refusal_reason::other_version:
            return "it runs another version";
        case wire::refusal_reason::key_missing:
            return "the peer has a job key and this process has none; all processes of the job "
                   "need the same UCX_JOB_KEY or UCX_JOB_KEY_FILE";
        case wire::refusal_reason::key_unexpected:
            return "this process has a job key and the peer has none; all processes of the job "
                   "need the same UCX_JOB_KEY or UCX_JOB_KEY_FILE";
        case wire::refusal_reason::keys_differ:
            return "the keys differ; all processes of the job need the same UCX_JOB_KEY or "
                   "UCX_JOB_KEY_FILE";
        case wire::refusal_reason::encryption_differs:
            return "only one side encrypts; all processes of the job need the same "
                   "UCX_TCP_ENCRYPTION";
        default:
            return "it says no reason";
    }
}

const char* explain_own_refusal(wire::refusal_reason reason) noexcept {
    switch (reason) {
        case wire::refusal_reason::key_missing:
            return "has no job key and this process has one; if it is of the same job, it needs "
                   "the same UCX_JOB_KEY or UCX_JOB_KEY_FILE";
        case wire::refusal_reason::key_unexpected:
            return "has a job key and this process has none; if it is of the same job, this "
                   "process needs the same UCX_JOB_KEY or UCX_JOB_KEY_FILE";
        case wire::refusal_reason::keys_differ:
            return "does not prove that it knows this worker's address and the job's key; if it "
                   "is of the same job, the keys differ";
        case wire::refusal_reason::encryption_differs:
            return "wants a connection with another UCX_TCP_ENCRYPTION than this process has";
        default:
            return nullptr;
    }
}

}  // namespace uct::tcp
