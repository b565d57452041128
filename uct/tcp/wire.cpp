#include "uct/tcp/wire.hpp"

#include <cstring>

#include "ucs/security/challenge.hpp"
#include "ucs/security/key_pair.hpp"
#include "uct/api/types.hpp"
#include "uct/tcp/bytes.hpp"

namespace uct::tcp::wire {

namespace {

constexpr std::uint32_t job_key_bit = 1;
constexpr std::uint32_t encrypted_bit = 2;

std::uint32_t bits_of(const terms& from) noexcept {
    return (from.job_key ? job_key_bit : 0) | (from.encrypted ? encrypted_bit : 0);
}

}  // namespace

std::size_t greeting::tail_size() const noexcept {
    switch (kind) {
        case greeting_kind::hello:
            return ucs::security::nonce_size;
        case greeting_kind::challenge:
            return ucs::security::reply_size + sizeof(ucs::security::public_key);
        case greeting_kind::proof:
            return ucs::security::proof_size + sizeof(ucs::security::public_key) +
                   2 * ucs::security::tag_size;
        case greeting_kind::welcome:
            return ucs::security::tag_size;
        default:
            return 0;
    }
}

void greeting::pack(std::span<std::byte, greeting_size> into) const noexcept {
    field_writer(into)
        .put(magic)
        .put(version)
        .put(static_cast<std::uint16_t>(kind))
        .put(attempt)
        .put(from)
        .put(to)
        .put(static_cast<std::uint32_t>(reason))
        .put(bits_of(terms));
}

parsed_greeting parse_greeting(std::span<const std::byte, greeting_size> from) noexcept {
    field_reader in(from);
    parsed_greeting parsed;
    if (in.get<std::uint64_t>() != magic) {
        parsed.error = greeting_error::foreign;
        return parsed;
    }
    const auto its_version = in.get<std::uint16_t>();
    const auto kind = in.get<std::uint16_t>();
    parsed.value.attempt = in.get<std::uint32_t>();
    parsed.value.from = in.get<std::uint64_t>();
    parsed.value.to = in.get<std::uint64_t>();
    const auto reason = in.get<std::uint32_t>();
    const auto bits = in.get<std::uint32_t>();
    parsed.value.terms = {(bits & job_key_bit) != 0, (bits & encrypted_bit) != 0};
    parsed.value.kind = static_cast<greeting_kind>(kind);
    parsed.value.reason = static_cast<refusal_reason>(reason);
    if (its_version != version) {
        parsed.error = greeting_error::other_version;
    } else if (kind < 1 || kind > last_greeting_kind || reason > last_refusal_reason ||
               bits > (job_key_bit | encrypted_bit) || bits == encrypted_bit ||
               parsed.value.from == 0) {
        parsed.error = greeting_error::malformed;
    }
    return parsed;
}

std::optional<frame_header> parse_frame(
    std::span<const std::byte, frame_header_size> from) noexcept {
    frame_header header;
    std::memcpy(&header, from.data(), sizeof header);
    const bool good =
        header.mark == frame_mark && header.length <= max_body && header.id < am_id_count &&
        static_cast<std::uint8_t>(header.kind) <= last_frame_kind &&
        (header.kind == frame_kind::message || (header.length == 0 && header.id == 0));
    if (!good) return std::nullopt;
    return header;
}

}  // namespace uct::tcp::wire
