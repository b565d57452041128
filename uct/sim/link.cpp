#include "uct/sim/link.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "uct/base/atomic_value.hpp"
#include "uct/sim/node.hpp"

namespace uct::sim {

link::link(std::uint64_t number_, const node& from_, node_id to_, sim_ep* owner_) noexcept
    : number(number_), from(from_.id), to(to_), paired(from_.paired), owner(owner_) {}

namespace {

// Leaves in `bytes` what was there.
template<class Word>
void change_word(const atomic_op& how, std::byte* bytes, void* there) noexcept {
    Word was;
    std::memcpy(&was, there, sizeof was);
    const Word after = value_after<Word>(how, was);
    std::memcpy(there, &after, sizeof after);
    std::memcpy(bytes, &was, sizeof was);
}

// Reads what lies there now, as a device does. Who broke off a send has its memory back while a
// peer may still read it (docs/protocols.md), and may have freed it since: the kernel copies, which
// minds neither that nor pages that are gone. What cannot be read leaves the place as it is.
void read_remote(const iov& into, void* from) noexcept {
    const ::iovec local{into.base, into.length};
    const ::iovec remote{from, into.length};
    if (::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) < 0 && errno != EFAULT)
        std::memmove(into.base, from, into.length);  // a system where such calls are filtered
}

}  // namespace

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
            read_remote(piece, remote);
        } else {
            std::memmove(remote, piece.base, piece.length);
        }
        remote += piece.length;
    }
}

void operation::serve() noexcept {
    auto* const there = reinterpret_cast<std::byte*>(remote_address);
    if (length == 0) return;
    if (kind == op_kind::get) {
        std::memcpy(data.get(), there, length);
    } else if (kind == op_kind::put) {
        gather();
        std::memcpy(there, data.get(), length);
    } else if (change.size == sizeof(std::uint32_t)) {
        change_word<std::uint32_t>(change, data.get(), there);
    } else {
        change_word<std::uint64_t>(change, data.get(), there);
    }
}

void operation::take_answer() noexcept {
    const std::byte* from = data.get();
    for (const iov& piece : pieces) {
        if (piece.length > 0) std::memcpy(piece.base, from, piece.length);
        from += piece.length;
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
