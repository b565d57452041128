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

void seal(peer_identity& to, wire::wireup_header& header,
          std::span<const std::byte> body) noexcept {
    const ucs::security::key* const shared = to.shared_key();
    if (shared == nullptr) return;
    const auto bits =
        static_cast<std::uint8_t>(header.type) & ~(wire::no_credits | wire::over_pair);
    const auto type = static_cast<wire::wireup_type>(bits);
    if (can_be_refused(type)) header.receipt = make_receipt(*shared, header.uid, header.ep);
    if (connects(type)) header.ep ^= make_ep_mask(*shared, header.receipt);
    header.proof = prove(*shared, to.packed(), header, body);
}

}  // namespace ucp::wireup
