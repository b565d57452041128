#include "uct/ib/ud/base/assembly.hpp"

#include <cstring>
#include <new>

namespace uct::ud {

bool assembly::reserve(std::size_t most) noexcept {
    if (bytes_ == nullptr) bytes_.reset(new (std::nothrow) std::byte[most]);
    return bytes_ != nullptr;
}

assembly::outcome assembly::add(bool first, bool last, std::span<const std::byte> part,
                                std::size_t most) noexcept {
    if (!reserve(most)) return outcome::no_memory;
    const bool in_order = first != open_;
    if (first) length_ = 0;
    if (!in_order || part.size() > most - length_) {
        open_ = false;
        return outcome::malformed;
    }
    if (!part.empty()) std::memcpy(bytes_.get() + length_, part.data(), part.size());
    length_ += part.size();
    open_ = !last;
    return last ? outcome::whole : outcome::part;
}

}  // namespace uct::ud
