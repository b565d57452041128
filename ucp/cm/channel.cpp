#include "ucp/cm/channel.hpp"

namespace ucp::cm {

channel::input channel::read(inbox& into) noexcept {
    for (;;) {
        const ssize_t got = receive(into.space());
        if (got == 0) return input::nothing_yet;
        if (got < 0) return input::end;
        switch (into.filled(static_cast<std::size_t>(got))) {
            case inbox::result::frame:
                return input::frame;
            case inbox::result::opening:
                return input::opening;
            case inbox::result::malformed:
                return input::malformed;
            case inbox::result::incomplete:
                break;
        }
    }
}

ucs::security::opening::step channel::advance(ucs::security::opening& with,
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
