// A hostile client or server: arbitrary bytes, in arbitrary pieces, over a listener's socket.
#include <cstdlib>
#include <cstring>

#include "ucp/cm/frame_reader.hpp"

using namespace ucp::cm;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::size_t piece = 1 + data[0];
    auto rest = std::as_bytes(std::span(data + 1, size - 1));
    frame_reader box(static_cast<frame_reader::start>(data[0] % 3));
    while (!rest.empty()) {
        const std::span<std::byte> space = box.space();
        if (space.empty()) std::abort();
        const std::size_t count = std::min({piece, space.size(), rest.size()});
        std::memcpy(space.data(), rest.data(), count);
        rest = rest.subspan(count);
        switch (box.filled(count)) {
            case frame_reader::result::incomplete:
                continue;
            case frame_reader::result::malformed:
                if (box.why_not() == nullptr) std::abort();
                return 0;
            case frame_reader::result::key_handshake:
                if (box.beginning().empty()) std::abort();
                return 0;
            case frame_reader::result::frame:
                break;
        }
        if (box.body().size() > wire::max_body) std::abort();
        const auto parsed = wire::parse_request(box.header(), box.body());
        if (parsed && (parsed->uid == 0 || parsed->ep == 0 || parsed->address.empty()))
            std::abort();
        box.clear();
    }
    return 0;
}
