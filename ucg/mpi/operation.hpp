// Operations that continue after the call that started them.
#pragma once

#include <mpi.h>

#include "ucg/mpi/comm_state.hpp"

namespace ucg::mpi {

// One started operation. MPI sees it as a generalized request, which completes when the operation
// has settled.
class operation : public ended_operation {
public:
    // Takes over `call`.
    operation(comm_state& comm, prepared_call&& call);
    operation(const operation&) = delete;
    operation& operator=(const operation&) = delete;
    ~operation() override;

    // Starts the operation; *request receives the MPI request. On failure there is no request, and
    // the caller still owns `this`.
    int start(MPI_Request* request);

    void settle() noexcept override;

    // Creates a request of ucg that this operation owns, for a persistent operation.
    ucs_status_t own_request();

protected:
    // Called when MPI has freed the request of this start.
    virtual void dropped() noexcept { delete this; }
    [[nodiscard]] bool is_running() const noexcept {
        return running_.load(std::memory_order_acquire);
    }

private:
    static int on_query(void* self, MPI_Status* status);
    static int on_free_request(void* self);
    static int on_cancel(void* self, int complete);

    comm_state& comm_;
    prepared_call call_;
    std::unique_ptr<cached_request> own_request_;
    cached_request* request_ = nullptr;
    MPI_Request handle_ = MPI_REQUEST_NULL;
    int error_ = MPI_SUCCESS;
    std::atomic<bool> running_{false};
};

}  // namespace ucg::mpi
