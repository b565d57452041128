// What a group is made over: rounds on its communicator.
#pragma once

#include <mpi.h>
#include <ucg/api/ucg_oob.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ucg::mpi {

// All ranks of the communicator are in the call that makes the group, so nothing else comes between
// the rounds. But whichever thread moves ucg begins them: none is posted before open(), so that
// they come behind what the ranks agree by, in the same order on all. Lives as long as the group.
//
// ucg_oob_mpi.h is the same for programs, and no use here: it posts a round where it is begun, over
// a duplicate that is one more collective to make, and by functions of MPI that are this library's
// own here, which would move ucg from within ucg. What would be left to share is an allgather.
class exchange {
public:
    explicit exchange(MPI_Comm comm) noexcept : comm_(comm) {}
    exchange(const exchange&) = delete;
    exchange& operator=(const exchange&) = delete;

    // Valid as long as this.
    [[nodiscard]] ucg_oob_t as_oob(std::uint32_t rank, std::uint32_t size) noexcept;
    // From now on rounds go out.
    void open() noexcept { open_.store(true, std::memory_order_release); }

private:
    struct round;
    static ucs_status_t begin(void* self, const void* send, void* recv, std::size_t bytes,
                              void** request);
    static ucs_status_t test(void* self, void* request);
    static void release(void* self, void* request);

    const MPI_Comm comm_;
    std::uint32_t size_ = 0;
    std::atomic<bool> open_{false};
};

}  // namespace ucg::mpi
