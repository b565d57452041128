#include "ucs/security/key.hpp"

#include <algorithm>

#include "ucs/security/sodium.hpp"

namespace ucs::security {

key key::random() noexcept {
    start_sodium();
    key made;
    randombytes_buf(made.data_.data(), made.data_.size());
    return made;
}

key key::from_text(std::string_view text) noexcept {
    key made;
    framed_hash({}, size).add(bytes_of("hawser key text")).add(bytes_of(text)).finish(made.data_);
    return made;
}

key key::derive(const key& parent, std::string_view purpose, bytes context) noexcept {
    key made;
    framed_hash(parent.data_, size).add(bytes_of(purpose)).add(context).finish(made.data_);
    return made;
}

key key::combine(const key& first, const key& second) noexcept {
    return derive(first, "hawser combined key", second.data_);
}

key::~key() {
    erase(data_);
}

bool key::operator==(const key& other) const noexcept {
    return sodium_memcmp(data_.data(), other.data_.data(), size) == 0;
}

worker_secret worker_secret::random() noexcept {
    start_sodium();
    worker_secret made;
    randombytes_buf(made.data_.data(), made.data_.size());
    return made;
}

worker_secret worker_secret::from_bytes(std::span<const std::byte, size> from) noexcept {
    worker_secret made;
    std::copy(from.begin(), from.end(), made.data_.begin());
    return made;
}

worker_secret::~worker_secret() {
    erase(data_);
}

key worker_secret::as_key() const noexcept {
    key made;
    framed_hash({}, key::size).add(bytes_of("hawser worker secret")).add(data_).finish(made.data_);
    return made;
}

bool worker_secret::operator==(const worker_secret& other) const noexcept {
    return sodium_memcmp(data_.data(), other.data_.data(), size) == 0;
}

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

std::string hex_text(bytes from) {
    std::string made(2 * from.size(), '\0');
    // sodium_bin2hex() writes a terminating zero, where the string has one anyway.
    sodium_bin2hex(made.data(), made.size() + 1, sodium_bytes(from), from.size());
    return made;
}

void erase(std::span<std::byte> memory) noexcept {
    sodium_memzero(memory.data(), memory.size());
}

}  // namespace ucs::security
