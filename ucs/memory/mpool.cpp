#include "ucs/memory/mpool.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "ucs/log/log.hpp"
#include "ucs/type/allocated.hpp"

namespace ucs::memory {
namespace {

constinit log::component self{"ucs.memory"};

constexpr std::size_t line = 64;

constexpr std::size_t round_up(std::size_t value, std::size_t step) noexcept {
    return (value + step - 1) / step * step;
}

class heap_source final : public chunk_source {
public:
    void* allocate(std::size_t& size) noexcept override {
        size = round_up(size, line);
        return std::aligned_alloc(line, size);
    }
    void release(void* chunk, std::size_t) noexcept override { std::free(chunk); }
};

constinit heap_source the_heap;

}  // namespace

chunk_source& chunk_source::heap() noexcept {
    return the_heap;
}

mpool::mpool(const parameters& params) noexcept
    : next_count_(std::max<std::size_t>(params.grow_by, 1)), params_(params) {
    params_.alignment = std::max(std::bit_ceil(params_.alignment), alignof(void*));
    assert(params_.align_offset <= params_.element_size);
    if (params_.source == nullptr) params_.source = &the_heap;
}

mpool::~mpool() {
    if (in_use_ != 0) {
        log::warn(self, "pool {} is destroyed while {} of its {} elements are in use", params_.name,
                  in_use_, capacity_);
    }
    for (const chunk& each : chunks_) {
        for (std::size_t i = 0; params_.destroy != nullptr && i < each.count; ++i) {
            params_.destroy(each.first + i * stride() + sizeof(header), params_.arg);
        }
        params_.source->release(each.memory, each.bytes);
    }
}

std::size_t mpool::stride() const noexcept {
    return round_up(sizeof(header) + params_.element_size, params_.alignment);
}

std::size_t mpool::chunk_bytes() const noexcept {
    std::size_t sum = 0;
    for (const chunk& each : chunks_)
        sum += each.bytes;
    return sum;
}

mpool::header* mpool::grow() noexcept {
    const std::size_t count = std::min(next_count_, params_.max_elements - capacity_);
    if (count == 0) return nullptr;
    chunk fresh{nullptr, 0, nullptr, count};
    if (__builtin_mul_overflow(count, stride(), &fresh.bytes) ||
        __builtin_add_overflow(fresh.bytes, params_.alignment, &fresh.bytes)) {
        return nullptr;
    }
    if (!allocated([&] { chunks_.reserve(chunks_.size() + 1); })) return nullptr;
    fresh.memory = params_.source->allocate(fresh.bytes);
    if (fresh.memory == nullptr) {
        log::debug(self, "pool {} cannot grow by {} elements of {} bytes", params_.name, count,
                   params_.element_size);
        return nullptr;
    }
    fill(fresh);
    chunks_.push_back(fresh);
    next_count_ = std::max(next_count_, std::min(next_count_ * 2, params_.grow_limit));
    return free_;
}

// Places the first element so that its aligned byte is on the first aligned address that leaves
// room for the header. The stride aligns the other elements.
void mpool::fill(chunk& fresh) noexcept {
    const auto base = reinterpret_cast<std::uintptr_t>(fresh.memory);
    const std::uintptr_t lead = sizeof(header) + params_.align_offset;
    const std::uintptr_t aligned = round_up(base + lead, params_.alignment);
    fresh.first = static_cast<char*>(fresh.memory) + (aligned - lead - base);
    // If the source rounded the size up, use the extra bytes.
    const std::size_t usable =
        fresh.bytes - static_cast<std::size_t>(fresh.first - static_cast<char*>(fresh.memory));
    fresh.count = std::min(usable / stride(), params_.max_elements - capacity_);
    for (std::size_t i = fresh.count; i-- > 0;) {
        auto* element = reinterpret_cast<header*>(fresh.first + i * stride());
        if (params_.construct != nullptr) {
            params_.construct(element + 1, fresh.memory, params_.arg);
        }
        element->next = free_;
        free_ = element;
    }
    capacity_ += fresh.count;
}

bool mpool::reserve(std::size_t count) noexcept {
    while (capacity_ - in_use_ < count) {
        // grow() puts the new elements in front, so nothing that is free is lost.
        if (grow() == nullptr || capacity_ == params_.max_elements) break;
    }
    return capacity_ - in_use_ >= count;
}

}  // namespace ucs::memory
