#include "ucg/mpi/exchange.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <new>
#include <vector>

namespace ucg::mpi {

// MPI cannot cancel a collective. So each round owns the memory that MPI accesses, and a cancelled
// round keeps it.
struct exchange::round {
    std::vector<char> send, recv;
    void* result;  // the receive buffer of the caller
    MPI_Request request = MPI_REQUEST_NULL;
    bool is_posted = false;
    ucs_status_t status = UCS_INPROGRESS;

    round(const void* from, void* into, std::size_t bytes, std::uint32_t ranks)
        : send(std::max<std::size_t>(bytes, 1)),
          recv(std::max<std::size_t>(bytes * ranks, 1)),
          result(into) {
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
    auto* const exchange_ref = static_cast<exchange*>(self);
    auto* const current = static_cast<round*>(request);
    if (current->status != UCS_INPROGRESS ||
        !exchange_ref->is_open_.load(std::memory_order_acquire))
        return current->status;
    const std::size_t bytes = current->recv.size() / exchange_ref->size_;
    if (!current->is_posted) {
        if (PMPI_Iallgather(current->send.data(), static_cast<int>(bytes), MPI_BYTE,
                            current->recv.data(), static_cast<int>(bytes), MPI_BYTE,
                            exchange_ref->comm_, &current->request) != MPI_SUCCESS)
            return current->status = UCS_ERR_IO_ERROR;
        current->is_posted = true;
    }
    int done = 0;
    if (PMPI_Test(&current->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
        current->status = UCS_ERR_CONNECTION_RESET;
    } else if (done != 0) {
        std::memcpy(current->result, current->recv.data(), bytes * exchange_ref->size_);
        current->status = UCS_OK;
    }
    return current->status;
}

void exchange::release(void*, void* request) {
    auto* const current = static_cast<round*>(request);
    if (current->request == MPI_REQUEST_NULL) delete current;
}

}  // namespace ucg::mpi
