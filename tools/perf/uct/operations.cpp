#include "tools/perf/uct/operations.hpp"

#include <fmt/format.h>

namespace tools::perf {
namespace {

constexpr std::size_t short_header = sizeof(std::uint64_t);

std::string too_long(std::string_view name, std::size_t most) {
    return fmt::format("{} takes at most {} bytes here", name, most);
}

}  // namespace

std::size_t header_of(const test_params& params) noexcept {
    return params.header.value_or(short_header);
}

const char* name_of(send_operation operation) noexcept {
    static constexpr const char* names[] = {"am_short", "am_bcopy", "am_zcopy"};
    return names[static_cast<std::size_t>(operation)];
}

std::string mistake_in_messages(const test_params& params, const uct::iface_attr& attr) {
    const send_operation operation = operation_of(params, send_operation::copied_short);
    const std::size_t size = params.message_size();
    const std::size_t header = header_of(params);
    const char* const name = name_of(operation);
    constexpr uct::op messages[] = {uct::op::am_short, uct::op::am_bcopy, uct::op::am_zcopy};
    const uct::op needed = messages[static_cast<std::size_t>(operation)];
    // The receiver acknowledges messages with am_short, whichever operation the test measures.
    if (!attr.ops.has(needed) || !attr.ops.has(uct::op::am_short))
        return fmt::format("no {}", name);
    if (size < header) {
        return fmt::format("-s: a message of {} bytes has no room for its header of {}", size,
                           header);
    }
    switch (operation) {
        case send_operation::copied_short:
            if (header != short_header) return "-H: the header of am_short has 8 bytes";
            if (size - header > attr.max_short) return too_long(name, attr.max_short + header);
            break;
        case send_operation::bcopy:
            if (size > attr.max_bcopy) return too_long(name, attr.max_bcopy);
            break;
        case send_operation::zcopy:
            if (header > attr.max_zcopy_header) {
                return too_long("-H: the header of am_zcopy", attr.max_zcopy_header);
            }
            if (size > attr.max_zcopy) return too_long(name, attr.max_zcopy);
            break;
    }
    return {};
}

std::optional<uct::op> operation_of(const test_params& params, remote_access access) noexcept {
    constexpr uct::op puts[] = {uct::op::put_short, uct::op::put_bcopy, uct::op::put_zcopy};
    constexpr std::optional<uct::op> gets[] = {{}, uct::op::get_bcopy, uct::op::get_zcopy};
    const auto layout = static_cast<std::size_t>(operation_of(params, send_operation::zcopy));
    return access == remote_access::put ? puts[layout] : gets[layout];
}

const char* name_of(uct::op operation) noexcept {
    for (const uct::op_name& each : uct::op_names) {
        if (each.which == operation) return each.name;
    }
    return "?";
}

std::string mistake_in_memory_access(const test_params& params, remote_access access,
                                     const uct::iface_attr& attr) {
    const auto needed = operation_of(params, access);
    if (!needed) return "of get there are only -D bcopy and zcopy";
    const char* const name = name_of(*needed);
    if (!attr.ops.has(*needed)) return fmt::format("no {}", name);
    const std::size_t most = *needed == uct::op::put_short   ? attr.max_put_short
                             : *needed == uct::op::put_bcopy ? attr.max_put_bcopy
                             : *needed == uct::op::get_bcopy ? attr.max_get_bcopy
                                                             : attr.max_rma;
    if (params.message_size() > most) return too_long(name, most);
    if (params.message_size() == 0) return "-s: nothing happens with 0 bytes";
    return {};
}

std::string mistake_in_atomic(const test_params& params, uct::atomic_kind kind, bool fetches,
                              const uct::iface_attr& attr) {
    if (operation_of(params, send_operation::copied_short) != send_operation::copied_short) {
        return "of atomic operations there is only -D short";
    }
    if (params.pieces.size() != 1 || (params.message_size() != 4 && params.message_size() != 8)) {
        return "-s: atomic operations have 4 or 8 bytes";
    }
    if (attr.atomics.has({kind, params.message_size(), 0, 0}, fetches)) return {};
    return fmt::format("no {}atomic {} of {} bytes", fetches ? "fetching " : "",
                       uct::atomic_names[static_cast<unsigned>(kind)], params.message_size());
}

}  // namespace tools::perf
