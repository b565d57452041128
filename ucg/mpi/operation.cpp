#include "ucg/mpi/operation.hpp"

namespace ucg::mpi {

operation::operation(comm_state& comm, prepared_call&& call) : comm_(comm), call_(std::move(call)) {
    comm_.hold();
}

operation::~operation() {
    own_request_.reset();
    comm_.release();
}

ucs_status_t operation::own_request() {
    return comm_.make_request(call_, own_request_);
}

int operation::start(MPI_Request* request) {
    int status = call_.keep_types();
    if (status == MPI_SUCCESS) status = call_.before();
    if (status != MPI_SUCCESS) return status;
    request_ = own_request_.get();
    if (request_ == nullptr) {
        const ucs_status_t status_of_get = comm_.get(call_, request_);
        if (status_of_get != UCS_OK)
            return comm_.fail(ucg_coll_name(call_.args.coll), status_of_get);
    }
    error_ = MPI_SUCCESS;
    status = PMPI_Grequest_start(on_query, on_free_request, on_cancel, this, &handle_);
    if (status != MPI_SUCCESS) return status;
    *request = handle_;
    request_->busy.store(true, std::memory_order_relaxed);
    request_->owner = this;
    running_.store(true, std::memory_order_relaxed);
    progress_engine().started();
    // settle() handles the result, even if the operation ends at once.
    const ucs_status_t begun = ucg_request_start(request_->request);
    if (begun != UCS_OK) {
        error_ = comm_.fail(ucg_coll_name(call_.args.coll), begun);
        progress_engine().ended(*this);
    }
    static_cast<void>(progress_engine().advance());
    return MPI_SUCCESS;
}

void operation::settle() noexcept {
    if (error_ == MPI_SUCCESS) {
        const ucs_status_t ended = ucg_request_test(request_->request);
        error_ =
            ended != UCS_OK ? comm_.fail(ucg_coll_name(call_.args.coll), ended) : call_.after();
    }
    request_->owner = nullptr;
    request_->busy.store(false, std::memory_order_release);
    const MPI_Request handle = handle_;
    running_.store(false, std::memory_order_release);
    progress_engine().settled();
    // From here on another thread may complete and free the request.
    PMPI_Grequest_complete(handle);
}

int operation::on_query(void* self, MPI_Status* status) {
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    // MPICH also reads the error here, because it has not set one itself.
    status->MPI_ERROR = static_cast<operation*>(self)->error_;
    return status->MPI_ERROR;
}

int operation::on_free_request(void* self) {
    static_cast<operation*>(self)->dropped();
    return MPI_SUCCESS;
}

// MPI does not allow collectives to be cancelled.
int operation::on_cancel(void*, int) {
    return MPI_SUCCESS;
}

}  // namespace ucg::mpi
