// Operations that go on after the call that began them.
#pragma once

#include <mpi.h>

#include "ucg/mpi/served.hpp"

namespace ucg::mpi {

// One start: MPI sees it as a generalized request, which is completed when it has settled.
class operation : public ending {
public:
    // `what` is moved in.
    operation(served& of, prepared&& what);
    operation(const operation&) = delete;
    operation& operator=(const operation&) = delete;
    ~operation() override;

    // Begins it; *request is MPI's. On failure there is none, and `this` is still the caller's.
    int start(MPI_Request* request);

    void settle() noexcept override;

    // Of a persistent one: ucg's request is its own.
    ucs_status_t own_request();

protected:
    // MPI is done with the request of this start.
    virtual void dropped() noexcept { delete this; }
    [[nodiscard]] bool is_running() const noexcept {
        return running_.load(std::memory_order_acquire);
    }

private:
    static int on_query(void* self, MPI_Status* status);
    static int on_drop(void* self);
    static int on_cancel(void* self, int complete);

    served& of_;
    prepared what_;
    std::unique_ptr<kept_request> own_;
    kept_request* with_ = nullptr;
    MPI_Request handle_ = MPI_REQUEST_NULL;
    int error_ = MPI_SUCCESS;
    std::atomic<bool> running_{false};
};

}  // namespace ucg::mpi
