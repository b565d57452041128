#include "ucg/schedule/frame_pool.hpp"

#include <bit>
#include <cstdlib>

namespace ucg::schedule {

std::size_t frame_pool::class_of(std::size_t bytes) noexcept {
    const std::size_t blocks = (bytes + smallest - 1) / smallest;
    return static_cast<std::size_t>(std::bit_width(blocks == 0 ? 0 : blocks - 1));
}

void* frame_pool::allocate(std::size_t bytes) noexcept {
    const std::size_t wanted = class_of(bytes);
    if (wanted < classes && free_[wanted] != nullptr) {
        header* taken = free_[wanted];
        free_[wanted] = taken->next;
        return taken + 1;
    }
    const std::size_t capacity = wanted < classes ? smallest << wanted : bytes;
    auto* made = static_cast<header*>(std::malloc(sizeof(header) + capacity));
    if (made == nullptr) return nullptr;
    *made = {this, nullptr, wanted};
    ++allocated_blocks_;
    return made + 1;
}

void frame_pool::release(void* block) noexcept {
    header* freed = static_cast<header*>(block) - 1;
    if (freed->size_class >= classes) {
        std::free(freed);
        return;
    }
    header*& first = freed->home->free_[freed->size_class];
    freed->next = first;
    first = freed;
}

frame_pool::~frame_pool() {
    for (header* first : free_) {
        while (first != nullptr) {
            header* next = first->next;
            std::free(first);
            first = next;
        }
    }
}

}  // namespace ucg::schedule
