// Copying between this process and another by process_vm_readv and process_vm_writev.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <span>

#include "uct/api/types.hpp"

namespace uct::cma {

// Walks through pieces of memory in chunks that one call takes: at most `max_pieces` pieces and
// `limit` bytes. Pure value.
class piece_cursor {
public:
    static constexpr std::size_t max_pieces = 256;

    piece_cursor(std::span<const iov> pieces, std::size_t limit) noexcept
        : pieces_(pieces), limit_(limit) {}

    // The next chunk; empty at the end.
    [[nodiscard]] std::span<const iovec> chunk() noexcept;

    // Moves on by what was really copied of the chunk.
    void advance(std::size_t bytes) noexcept;

private:
    std::span<const iov> pieces_;
    std::size_t limit_;
    std::size_t offset_ = 0;  // in the first piece
    std::array<iovec, max_pieces> chunk_;
};

// A process and a number in its memory that only the right process has there.
struct remote_process {
    pid_t pid = 0;
    std::uint64_t cookie_at = 0;
    std::uint64_t cookie = 0;
};

// How a copy ended. `error` is errno, 0 when the reason is another.
struct copy_outcome {
    enum class kind {
        done,
        refused,      // the system does not let this process in
        stranger,     // the process id now belongs to somebody else
        bad_address,  // the right process, but not that memory
    } type = kind::done;
    int error = 0;
};

// Reads or writes `remote_address`. Which process it is is checked in every operation, so that a
// process id in new hands is found out: for reads in the same call, for writes before.
[[nodiscard]] copy_outcome read_remote(const remote_process& from, std::uint64_t remote_address,
                                       std::span<const iov> into, std::size_t limit) noexcept;
[[nodiscard]] copy_outcome write_remote(const remote_process& to, std::uint64_t remote_address,
                                        std::span<const iov> from, std::size_t limit) noexcept;

}  // namespace uct::cma
