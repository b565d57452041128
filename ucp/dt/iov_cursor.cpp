#include "ucp/dt/iov_cursor.hpp"

#include <algorithm>

#include "ucs/memory/copy_any.hpp"

namespace ucp::dt {

// `offset` lies within the list, so neither loop leaves it.
void iov_cursor::seek(std::size_t offset) noexcept {
    while (offset < start_)
        start_ -= pieces_[--index_].length;
    while (offset - start_ >= pieces_[index_].length)
        start_ += pieces_[index_++].length;
}

// Calls f(address, length) for each contiguous part of [offset, offset + length), until it returns
// false.
template<class Function>
void iov_cursor::visit(std::size_t offset, std::size_t length, Function f) noexcept {
    if (length == 0) return;
    seek(offset);
    for (;;) {
        const ucp_dt_iov_t& piece = pieces_[index_];
        const std::size_t skip = offset - start_;
        const std::size_t part = std::min(piece.length - skip, length);
        if (part > 0 && !f(static_cast<std::byte*>(piece.buffer) + skip, part)) return;
        offset += part;
        length -= part;
        if (length == 0) return;
        start_ += piece.length;
        ++index_;
    }
}

ucs_status_t iov_cursor::read(std::size_t offset, void* into, std::size_t length) noexcept {
    auto* to = static_cast<std::byte*>(into);
    ucs_status_t status = UCS_OK;
    visit(offset, length, [&](const std::byte* from, std::size_t part) {
        status = ucs::memory::copy_any(to, from, part);
        to += part;
        return status == UCS_OK;
    });
    return status;
}

ucs_status_t iov_cursor::write(std::size_t offset, const void* from, std::size_t length) noexcept {
    const auto* source = static_cast<const std::byte*>(from);
    ucs_status_t status = UCS_OK;
    visit(offset, length, [&](std::byte* to, std::size_t part) {
        status = ucs::memory::copy_any(to, source, part);
        source += part;
        return status == UCS_OK;
    });
    return status;
}

piece_list iov_cursor::pieces(std::size_t offset, std::size_t length,
                              std::span<uct::iov> out) noexcept {
    piece_list list;
    visit(offset, length, [&](std::byte* base, std::size_t part) {
        if (list.count == out.size()) return false;
        out[list.count++] = {base, part};
        list.length += part;
        return true;
    });
    return list;
}

}  // namespace ucp::dt
