#include "ucg/node/reading.hpp"

#include <cstring>

namespace ucg::node {

// What more than one other rank needs is read faster from a slot, where it stays in the cache.
bool reading::pays(const call& what, const geometry& like, const tuning& by) noexcept {
    if (what.what != schedule::collective::alltoall && like.ranks > 2) return false;
    std::uint64_t shortest = block_count(what, 0), all = 0;
    for (rank_t rank = 0; rank < like.ranks; ++rank) {
        shortest = std::min(shortest, block_count(what, rank));
        all += block_count(what, rank);
    }
    return shortest * what.element >= by.read_bytes && all * what.element < by.most_read_bytes;
}

reading::reading(const call& what, const domains& who, const neighbours& others)
    : pattern(what, who), others_(others), blocks_(portions_of(what, who.ranks(), 1)) {
    how_.bytes = sizeof(std::uint64_t);
    how_.works = 1;
    how_.awaits = {who.others(), who.others()};
    if (what.in_place && deals()) spare_.reset(new std::byte[place(ranks_ - 1) + bytes(0)]);
}

void reading::give(std::uint64_t, const places& at) noexcept {
    const std::byte* from = input();
    if (spare_ != nullptr) {
        std::memcpy(spare_.get(), from, place(ranks_ - 1) + bytes(0));
        from = spare_.get();
    } else if (what_.in_place) {
        from += place(me_);  // of an allgather
    } else {
        std::memcpy(output() + place(me_), deals() ? from + place(me_) : from, bytes(me_));
    }
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(from));
    std::memcpy(at.of(me_), &address, sizeof address);
}

ucs_status_t reading::work(unsigned, std::uint64_t, const places& at) noexcept {
    for (const rank_t of : who_.others()) {
        std::uint64_t address = 0;
        std::memcpy(&address, at.of(of), sizeof address);
        if (deals()) address += place(me_);
        const ucs_status_t status = others_.read(of, address, output() + place(of), bytes(of));
        if (status != UCS_OK) return status;
    }
    return UCS_OK;
}

}  // namespace ucg::node
