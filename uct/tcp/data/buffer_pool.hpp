// Equal-sized byte buffers that connections borrow while they hold unfinished bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace uct::tcp {

using buffer = std::unique_ptr<std::byte[]>;

// Keeps a few free buffers for reuse. A connection takes a buffer when it has unfinished bytes and
// gives it back afterwards, so an idle connection has none. Owned by the interface; owner context.
class buffer_pool {
public:
    explicit buffer_pool(std::size_t buffer_size) : size_(buffer_size) { free_.reserve(kept); }

    [[nodiscard]] std::size_t buffer_size() const noexcept { return size_; }

    // Returns a free or a new buffer; nullptr if there is no memory.
    [[nodiscard]] buffer take() noexcept {
        if (free_.empty()) return buffer(new (std::nothrow) std::byte[size_]);
        buffer taken = std::move(free_.back());
        free_.pop_back();
        return taken;
    }

    void give(buffer back) noexcept {
        if (free_.size() < kept) free_.push_back(std::move(back));
    }

private:
    static constexpr std::size_t kept = 8;
    std::size_t size_;
    std::vector<buffer> free_;
};

}  // namespace uct::tcp
