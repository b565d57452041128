#include "ucs/security/mac.hpp"

#include "ucs/security/sodium.hpp"

namespace ucs::security {

tag authenticate(const key& secret, std::initializer_list<bytes> fields) noexcept {
    tag made;
    framed_hash hash(secret.data(), tag_size);
    for (const bytes field : fields)
        hash.add(field);
    hash.finish(made);
    return made;
}

bool same_tag(std::span<const std::byte, tag_size> left,
              std::span<const std::byte, tag_size> right) noexcept {
    return sodium_memcmp(left.data(), right.data(), tag_size) == 0;
}

}  // namespace ucs::security
