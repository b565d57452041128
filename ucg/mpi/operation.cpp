#include "ucg/mpi/operation.hpp"

namespace ucg::mpi {

operation::operation(served& of, prepared&& what) : of_(of), what_(std::move(what)) {
    of_.hold();
}

operation::~operation() {
    own_.reset();
    of_.release();
}

ucs_status_t operation::own_request() {
    return of_.make_request(what_, own_);
}

int operation::start(MPI_Request* request) {
    int status = what_.keep_types();
    if (status == MPI_SUCCESS) status = what_.before();
    if (status != MPI_SUCCESS) return status;
    with_ = own_.get();
    if (with_ == nullptr) {
        const ucs_status_t got = of_.get(what_, with_);
        if (got != UCS_OK) return of_.fail(ucg_coll_name(what_.args.coll), got);
    }
    error_ = MPI_SUCCESS;
    status = PMPI_Grequest_start(on_query, on_drop, on_cancel, this, &handle_);
    if (status != MPI_SUCCESS) return status;
    *request = handle_;
    with_->busy.store(true, std::memory_order_relaxed);
    with_->owner = this;
    running_.store(true, std::memory_order_relaxed);
    moving().started();
    // What it ended with comes to settle(), also if that is now.
    const ucs_status_t begun = ucg_request_start(with_->request);
    if (begun != UCS_OK) {
        error_ = of_.fail(ucg_coll_name(what_.args.coll), begun);
        moving().ended(*this);
    }
    static_cast<void>(moving().advance());
    return MPI_SUCCESS;
}

void operation::settle() noexcept {
    if (error_ == MPI_SUCCESS) {
        const ucs_status_t ended = ucg_request_test(with_->request);
        error_ = ended != UCS_OK ? of_.fail(ucg_coll_name(what_.args.coll), ended) : what_.after();
    }
    with_->owner = nullptr;
    with_->busy.store(false, std::memory_order_release);
    const MPI_Request handle = handle_;
    running_.store(false, std::memory_order_release);
    moving().settled();
    // From here on another thread may find it complete and drop it.
    PMPI_Grequest_complete(handle);
}

int operation::on_query(void* self, MPI_Status* status) {
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    // MPICH reads it also from here, where it has set nothing itself.
    status->MPI_ERROR = static_cast<operation*>(self)->error_;
    return status->MPI_ERROR;
}

int operation::on_drop(void* self) {
    static_cast<operation*>(self)->dropped();
    return MPI_SUCCESS;
}

// Collectives cannot be cancelled, as MPI has it.
int operation::on_cancel(void*, int) {
    return MPI_SUCCESS;
}

}  // namespace ucg::mpi
