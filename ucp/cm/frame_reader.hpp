// Frame reader: collects the frames of the handshake from a stream of bytes.
#pragma once

#include <algorithm>

#include "ucp/cm/wire.hpp"
#include "ucs/security/key_handshake.hpp"

namespace ucp::cm {

// Collects one frame at a time from bytes that arrive in any pieces, in bounded memory. Any process
// can connect, so nothing in the bytes is trusted. Value type; owner context.
class frame_reader {
public:
    enum class result { incomplete, frame, key_handshake, malformed };

    // The kinds of data that the first bytes may be.
    enum class start {
        frame,
        frame_or_handshake,  // from a client, if this side has no job key
        key_handshake,       // from a client, if this side has one
    };
    explicit frame_reader(start expected = start::frame) noexcept : expected_(expected) {}

    // Buffer for the next bytes; never empty until a frame is complete or found malformed.
    [[nodiscard]] std::span<std::byte> space() noexcept {
        return std::span(bytes_).first(wanted()).subspan(have_);
    }

    // `count` bytes were written to the buffer.
    result filled(std::size_t count) noexcept {
        have_ += count;
        if (have_ < wire::header_size) return result::incomplete;
        if (!header_) {
            if (expected_ != start::frame && begins_with_handshake()) return result::key_handshake;
            wire::header_answer parsed =
                wire::parse_header(std::span(bytes_).first<wire::header_size>());
            if (parsed.value && expected_ == start::key_handshake) {
                parsed = {{},
                          "has no job key and this process has one; set the same UCX_JOB_KEY or "
                          "UCX_JOB_KEY_FILE in all processes of the job",
                          wire::reason::key_missing};
            }
            why_not_ = parsed.why_not;
            answer_ = parsed.answer;
            if (!parsed.value) return result::malformed;
            header_ = parsed.value;
        }
        return have_ < wanted() ? result::incomplete : result::frame;
    }

    [[nodiscard]] const wire::header& header() const noexcept { return *header_; }
    [[nodiscard]] std::span<const std::byte> body() const noexcept {
        return std::span(bytes_).subspan(wire::header_size, header_->length);
    }
    // The error of a malformed frame, in words and for a refusal.
    [[nodiscard]] const char* why_not() const noexcept { return why_not_; }
    [[nodiscard]] wire::reason answer() const noexcept { return answer_; }

    // The bytes of a key handshake that were read.
    [[nodiscard]] std::span<const std::byte> beginning() const noexcept {
        return std::span(bytes_).first(have_);
    }

    // Prepares for the next frame.
    void clear() noexcept {
        expected_ = start::frame;
        header_.reset();
        have_ = 0;
    }

private:
    [[nodiscard]] bool begins_with_handshake() const noexcept {
        return ucs::security::key_handshake::begins_with(beginning());
    }
    [[nodiscard]] std::size_t wanted() const noexcept {
        return wire::header_size + (header_ ? header_->length : 0);
    }

    std::array<std::byte, wire::header_size + wire::max_body> bytes_;
    std::size_t have_ = 0;
    start expected_;
    std::optional<wire::header> header_;
    const char* why_not_ = nullptr;
    wire::reason answer_ = wire::reason::malformed;
};

}  // namespace ucp::cm
