#include "ucp/cm/channel.hpp"

namespace ucp::cm {

channel::input channel::read(frame_reader& into) noexcept {
    for (;;) {
        const ssize_t got = receive(into.space());
        if (got == 0) return input::nothing_yet;
        if (got < 0) return input::end;
        switch (into.filled(static_cast<std::size_t>(got))) {
            case frame_reader::result::frame:
                return input::frame;
            case frame_reader::result::key_handshake:
                return input::key_handshake;
            case frame_reader::result::malformed:
                return input::malformed;
            case frame_reader::result::incomplete:
                break;
        }
    }
}

ucs::security::key_handshake::step channel::advance(ucs::security::key_handshake& with,
                                                    bool keeps_last) noexcept {
    return with.advance([this](std::span<const std::byte> record) { return send(record); },
                        [this](std::span<std::byte> into) { return receive(into); }, keeps_last);
}

// If one of these frames is lost, the end of the channel has nearly the same meaning.
void channel::send_refusal(wire::reason why) noexcept {
    static_cast<void>(send(wire::header{.kind = wire::kind::refusal, .reason = why}.pack()));
}

void channel::send_established() noexcept {
    static_cast<void>(send(wire::header{.kind = wire::kind::established}.pack()));
}

}  // namespace ucp::cm
