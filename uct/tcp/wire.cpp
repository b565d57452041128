#include "uct/tcp/wire.hpp"

#include "ucs/security/challenge.hpp"
#include "ucs/security/key_pair.hpp"
#include "ucs/wire/codec.hpp"
#include "uct/api/types.hpp"

namespace uct::tcp::wire {

namespace {

constexpr std::uint32_t job_key_bit = 1;
constexpr std::uint32_t encrypted_bit = 2;

struct greeting_fields {
    std::uint64_t magic;
    std::uint16_t version;
    greeting_kind kind;
    std::uint32_t attempt;
    std::uint64_t from;
    std::uint64_t to;
    refusal_reason reason;
    std::uint32_t terms;
};
static_assert(sizeof(greeting_fields) == 40 && sizeof(greeting_fields) == greeting_size);

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
    ucs::wire::writer(into).put(
        greeting_fields{magic, version, kind, attempt, from, to, reason, bits_of(terms)});
}

parsed_greeting parse_greeting(std::span<const std::byte, greeting_size> from) noexcept {
    const auto read = ucs::wire::reader(from).get<greeting_fields>();
    if (read.magic != magic) return {{}, greeting_error::foreign};
    parsed_greeting parsed{{read.kind,
                            read.attempt,
                            read.from,
                            read.to,
                            read.reason,
                            {(read.terms & job_key_bit) != 0, (read.terms & encrypted_bit) != 0}},
                           greeting_error::none};
    const auto kind = static_cast<std::uint16_t>(read.kind);
    if (read.version != version) {
        parsed.error = greeting_error::other_version;
    } else if (kind < 1 || kind > last_greeting_kind ||
               static_cast<std::uint32_t>(read.reason) > last_refusal_reason ||
               read.terms > (job_key_bit | encrypted_bit) || read.terms == encrypted_bit ||
               read.from == 0) {
        parsed.error = greeting_error::malformed;
    }
    return parsed;
}

std::optional<frame_header> parse_frame(
    std::span<const std::byte, frame_header_size> from) noexcept {
    const auto header = ucs::wire::reader(from).get<frame_header>();
    const bool good =
        header.mark == frame_mark && header.length <= max_body && header.id < am_id_count &&
        static_cast<std::uint8_t>(header.kind) <= last_frame_kind &&
        (header.kind == frame_kind::message || (header.length == 0 && header.id == 0));
    if (!good) return std::nullopt;
    return header;
}

}  // namespace uct::tcp::wire
