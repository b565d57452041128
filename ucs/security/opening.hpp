// The opening of a connection: both sides agree whether they have a job key and prove it to each
// other, before anything else is said. Without input or output.
//
// Records begin with a header of 8 bytes:
//   0  u32  magic "HWSO"         5  u8  kind
//   4  u8   version, now 2       6  u8  terms: 1 = keyed
//                                7  u8  failure, as the receiver sees it (of a refusal, else 0)
//
//   kind           sent by     bytes behind the header
//   hello      1   the client  16: a nonce, zeros if not keyed
//   accept     2   the server  32: zeros. Neither side has a key; the opening is over
//   challenge  3   the server  32: a nonce and the server's proof (challenge.hpp)
//   proof      4   the client  16: the client's proof; the opening is over
//   refusal    5   either      as many as the record would have that it stands for; the last one
//
// The context of the proofs is the purpose of the connection and the header of the hello. So a
// proof is of no use for a connection of another purpose, and a header that was changed on its way
// is noticed. All fields are little-endian.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ucs/security/challenge.hpp"

namespace ucs::security {

enum class opening_failure : std::uint8_t {
    none = 0,
    own_key_missing = 1,   // the peer has a key, this side has none
    peer_key_missing = 2,  // this side has a key, the peer has none
    keys_differ = 3,
    other_version = 4,
    foreign = 5,      // not a record of an opening; never on the wire
    interrupted = 6,  // the connection ended; never on the wire
};

// Explains the failure and says how to mend it, as the end of a sentence about the peer: "it has
// …".
[[nodiscard]] const char* explain(opening_failure failure) noexcept;

// One side of one opening. The caller alternates: it sends all of output(), receives into space(),
// calls take(), and acts on the step. Bounded: a side never asks for more than one record. Value
// type, used by one thread.
class opening {
public:
    enum class role { client, server };
    enum class step {
        incomplete,  // send output(), then receive more
        agreed,      // send output(); then the connection is the caller's
        failed,      // send output(); then close the connection. failure() says why
    };

    // `shared` is the job key; null: this side has none. `purpose` names the kind of connection.
    // Neither is kept.
    opening(role side, const key* shared, std::string_view purpose) noexcept;

    // Bytes to send now, until sent() says that they are on their way. They fit into the buffer of
    // a connection on which nothing was sent.
    [[nodiscard]] bytes output() const noexcept { return std::span(out_).first(out_size_); }
    void sent() noexcept { out_size_ = 0; }

    // Where the next bytes that arrive belong; not empty while the step is incomplete.
    [[nodiscard]] std::span<std::byte> space() noexcept {
        return std::span(in_).subspan(have_, wanted_ - have_);
    }
    // Takes the first `count` bytes of space().
    step take(std::size_t count) noexcept;
    // The connection ended.
    void interrupt() noexcept { fail(opening_failure::interrupted); }

    [[nodiscard]] step now() const noexcept { return step_; }
    [[nodiscard]] opening_failure failure() const noexcept { return failure_; }
    // Whether a whole valid record has arrived.
    [[nodiscard]] bool has_record() const noexcept { return has_record_; }

    // Returns whether a connection that begins with these bytes begins with an opening. Caller must
    // have at least `mark_size` bytes.
    static constexpr std::size_t mark_size = 4;
    [[nodiscard]] static bool begins_with(bytes received) noexcept;

    // Bytes that one side sends at once at most.
    static constexpr std::size_t longest_record = 8 + reply_size;

    // Sends and receives by the caller's functions until they would block or the opening is over.
    // `send(bytes)` returns whether all were taken. `receive(span)` returns the number of bytes, 0:
    // none now, -1: the connection ended. With `keeps_last` the record that follows the agreement
    // is not sent: output() has it, for a caller that sends more in one piece with it.
    template<class Send, class Receive>
    step advance(const Send& send, const Receive& receive, bool keeps_last = false) {
        for (;;) {
            if (keeps_last && step_ == step::agreed) return step_;
            if (!output().empty()) {
                const bool was_sent = send(output());
                sent();
                if (!was_sent && step_ != step::failed) {
                    // A refusal that arrived before says more than the failed send.
                    const auto got = step_ == step::incomplete ? receive(space()) : 0;
                    if (got > 0) take(static_cast<std::size_t>(got));
                    if (step_ != step::failed) interrupt();
                    return step_;
                }
            }
            if (step_ != step::incomplete) return step_;
            const auto got = receive(space());
            if (got == 0) return step_;
            if (got < 0) {
                interrupt();
                return step_;
            }
            take(static_cast<std::size_t>(got));
        }
    }

private:
    enum class kind : std::uint8_t {
        hello = 1,
        accept = 2,
        challenge = 3,
        client_proof = 4,
        refusal = 5,
    };
    static constexpr std::size_t header_size = 8;
    static constexpr std::size_t client_record = header_size + nonce_size;
    static constexpr std::size_t server_record = header_size + reply_size;
    static_assert(server_record == longest_record && client_record < longest_record);
    static_assert(nonce_size == proof_size);

    [[nodiscard]] kind received_kind() const noexcept { return static_cast<kind>(in_[5]); }
    [[nodiscard]] bool peer_is_keyed() const noexcept { return in_[6] != std::byte{0}; }
    void put(kind which, bytes content, opening_failure reason = opening_failure::none) noexcept;
    void refuse(opening_failure reason) noexcept;
    void fail(opening_failure reason) noexcept;
    void on_refusal() noexcept;
    void on_hello() noexcept;
    void on_answer() noexcept;
    void on_proof() noexcept;

    const role side_;
    const bool keyed_;
    std::optional<key> purpose_key_;
    std::optional<initiator> initiator_;
    std::optional<responder> responder_;
    std::array<std::byte, server_record> out_{};
    std::size_t out_size_ = 0;
    std::array<std::byte, server_record> in_{};
    std::size_t have_ = 0;
    std::size_t wanted_;
    step step_ = step::incomplete;
    opening_failure failure_ = opening_failure::none;
    bool has_record_ = false;
};

}  // namespace ucs::security
