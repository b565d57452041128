#include "ucp/tag/message.hpp"

#include <cstring>
#include <new>

namespace ucp {

bool message::keep(std::size_t offset, const std::byte* data, std::size_t length) noexcept {
    try {
        fragments.push_back({offset, length, std::make_unique_for_overwrite<std::byte[]>(length)});
    } catch (const std::bad_alloc&) {
        return false;
    }
    std::memcpy(fragments.back().data.get(), data, length);
    return true;
}

}  // namespace ucp
