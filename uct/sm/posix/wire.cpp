#include "uct/sm/posix/wire.hpp"

#include <fmt/format.h>

#include <cstring>

namespace uct::posix {

hello_answer parse_hello(std::span<const std::byte> from) {
    hello said;
    if (from.size() != sizeof said) {
        return {{}, fmt::format("its hello has {} bytes instead of {}", from.size(), sizeof said)};
    }
    std::memcpy(&said, from.data(), sizeof said);
    if (said.magic != wire_magic || said.zero != 0) {
        return {{}, "its hello is not one of this transport"};
    }
    if (said.version != wire_version) {
        return {{},
                fmt::format("it speaks version {} and this library speaks version {}", said.version,
                            wire_version)};
    }
    if (!said.geometry().valid() || said.segment_size != said.geometry().segment_size()) {
        return {{},
                fmt::format("it offers an impossible ring: {} slots, {} bulk bytes, messages "
                            "of up to {} bytes in a segment of {} bytes",
                            said.slots, said.bulk_size, said.max_message, said.segment_size)};
    }
    return {said, {}};
}

std::optional<goodbye_reason> parse_goodbye(std::span<const std::byte> from) {
    goodbye said;
    if (from.size() != sizeof said) return std::nullopt;
    std::memcpy(&said, from.data(), sizeof said);
    if (said.magic != wire_magic || said.version != wire_version) return std::nullopt;
    switch (said.reason) {
        case goodbye_reason::closing:
        case goodbye_reason::refused:
        case goodbye_reason::corrupted:
            return said.reason;
    }
    return std::nullopt;
}

bool is_wake_up_call(std::span<const std::byte> from) {
    goodbye said;
    if (from.size() != sizeof said) return false;
    std::memcpy(&said, from.data(), sizeof said);
    return said.magic == wire_magic && said.version == wire_version &&
           static_cast<std::uint16_t>(said.reason) == wake_up_call;
}

}  // namespace uct::posix
