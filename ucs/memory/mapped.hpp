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

    // Maps zeroed private memory. The size is rounded up to pages.
    static result<mapped> anonymous(std::size_t size);

    // Maps the first `size` bytes of a file, shared. The caller must have checked that the file is
    // that long and sealed against shrinking: an access beyond its end kills the process.
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

// Creates a memory file of `size` bytes (rounded up to pages), sealed so that its size cannot
// change: a peer that maps it is safe from faults. `name` appears in /proc/PID/maps.
result<unique_fd> make_memory_file(const char* name, std::size_t size);

// Returns the size of a memory file that a peer sent. Returns UCS_ERR_INVALID_PARAM unless the file
// has ordinary pages, is sealed against shrinking, and has at least `least` bytes. Huge pages are
// refused: a peer may punch holes into the file, and an access to a hole kills the process if no
// huge page is free.
result<std::size_t> check_memory_file(int fd, std::size_t least);

}  // namespace ucs::memory
