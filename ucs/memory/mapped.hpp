// Pages of memory and memory files.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "ucs/type/result.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucs::memory {

[[nodiscard]] std::size_t page_size() noexcept;

// Owns a range of mapped pages and unmaps it. Move only.
class mapped {
public:
    enum class access { read_only, read_write };

    mapped() noexcept = default;
    mapped(mapped&& other) noexcept
        : address_(std::exchange(other.address_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    mapped& operator=(mapped&& other) noexcept {
        if (this != &other) {
            reset();
            address_ = std::exchange(other.address_, nullptr);
            size_ = std::exchange(other.size_, 0);
        }
        return *this;
    }
    ~mapped() { reset(); }

    // Zeroed private memory; sizes are rounded up to pages.
    static result<mapped> anonymous(std::size_t size);

    // `size` bytes of a file from its begin, shared. The caller has checked that the file is that
    // long and sealed against shrinking: touching pages beyond its end kills the process.
    static result<mapped> file(int fd, std::size_t size, access rights = access::read_write);

    void reset() noexcept;
    [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(address_); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {data(), size_}; }
    explicit operator bool() const noexcept { return address_ != nullptr; }

private:
    mapped(void* address, std::size_t size) noexcept : address_(address), size_(size) {}
    static result<mapped> map(std::size_t size, int protection, int flags, int fd);

    void* address_ = nullptr;
    std::size_t size_ = 0;
};

// A memory file of `size` bytes (rounded up to pages), sealed so that nobody can change its size
// any more: a peer that maps it cannot be made to fault. `name` shows in /proc/PID/maps.
result<unique_fd> make_memory_file(const char* name, std::size_t size);

// The size of a memory file that came from a peer; UCS_ERR_INVALID_PARAM unless it has ordinary
// pages, is sealed against shrinking and at least `least` bytes long. Huge pages are refused: a
// peer may punch holes into the file, and a touched hole kills the process while no huge page is
// free.
result<std::size_t> check_memory_file(int fd, std::size_t least);

}  // namespace ucs::memory
