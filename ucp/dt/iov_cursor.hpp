// Position in a list of pieces.
#pragma once

#include <ucp/api/ucp_dt.h>

#include <cstddef>
#include <span>

#include "ucs/type/status.h"
#include "uct/api/types.hpp"

namespace ucp::dt {

// Describes a part of a buffer as pieces of memory.
struct piece_list {
    std::size_t count = 0;   // pieces written
    std::size_t length = 0;  // bytes they cover; fewer than requested if the output array was full
};

// Moves along the pieces in either direction, so sequential access costs O(pieces) in total.
// The pieces belong to the program. Owner context.
class iov_cursor {
public:
    explicit iov_cursor(const ucp_dt_iov_t* pieces) noexcept : pieces_(pieces) {}

    // Copies `length` bytes from or to `offset` of the list, whose pieces may lie in memory of
    // devices. The range must lie within the list. Returns UCS_OK or the first error of a device,
    // which is logged.
    ucs_status_t read(std::size_t offset, void* into, std::size_t length) noexcept;
    ucs_status_t write(std::size_t offset, const void* from, std::size_t length) noexcept;

    // Leaves out empty pieces.
    piece_list pieces(std::size_t offset, std::size_t length, std::span<uct::iov> out) noexcept;

private:
    void seek(std::size_t offset) noexcept;
    template<class Function>
    void visit(std::size_t offset, std::size_t length, Function f) noexcept;

    const ucp_dt_iov_t* pieces_;
    std::size_t index_ = 0;
    std::size_t start_ = 0;  // offset of the first byte of piece index_
};

}  // namespace ucp::dt
