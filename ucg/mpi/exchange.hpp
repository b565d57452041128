// The out-of-band exchange of a group: rounds over its communicator.
#pragma once

#include <mpi.h>
#include <ucg/api/ucg_oob.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ucg::mpi {

// All ranks of the communicator are in the call that creates the group, so no other collective
// comes between the rounds. Any thread that progresses ucg may begin a round, so no round is posted
// before open(): the rounds follow the collective by which the ranks agree, in the same order on
// all ranks. Lives as long as the group.
//
// ucg_oob_mpi.h does the same for programs. It cannot be used here: it posts a round when the round
// begins, it duplicates the communicator by another collective, and it calls functions of MPI that
// this library itself defines, which would progress ucg from within ucg.
class exchange {
public:
    explicit exchange(MPI_Comm comm) noexcept : comm_(comm) {}
    exchange(const exchange&) = delete;
    exchange& operator=(const exchange&) = delete;

    // Returns the exchange, which is valid as long as this object.
    [[nodiscard]] ucg_oob_t as_oob(std::uint32_t rank, std::uint32_t size) noexcept;
    // Allows rounds to be posted.
    void open() noexcept { is_open_.store(true, std::memory_order_release); }

private:
    struct round;
    static ucs_status_t begin(void* self, const void* send, void* recv, std::size_t bytes,
                              void** request);
    static ucs_status_t test(void* self, void* request);
    static void release(void* self, void* request);

    const MPI_Comm comm_;
    std::uint32_t size_ = 0;
    std::atomic<bool> is_open_{false};
};

}  // namespace ucg::mpi
