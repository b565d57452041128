#include "ucg/mpi/exchange.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <new>
#include <vector>

namespace ucg::mpi {

// MPI can neither cancel a collective nor forget one: the memory that it works in is the round's
// own, and stays with it where the round is given up.
struct exchange::round {
    std::vector<char> send, recv;
    void* wanted;  // where what came is to go
    MPI_Request request = MPI_REQUEST_NULL;
    bool posted = false;
    ucs_status_t status = UCS_INPROGRESS;

    round(const void* from, void* into, std::size_t bytes, std::uint32_t ranks)
        : send(std::max<std::size_t>(bytes, 1)),
          recv(std::max<std::size_t>(bytes * ranks, 1)),
          wanted(into) {
        if (bytes != 0) std::memcpy(send.data(), from, bytes);
    }
};

ucg_oob_t exchange::as_oob(std::uint32_t rank, std::uint32_t size) noexcept {
    size_ = size;
    ucg_oob_t made = UCG_OOB_INIT;
    made.rank = rank;
    made.size = size;
    made.allgather = begin;
    made.test = test;
    made.release = release;
    made.arg = this;
    return made;
}

ucs_status_t exchange::begin(void* self, const void* send, void* recv, std::size_t bytes,
                             void** request) {
    if (bytes > INT_MAX) return UCS_ERR_EXCEEDS_LIMIT;
    try {
        *request = new round(send, recv, bytes, static_cast<exchange*>(self)->size_);
        return UCS_OK;
    } catch (const std::bad_alloc&) {
        return UCS_ERR_NO_MEMORY;
    }
}

ucs_status_t exchange::test(void* self, void* request) {
    auto* const over = static_cast<exchange*>(self);
    auto* const of = static_cast<round*>(request);
    if (of->status != UCS_INPROGRESS || !over->open_.load(std::memory_order_acquire))
        return of->status;
    const std::size_t bytes = of->recv.size() / over->size_;
    if (!of->posted) {
        if (PMPI_Iallgather(of->send.data(), static_cast<int>(bytes), MPI_BYTE, of->recv.data(),
                            static_cast<int>(bytes), MPI_BYTE, over->comm_,
                            &of->request) != MPI_SUCCESS)
            return of->status = UCS_ERR_IO_ERROR;
        of->posted = true;
    }
    int done = 0;
    if (PMPI_Test(&of->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
        of->status = UCS_ERR_CONNECTION_RESET;
    } else if (done != 0) {
        std::memcpy(of->wanted, of->recv.data(), bytes * over->size_);
        of->status = UCS_OK;
    }
    return of->status;
}

void exchange::release(void*, void* request) {
    auto* const of = static_cast<round*>(request);
    if (of->request == MPI_REQUEST_NULL) delete of;
}

}  // namespace ucg::mpi
