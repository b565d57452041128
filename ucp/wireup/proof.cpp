#include "ucp/wireup/proof.hpp"

#include <cstring>

namespace ucp::wireup {

ucs::security::tag prove(const ucs::security::key& shared, std::span<const std::byte> reached,
                         const wire::wireup_header& header,
                         std::span<const std::byte> body) noexcept {
    wire::wireup_header bare = header;
    bare.proof = {};
    return ucs::security::authenticate(
        shared, {ucs::security::bytes_of("hawser connection message"), reached,
                 std::as_bytes(std::span(&bare, 1)), body});
}

bool is_proven(const ucs::security::key& shared, std::span<const std::byte> reached,
               const wire::wireup_header& header, std::span<const std::byte> body) noexcept {
    return ucs::security::same_tag(prove(shared, reached, header, body), header.proof);
}

ucs::security::tag make_receipt(const ucs::security::key& shared, std::uint64_t from,
                                std::uint64_t number) noexcept {
    const std::uint64_t numbers[] = {from, number};
    return ucs::security::authenticate(
        shared,
        {ucs::security::bytes_of("hawser connection receipt"), std::as_bytes(std::span(numbers))});
}

std::uint64_t make_ep_mask(const ucs::security::key& shared,
                           const ucs::security::tag& receipt) noexcept {
    const ucs::security::tag drawn = ucs::security::authenticate(
        shared, {ucs::security::bytes_of("hawser endpoint number"), receipt});
    std::uint64_t mask = 0;
    std::memcpy(&mask, drawn.data(), sizeof mask);
    return mask;
}

}  // namespace ucp::wireup
