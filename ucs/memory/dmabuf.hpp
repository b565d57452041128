// Memory that devices share by a file descriptor (dma-buf, since Linux 5.12 for RDMA).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ucs/type/unique_fd.hpp"

namespace ucs::memory {

// Where some memory lies in a buffer that its device exports.
struct dmabuf {
    unique_fd descriptor;
    std::uint64_t offset = 0;  // of the memory's first byte, in bytes
};

// Knows which addresses of this process stand for memory that its processors cannot pin: that of a
// GPU, or of whatever else exports buffers. Implemented by what allocates or recognizes such
// memory. Any thread.
class dmabuf_source {
public:
    virtual ~dmabuf_source() = default;

    // May not change the list of sources. What is registered by a buffer stays so until the memory
    // of these addresses is unmapped: whoever frees the buffer unmaps it, which ucm hears of.
    //
    // The buffer that holds all of this memory; nothing: it is no memory of this source's, or its
    // device does not export it (then a line says so).
    virtual std::optional<dmabuf> find(const void* address, std::size_t length) noexcept = 0;
};

// Sources that whoever registers memory asks, the newest first. Each is removed before it is
// destroyed. Any thread; std::bad_alloc.
void add_dmabuf_source(dmabuf_source& source);
void remove_dmabuf_source(dmabuf_source& source) noexcept;

// Of the first source that has it. Costs one load where there is no source. Any thread.
[[nodiscard]] std::optional<dmabuf> find_dmabuf(const void* address, std::size_t length) noexcept;

}  // namespace ucs::memory
