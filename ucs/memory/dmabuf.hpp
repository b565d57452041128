// dma-buf: device memory that is shared through a file descriptor (for RDMA since Linux 5.12).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ucs/type/unique_fd.hpp"

namespace ucs::memory {

// The exported buffer that holds a range of memory.
struct dmabuf {
    unique_fd descriptor;
    std::uint64_t offset = 0;  // offset of the memory's first byte in the buffer
};

// Finds the exported buffer for addresses whose memory the kernel cannot pin, such as that of a
// GPU. Implemented by code that allocates or recognizes such memory. Any thread.
class dmabuf_source {
public:
    virtual ~dmabuf_source() = default;

    // Returns the buffer that holds the whole range; nullopt if the memory is not from this source,
    // or its device does not export it (the source then logs that).
    //
    // Must not change the list of sources. A registration through a buffer lasts until the memory
    // is unmapped: code that frees the buffer must unmap it, so that ucm reports the event.
    virtual std::optional<dmabuf> find(const void* address, std::size_t length) noexcept = 0;
};

// Add and remove a source. find_dmabuf() asks the newest source first. A source must be removed
// before it is destroyed. Any thread. May throw std::bad_alloc.
void add_dmabuf_source(dmabuf_source& source);
void remove_dmabuf_source(dmabuf_source& source) noexcept;

// Returns the buffer from the first source that has it. Costs one load if there is no source. Any
// thread.
[[nodiscard]] std::optional<dmabuf> find_dmabuf(const void* address, std::size_t length) noexcept;

}  // namespace ucs::memory
