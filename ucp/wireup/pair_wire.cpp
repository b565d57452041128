#include "ucp/wireup/pair_wire.hpp"

#include <cassert>

namespace ucp::wireup {
namespace {

using bytes = std::span<const std::byte>;

bytes bytes_of(std::string_view text) noexcept {
    return std::as_bytes(std::span(text.data(), text.size()));
}

std::string_view text_of(bytes from) noexcept {
    return {reinterpret_cast<const char*>(from.data()), from.size()};
}

void append(std::vector<std::byte>& into, bytes field) {
    assert(field.size() <= 0xff);
    into.push_back(static_cast<std::byte>(field.size()));
    into.insert(into.end(), field.begin(), field.end());
}

// Takes fields from the front; fields beyond the end are empty, and ok() is false then.
class reader {
public:
    explicit reader(bytes from) noexcept : left_(from) {}

    [[nodiscard]] std::uint8_t number() noexcept {
        const bytes one = take(1);
        return one.empty() ? std::uint8_t{0} : std::to_integer<std::uint8_t>(one.front());
    }
    [[nodiscard]] bytes field() noexcept { return take(number()); }
    [[nodiscard]] bytes rest() const noexcept { return left_; }
    [[nodiscard]] bool ok() const noexcept { return ok_; }

private:
    bytes take(std::size_t length) noexcept {
        ok_ = ok_ && length <= left_.size();
        if (!ok_) return {};
        const bytes taken = left_.first(length);
        left_ = left_.subspan(length);
        return taken;
    }

    bytes left_;
    bool ok_ = true;
};

}  // namespace

std::vector<std::byte> pack(const pair_request& from) {
    std::vector<std::byte> made{static_cast<std::byte>(from.lanes.size())};
    for (const pair_lane& each : from.lanes) {
        for (const bytes field : {bytes_of(each.transport), each.to, each.from, each.connection})
            append(made, field);
        made.push_back(std::byte{each.device});
    }
    made.insert(made.end(), from.address.begin(), from.address.end());
    return made;
}

std::vector<std::byte> pack(const pair_reply& from) {
    std::vector<std::byte> made{static_cast<std::byte>(from.size())};
    for (const pair_reply_lane& each : from) {
        append(made, each.connection);
        made.push_back(std::byte{each.device});
    }
    return made;
}

std::optional<pair_request> parse_pair_request(bytes from) {
    reader in(from);
    pair_request read;
    const std::size_t count = in.number();
    if (!in.ok() || count > max_paired_lanes) return std::nullopt;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string_view transport = text_of(in.field());
        const bytes to = in.field();
        const bytes sender_interface = in.field();
        const bytes connection = in.field();
        read.lanes.push_back({transport, to, sender_interface, connection, in.number()});
    }
    if (!in.ok()) return std::nullopt;
    read.address = in.rest();
    return read;
}

std::optional<pair_reply> parse_pair_reply(bytes from) {
    reader in(from);
    const std::size_t count = in.number();
    if (!in.ok() || count > max_paired_lanes) return std::nullopt;
    pair_reply read;
    for (std::size_t i = 0; i < count; ++i) {
        const bytes connection = in.field();
        read.push_back({connection, in.number()});
    }
    if (!in.ok() || !in.rest().empty()) return std::nullopt;
    return read;
}

}  // namespace ucp::wireup
