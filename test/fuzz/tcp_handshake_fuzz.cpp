// Arbitrary bytes from a peer as greetings and as encrypted records, in arbitrary pieces. The
// parsers must stay inside their buffers, no peer may prove a key that it does not know, and no
// data may come out of a stream that the peer did not encrypt. The first input byte chooses the
// length of pieces.
#include <vector>

#include "test/fuzz/program.hpp"
#include "uct/tcp/data/encrypted_stream.hpp"
#include "uct/tcp/setup/handshake.hpp"

using namespace uct::tcp;
using ucs::security::key;

namespace {

const key job = key::from_text("the key of the fuzzed job");

template<class Handshake>
typename Handshake::step feed(Handshake& side, std::span<const std::byte>& input,
                              std::size_t step) {
    auto done = Handshake::step::incomplete;
    while (!input.empty() && done == Handshake::step::incomplete) {
        done = side.take(fuzz::fill(side.space(), input, step));
    }
    return done;
}

void accept(const credentials& own, std::span<const std::byte> input, std::size_t step) {
    accepting_handshake side(own);
    if (feed(side, input, step) != accepting_handshake::step::send_challenge) return;
    static_cast<void>(side.challenge());
    if (feed(side, input, step) == accepting_handshake::step::agreed) std::abort();
}

void connect(const credentials& own, std::span<const std::byte> input, std::size_t step) {
    connecting_handshake side(own, 2, key::from_text("the secret of the peer"), 3);
    static_cast<void>(side.hello());
    switch (feed(side, input, step)) {
        case connecting_handshake::step::send_proof:
        case connecting_handshake::step::welcomed:
            std::abort();
        case connecting_handshake::step::refused:
            static_cast<void>(explain_refusal(side.reason()));
            break;
        default:
            break;
    }
}

void decrypt(std::span<const std::byte> input, std::size_t step) {
    decrypting_stream stream(job);
    std::vector<std::byte> room(step);
    const iovec into{room.data(), room.size()};
    while (true) {
        const auto read = stream.read(std::span(&into, 1));
        if (read.status == decrypting_stream::outcome::read) std::abort();
        if (read.status == decrypting_stream::outcome::broken || input.empty()) return;
        stream.take(fuzz::fill(stream.space(), input, step));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    static const credentials plain(nullptr, false);
    static const credentials keyed(&job, true);
    const std::size_t step = std::size_t{data[0]} + 1;
    const auto input = std::as_bytes(std::span(data + 1, size - 1));
    for (const credentials* own : {&plain, &keyed}) {
        accept(*own, input, step);
        connect(*own, input, step);
    }
    decrypt(input, step);
    return 0;
}
