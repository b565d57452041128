// The handshake at the start of a connection: both sides agree whether they use a job key, and
// prove to each other that they know it, before any other data. No I/O.
//
// Records begin with a header of 8 bytes:
//   0  u32  magic "HWSO"         5  u8  kind
//   4  u8   version, now 2       6  u8  terms: 1 = keyed
//                                7  u8  failure, from the receiver's point of view; 0 except in a
//                                       refusal
//
//   kind           sent by     bytes after the header
//   hello      1   the client  16: a nonce, zeros if not keyed
//   accept     2   the server  32: zeros. Neither side has a key; the handshake is complete
//   challenge  3   the server  32: a nonce and the server's proof (challenge.hpp)
//   proof      4   the client  16: the client's proof; the handshake is complete
//   refusal    5   either      as many as the record that it replaces; the handshake ends
//
// The context of the proofs is the purpose of the connection and the header of the hello. So a
// proof is invalid for a connection of another purpose, and a change of the header in transit is
// detected. All fields are little-endian.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ucs/security/challenge.hpp"

namespace ucs::security {

enum class handshake_failure : std::uint8_t {
    none = 0,
    own_key_missing = 1,   // the peer has a key, this side has none
    peer_key_missing = 2,  // this side has a key, the peer has none
    keys_differ = 3,
    other_version = 4,
    foreign = 5,      // not a handshake record; never on the wire
    interrupted = 6,  // the connection ended; never on the wire
};

// Explains the failure and its remedy, as the end of a sentence about the peer: "it has …".
[[nodiscard]] const char* explain(handshake_failure failure) noexcept;

// One side of one handshake. The caller repeats these steps: it sends all of output(), receives
// into space(), calls take(), and acts on the step. A side never requests more than one record at a
// time. Value type, used by one thread.
class key_handshake {
public:
    enum class role { client, server };
    enum class step {
        incomplete,  // send output(), then receive more
        agreed,      // send output(); then the caller may use the connection
        failed,      // send output(); then close the connection. failure() has the reason
    };

    // `shared` is the job key; null if this side has none. `purpose` names the kind of connection.
    // The object keeps neither.
    key_handshake(role side, const key* shared, std::string_view purpose) noexcept;

    // The bytes to send now, until the caller calls sent(). They fit into the send buffer of a new
    // connection.
    [[nodiscard]] bytes output() const noexcept { return std::span(out_).first(out_size_); }
    void sent() noexcept { out_size_ = 0; }

    // The buffer for the next received bytes; not empty while the step is incomplete.
    [[nodiscard]] std::span<std::byte> space() noexcept {
        return std::span(in_).subspan(have_, expected_ - have_);
    }
    // Processes the first `count` bytes of space().
    step take(std::size_t count) noexcept;
    // Records that the connection ended.
    void interrupt() noexcept { fail(handshake_failure::interrupted); }

    [[nodiscard]] step now() const noexcept { return step_; }
    [[nodiscard]] handshake_failure failure() const noexcept { return failure_; }
    // Returns whether a complete valid record has arrived.
    [[nodiscard]] bool has_record() const noexcept { return has_record_; }

    // Returns whether these first bytes of a connection begin a handshake. The caller must pass at
    // least `mark_size` bytes.
    static constexpr std::size_t mark_size = 4;
    [[nodiscard]] static bool begins_with(bytes received) noexcept;

    // The most bytes that one side sends at once.
    static constexpr std::size_t longest_record = 8 + reply_size;

    // Sends and receives through the caller's functions until they would block or the handshake is
    // over. `send(bytes)` returns whether all bytes were accepted. `receive(span)` returns the
    // number of bytes; 0: none now; -1: the connection ended. With `keeps_last` the last record
    // after the agreement is not sent: the caller sends output() together with its own data.
    template<class Send, class Receive>
    step advance(const Send& send, const Receive& receive, bool keeps_last = false) {
        for (;;) {
            if (keeps_last && step_ == step::agreed) return step_;
            if (!output().empty()) {
                const bool was_sent = send(output());
                sent();
                if (!was_sent && step_ != step::failed) {
                    // A refusal that has arrived already gives a better reason than the failed
                    // send.
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
    void put(kind record_kind, bytes content,
             handshake_failure reason = handshake_failure::none) noexcept;
    void refuse(handshake_failure reason) noexcept;
    void fail(handshake_failure reason) noexcept;
    void on_refusal() noexcept;
    void on_hello() noexcept;
    void on_server_record() noexcept;
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
    std::size_t expected_;
    step step_ = step::incomplete;
    handshake_failure failure_ = handshake_failure::none;
    bool has_record_ = false;
};

}  // namespace ucs::security
