#include "ucp/eager/assembler.hpp"

#include <cstring>
#include <new>

#include "ucp/core/handler.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucs/time/clock.hpp"

namespace ucp {

assembly* assembler::begin(ep& from, const wire::eager_first_header& header, std::size_t length,
                           const assembly_sink& sink) noexcept {
    const assembly fresh{.ep = header.ep,
                         .number = header.message,
                         .total = header.total,
                         .received = length,
                         .first = length,
                         .started = ucs::time::now(),
                         .sink = &sink,
                         .receiver = nullptr,
                         .stored = nullptr,
                         .block = nullptr,
                         .sender_hook = {}};
    try {
        assembly& begun = messages_.emplace(key{header.ep, header.message}, fresh).first->second;
        slot_of<partial_messages>(from).list.push_back(begun);
        return &begun;
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

void assembler::forget_sender(ep& failed) {
    auto& list = slot_of<partial_messages>(failed).list;
    while (!list.empty()) {
        const assembly incomplete = list.front();
        drop(incomplete);
        incomplete.sink->lost(owner_, failed, incomplete);
    }
}

assembly* assembler::find(const wire::eager_data_header& header, std::size_t length) {
    const auto found = messages_.find({header.ep, header.message});
    if (found == messages_.end()) return nullptr;
    assembly& into = found->second;
    // A fragment without data would change nothing and could be repeated for ever.
    const bool fits = length > 0 && length <= into.total - into.received;
    if (header.offset != into.received || !fits) return nullptr;
    return &into;
}

void assembler::advance(assembly& into, std::size_t length) {
    into.received += length;
    if (into.received != into.total) return;
    const assembly whole = into;
    drop(whole);
    whole.sink->done(owner_, whole);
}

void assembler::deliver(const std::byte* data, std::size_t length) {
    wire::eager_data_header header;
    if (!read_header(owner_, wire::eager_data, {data, length}, header)) return;
    const std::size_t payload = length - sizeof header;
    assembly* into = find(header, payload);
    if (into == nullptr) {
        ucs::log::debug(proto_log, "a fragment at offset {} of no known message was dropped",
                        header.offset);
        return;
    }
    into->sink->add(owner_, *into, data + sizeof header, payload);
    advance(*into, payload);
}

void* assembler::locate(const void* data, std::size_t length) noexcept {
    wire::eager_data_header header;
    std::memcpy(&header, data, sizeof header);
    const assembly* into = find(header, length);
    return into == nullptr ? nullptr : into->sink->locate(*into);
}

void assembler::landed(const void* data, std::size_t length) {
    wire::eager_data_header header;
    std::memcpy(&header, data, sizeof header);
    assembly* into = find(header, length);
    if (into != nullptr) advance(*into, length);
}

// Adapts member functions to the function pointers of transports.
class assembler_handlers {
public:
    static void deliver(void* arg, uct::peer_bytes message) {
        static_cast<assembler*>(arg)->deliver(message.payload(), message.size());
    }
    static void* locate(void* arg, const void* header, std::size_t length) noexcept {
        return static_cast<assembler*>(arg)->locate(header, length);
    }
    static void landed(void* arg, const void* header, std::size_t length) {
        static_cast<assembler*>(arg)->landed(header, length);
    }
};

void assembler::listen(uct::iface& iface) {
    using handlers = assembler_handlers;
    handler_of<wire::eager_data>::install<handlers::deliver, handlers::locate, handlers::landed>(
        iface, this, sizeof(wire::eager_data_header));
}

}  // namespace ucp
