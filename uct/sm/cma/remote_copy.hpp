// Copies between this process and another by process_vm_readv and process_vm_writev.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <span>

#include "uct/api/types.hpp"

namespace uct::cma {

// Splits pieces of memory into chunks for one call each: at most `max_pieces` pieces and `limit`
// bytes. Pure value.
class piece_cursor {
public:
    static constexpr std::size_t max_pieces = 256;

    piece_cursor(std::span<const iov> pieces, std::size_t limit) noexcept
        : pieces_(pieces), limit_(limit) {}

    // The next chunk; empty at the end.
    [[nodiscard]] std::span<const iovec> chunk() noexcept;

    // Advances by the copied bytes of the chunk.
    void advance(std::size_t bytes) noexcept;

private:
    std::span<const iov> pieces_;
    std::size_t limit_;
    std::size_t offset_ = 0;  // in the first piece
    std::array<iovec, max_pieces> chunk_;
};

// A process, and the address and value of a cookie in its memory that no other process has there.
struct remote_process {
    pid_t pid = 0;
    std::uint64_t cookie_at = 0;
    std::uint64_t cookie = 0;
};

// The outcome of a copy. `error` is an errno, or 0 if there is another reason.
struct copy_outcome {
    enum class kind {
        done,
        refused,        // the system refuses access
        other_process,  // the process id now belongs to another process
        bad_address,    // the process is right, but the memory is not accessible
    } type = kind::done;
    int error = 0;
};

// Read or write `remote_address`. Each operation checks the process, so that a reused process id is
// detected: reads in the same call, writes before.
[[nodiscard]] copy_outcome read_remote(const remote_process& from, std::uint64_t remote_address,
                                       std::span<const iov> into, std::size_t limit) noexcept;
[[nodiscard]] copy_outcome write_remote(const remote_process& to, std::uint64_t remote_address,
                                        std::span<const iov> from, std::size_t limit) noexcept;

}  // namespace uct::cma
