#include "ucp/tag/message.hpp"

#include <cstring>

#include "ucs/type/allocated.hpp"

namespace ucp {

bool message::keep(std::size_t offset, const std::byte* data, std::size_t length) noexcept {
    const bool kept = ucs::allocated([&] {
        fragments.push_back({offset, length, std::make_unique_for_overwrite<std::byte[]>(length)});
    });
    if (!kept) return false;
    std::memcpy(fragments.back().data.get(), data, length);
    return true;
}

}  // namespace ucp
