// A hostile client or server: arbitrary bytes, in arbitrary pieces, over a listener's socket.
#include "test/fuzz/program.hpp"
#include "ucp/cm/frame_reader.hpp"

using fuzz::require;
using namespace ucp::cm;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::size_t piece = 1 + data[0];
    auto rest = std::as_bytes(std::span(data + 1, size - 1));
    frame_reader box(static_cast<frame_reader::start>(data[0] % 3));
    while (!rest.empty()) {
        switch (box.filled(fuzz::fill(box.space(), rest, piece))) {
            case frame_reader::result::incomplete:
                continue;
            case frame_reader::result::malformed:
                require(box.why_not() != nullptr);
                return 0;
            case frame_reader::result::key_handshake:
                require(!box.beginning().empty());
                return 0;
            case frame_reader::result::frame:
                break;
        }
        require(box.body().size() <= wire::max_body);
        const auto parsed = wire::parse_request(box.header(), box.body());
        require(!parsed || (parsed->uid != 0 && parsed->ep != 0 && !parsed->address.empty()));
        box.clear();
    }
    return 0;
}
