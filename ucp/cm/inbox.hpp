// Frames out of a stream of bytes.
#pragma once

#include <algorithm>

#include "ucp/cm/wire.hpp"
#include "ucs/security/opening.hpp"

namespace ucp::cm {

// Collects one frame at a time from bytes that come in any pieces, in bounded memory. Everybody
// can connect, so nothing of it is trusted. Value type; owner context.
class inbox {
public:
    enum class result { incomplete, frame, opening, malformed };

    // Says what the first bytes may be.
    enum class start {
        frame,
        frame_or_opening,  // of a client, while this side has no job key
        opening,           // of a client, while this side has one
    };
    explicit inbox(start expected = start::frame) noexcept : expected_(expected) {}

    // Where the next bytes go; never empty until a frame is complete or found malformed.
    [[nodiscard]] std::span<std::byte> space() noexcept {
        return std::span(bytes_).first(wanted()).subspan(have_);
    }

    // `count` bytes of the space were filled.
    result filled(std::size_t count) noexcept {
        have_ += count;
        if (have_ < wire::header_size) return result::incomplete;
        if (!header_) {
            if (expected_ != start::frame && begins_with_opening()) return result::opening;
            wire::header_answer said =
                wire::parse_header(std::span(bytes_).first<wire::header_size>());
            if (said.value && expected_ == start::opening) {
                said = {{},
                        "has no job key and this process has one; set the same UCX_JOB_KEY or "
                        "UCX_JOB_KEY_FILE in all processes of the job",
                        wire::reason::key_missing};
            }
            why_not_ = said.why_not;
            answer_ = said.answer;
            if (!said.value) return result::malformed;
            header_ = said.value;
        }
        return have_ < wanted() ? result::incomplete : result::frame;
    }

    [[nodiscard]] const wire::header& header() const noexcept { return *header_; }
    [[nodiscard]] std::span<const std::byte> body() const noexcept {
        return std::span(bytes_).subspan(wire::header_size, header_->length);
    }
    // What is wrong with a malformed one, in words and for a refusal.
    [[nodiscard]] const char* why_not() const noexcept { return why_not_; }
    [[nodiscard]] wire::reason answer() const noexcept { return answer_; }

    // The beginning of an opening, as far as it was read.
    [[nodiscard]] std::span<const std::byte> beginning() const noexcept {
        return std::span(bytes_).first(have_);
    }

    // For the next frame.
    void clear() noexcept {
        expected_ = start::frame;
        header_.reset();
        have_ = 0;
    }

private:
    [[nodiscard]] bool begins_with_opening() const noexcept {
        return ucs::security::opening::begins_with(beginning());
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
