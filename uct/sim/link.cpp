#include "uct/sim/link.hpp"

#include <algorithm>
#include <cstring>

namespace uct::sim {

void operation::gather() noexcept {
    for (const iov& piece : pieces) {
        if (piece.length > 0) std::memcpy(data.get() + copied, piece.base, piece.length);
        copied += piece.length;
    }
    pieces.clear();
}

void operation::access_remote() const noexcept {
    auto* remote = reinterpret_cast<std::byte*>(remote_address);
    for (const iov& piece : pieces) {
        if (piece.length == 0) continue;
        if (kind == op_kind::get) {
            std::memmove(piece.base, remote, piece.length);
        } else {
            std::memmove(remote, piece.base, piece.length);
        }
        remote += piece.length;
    }
}

std::size_t link::window_use() const noexcept {
    return static_cast<std::size_t>(
        std::count_if(outstanding.begin(), outstanding.end(),
                      [](const operation_ptr& o) { return o->kind != op_kind::flush; }));
}

bool link::in_flight(const operation& which) const noexcept {
    return std::any_of(outstanding.begin(), outstanding.end(),
                       [&which](const operation_ptr& o) { return o.get() == &which; });
}

bool link::end(const operation& which) noexcept {
    return std::erase_if(outstanding,
                         [&which](const operation_ptr& o) { return o.get() == &which; }) > 0;
}

std::vector<operation_ptr> link::take_finished_flushes() {
    // Serial numbers grow along the list, so the flushes before the first other operation have
    // nothing left to wait for.
    const auto first_busy =
        std::find_if(outstanding.begin(), outstanding.end(),
                     [](const operation_ptr& o) { return o->kind != op_kind::flush; });
    std::vector<operation_ptr> finished(outstanding.begin(), first_busy);
    outstanding.erase(outstanding.begin(), first_busy);
    return finished;
}

}  // namespace uct::sim
