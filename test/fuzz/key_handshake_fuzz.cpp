// Hostile bytes during the key handshake of a connection. The first byte chooses the side under
// test, whether that side has a key, and the length of the pieces.
#include "test/fuzz/program.hpp"
#include "ucs/security/key_handshake.hpp"

using fuzz::require;
using namespace ucs::security;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    static const key secret = key::from_text("a key that the fuzzer does not know");
    const bool keyed = (data[0] & 2) != 0;
    key_handshake side(
        (data[0] & 1) != 0 ? key_handshake::role::client : key_handshake::role::server,
        keyed ? &secret : nullptr, "fuzz");
    const std::size_t piece = 1 + (data[0] >> 2);
    auto rest = std::as_bytes(std::span(data + 1, size - 1));
    std::size_t records = 0;
    while (!rest.empty() && side.now() == key_handshake::step::incomplete) {
        require(side.output().empty() || ++records <= 3);
        side.sent();
        side.take(fuzz::fill(side.space(), rest, piece));
    }
    require(!keyed || side.now() != key_handshake::step::agreed);
    require(side.now() != key_handshake::step::failed || side.failure() != handshake_failure::none);
    return 0;
}
