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

// Applies the operation to the word in memory, and stores the old value in `bytes`.
template<class Word>
void change_word(const atomic_op& change, std::byte* bytes, void* memory) noexcept {
    Word was;
    std::memcpy(&was, memory, sizeof was);
    const Word after = value_after<Word>(change, was);
    std::memcpy(memory, &after, sizeof after);
    std::memcpy(bytes, &was, sizeof was);
}

// Reads memory as it is now, as a device does. A sender that cancelled its send may reuse or free
// the memory while a peer still reads it (docs/protocols.md). The kernel copies, because that fails
// safely for unmapped pages. If the memory cannot be read, the destination is unchanged.
void read_remote(const iov& into, void* from) noexcept {
    const ::iovec local{into.base, into.length};
    const ::iovec remote{from, into.length};
    if (::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) < 0 && errno != EFAULT)
        std::memmove(into.base, from, into.length);  // a system that filters this call
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
    auto* const memory = reinterpret_cast<std::byte*>(remote_address);
    if (length == 0) return;
    if (kind == op_kind::get) {
        std::memcpy(data.get(), memory, length);
    } else if (kind == op_kind::put) {
        gather();
        std::memcpy(memory, data.get(), length);
    } else if (change.size == sizeof(std::uint32_t)) {
        change_word<std::uint32_t>(change, data.get(), memory);
    } else {
        change_word<std::uint64_t>(change, data.get(), memory);
    }
}

void operation::take_result() noexcept {
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

bool link::in_flight(const operation& op) const noexcept {
    return std::any_of(outstanding.begin(), outstanding.end(),
                       [&op](const operation_ptr& o) { return o.get() == &op; });
}

bool link::end(const operation& op) noexcept {
    return std::erase_if(outstanding, [&op](const operation_ptr& o) { return o.get() == &op; }) > 0;
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
