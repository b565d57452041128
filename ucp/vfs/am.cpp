// A worker's active messages in the object tree.
#include <fmt/format.h>

#include "ucp/am/receiver.hpp"

namespace ucp {

void am_receiver::describe(ucs::vfs::directory& into) const {
    into.file("handlers", [this] {
        std::string text;
        handlers_.for_each([&](std::uint16_t id, const am_handler& each) {
            text += fmt::format("{}{}{}{}\n", id, each.call_older != nullptr ? " older form" : "",
                                each.persistent ? " persistent data" : "",
                                each.whole ? " whole messages" : "");
        });
        return text;
    });
    into.file("kept", [this] { return std::to_string(kept_count()); });
    into.file("kept_announced", [this] {
        std::size_t count = 0;
        for (const am_block& each : kept_)
            count += each.is_rendezvous() ? 1U : 0U;
        return std::to_string(count);
    });
    into.file("kept_bytes", [this] {
        std::size_t bytes = 0;
        for (const am_block& each : kept_)
            bytes += each.is_rendezvous() ? 0 : each.length;
        return std::to_string(bytes);
    });
}

}  // namespace ucp
