#include "ucp/am/block.hpp"

#include <algorithm>
#include <limits>
#include <new>

#include "ucs/sys/usable_memory.hpp"

namespace ucp {

namespace {

constexpr std::size_t smallest_alignment = 16;

// Greater than the memory of any machine, but sums with it do not overflow.
constexpr std::size_t too_long = std::numeric_limits<std::size_t>::max() / 2;

std::size_t capacity_for(std::size_t length, std::size_t header_length) noexcept {
    return wire::padded_length(length) + header_length;
}

}  // namespace

am_block_pool::am_block_pool(std::size_t alignment) noexcept
    : wanted_(alignment), alignment_(std::max(alignment, smallest_alignment)) {}

am_block_pool::~am_block_pool() {
    while (!spare_.empty()) {
        am_block& unused = spare_.front();
        spare_.pop_front();
        free(unused);
    }
}

std::uint64_t am_block_pool::cost_of(std::size_t length, std::size_t header_length) const noexcept {
    if (length > too_long) return too_long;
    return ucs::sys::heap_cost(bytes_for(std::max(capacity_for(length, header_length), small)));
}

am_block* am_block_pool::get(std::size_t length, std::size_t header_length) noexcept {
    if (length > too_long) return nullptr;
    const std::size_t needed = capacity_for(length, header_length);
    am_block* taken;
    if (needed <= small && !spare_.empty()) {
        taken = &spare_.front();
        spare_.pop_front();
        --spare_count_;
    } else {
        taken = make(std::max(needed, small));
        if (taken == nullptr) return nullptr;
    }
    taken->length = length;
    return taken;
}

am_block* am_block_pool::make(std::size_t capacity) noexcept {
    void* const memory = ::operator new(bytes_for(capacity), std::nothrow);
    if (memory == nullptr) return nullptr;
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t data = (begin + sizeof(am_block) + alignment_ - 1) & ~(alignment_ - 1);
    auto* const made = ::new (reinterpret_cast<void*>(data - sizeof(am_block))) am_block;
    made->shift = static_cast<std::uint32_t>(data - sizeof(am_block) - begin);
    made->recycled = capacity == small;
    return made;
}

void am_block_pool::put(am_block& done) noexcept {
    done.sender_hook.unlink();
    done.kept_hook.unlink();
    if (!done.recycled || spare_count_ == most_spare) {
        free(done);
        return;
    }
    done.rts = {};
    done.lost_status = UCS_OK;
    done.state = am_block::use::in_handler;
    spare_.push_front(done);
    ++spare_count_;
}

void am_block_pool::free(am_block& done) noexcept {
    void* const memory = reinterpret_cast<std::byte*>(&done) - done.shift;
    done.~am_block();
    ::operator delete(memory);
}

}  // namespace ucp
