// A memory segment that two processes share.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "ucs/type/result.hpp"
#include "ucs/type/unique_fd.hpp"
#include "uct/sm/base/memfd.hpp"

namespace uct::posix {

// Owns one shared mapping. The memory is a sealed memfd: it cannot shrink, so accessing it cannot
// raise SIGBUS, and it disappears with its last user. Move only; owner context.
class segment {
public:
    segment() noexcept = default;
    segment(segment&& other) noexcept
        : base_(std::exchange(other.base_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    segment& operator=(segment&& other) noexcept {
        std::swap(base_, other.base_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~segment();

    struct created;
    // Creates `size` bytes of zeros without touching a page. Failures are logged.
    static ucs::result<created> create(std::size_t size);

    struct attached;
    // Maps what a peer sent after checking that it is a sealed memfd of `size` bytes.
    static attached attach(int fd, std::size_t size);

    [[nodiscard]] std::byte* base() const noexcept { return base_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool holds(const std::byte* place) const noexcept {
        const std::less<const std::byte*> before;
        return !before(place, base_) && before(place, base_ + size_);
    }

private:
    segment(std::byte* base, std::size_t size) noexcept : base_(base), size_(size) {}
    std::byte* base_ = nullptr;
    std::size_t size_ = 0;
};

// A new segment, and its descriptor for the peer.
struct segment::created {
    segment memory;
    ucs::unique_fd fd;
};

// A peer's segment, or the reason why it is refused.
struct segment::attached {
    segment memory;
    std::string reason;
};

// Returns a sealable memfd, or a descriptor of -1 with errno set.
[[nodiscard]] ucs::unique_fd make_memfd() noexcept;

using sm::status_of_errno;

}  // namespace uct::posix
