#include "ucg/mpi/persistent.hpp"

#include "ucg/mpi/types.hpp"

namespace ucg::mpi {

int persistent::begin() {
    MPI_Request begun = MPI_REQUEST_NULL;
    const int status = start(&begun);
    if (status == MPI_SUCCESS) set_active(begun);
    return status;
}

void persistent::set_active(MPI_Request request) noexcept {
    if (active_ == MPI_REQUEST_NULL && request != MPI_REQUEST_NULL)
        persistent_requests().activated();
    if (active_ != MPI_REQUEST_NULL && request == MPI_REQUEST_NULL)
        persistent_requests().deactivated();
    active_ = request;
}

persistent_table& persistent_requests() noexcept {
    static auto* const all = new persistent_table;
    return *all;
}

persistent* persistent_table::find(MPI_Request handle) noexcept {
    if (none() || handle == MPI_REQUEST_NULL) return nullptr;
    const std::lock_guard guard(lock_);
    const auto found = all_.find(number_of(handle));
    return found == all_.end() ? nullptr : found->second.get();
}

int persistent_table::add(comm_state& comm, prepared_call&& call, MPI_Request* handle) {
    int status = call.keep_types();
    if (status != MPI_SUCCESS) return status;
    const ucg_coll_t coll = call.args.coll;
    std::unique_lock guard(lock_);
    auto made = std::make_unique<persistent>(comm, std::move(call), next_++);
    guard.unlock();
    if (const ucs_status_t got = made->own_request(); got != UCS_OK)
        return comm.fail(ucg_coll_name(coll), got);
    status = PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, 0, library().self_comm, handle);
    if (status != MPI_SUCCESS) return status;
    made->handle = *handle;
    guard.lock();
    all_.insert_or_assign(number_of(*handle), std::move(made));
    count_.store(all_.size(), std::memory_order_release);
    return MPI_SUCCESS;
}

int persistent_table::remove(MPI_Request* handle) noexcept {
    persistent* const found = find(*handle);
    auto pauses = usual_backoff();
    while (found->is_active())
        pauses.wait_unless(progress_engine().advance() != 0);
    MPI_Request left = found->active();
    if (left != MPI_REQUEST_NULL) PMPI_Wait(&left, MPI_STATUS_IGNORE);
    found->set_active(MPI_REQUEST_NULL);
    {
        const std::lock_guard guard(lock_);
        all_.erase(number_of(*handle));
        count_.store(all_.size(), std::memory_order_release);
    }
    return PMPI_Request_free(handle);
}

// A program must not finalise while an operation is active. Such operations are skipped, because
// other ranks may never join them.
void persistent_table::clear() noexcept {
    const std::lock_guard guard(lock_);
    for (auto each = all_.begin(); each != all_.end();) {
        if (each->second->is_active()) {
            ++each;
            continue;
        }
        MPI_Request left = each->second->active();
        if (left != MPI_REQUEST_NULL) PMPI_Wait(&left, MPI_STATUS_IGNORE);
        each->second->set_active(MPI_REQUEST_NULL);
        PMPI_Request_free(&each->second->handle);
        each = all_.erase(each);
    }
    count_.store(all_.size(), std::memory_order_release);
}

substituted_requests::substituted_requests(int count, MPI_Request* user) : user_(user) {
    if (persistent_requests().none_active() || count <= 0 || user == nullptr) return;
    const auto n = static_cast<std::size_t>(count);
    for (std::size_t i = 0; i < n; ++i) {
        persistent* const found = persistent_requests().find(user[i]);
        if (found == nullptr) continue;
        if (copy_.empty()) {
            copy_.assign(user, user + n);
            persistents_.resize(n);
        }
        persistents_[i] = found;
        copy_[i] = found->active();
    }
}

substituted_requests::~substituted_requests() {
    for (std::size_t i = 0; i < copy_.size(); ++i) {
        if (persistents_[i] != nullptr)
            persistents_[i]->set_active(copy_[i]);
        else
            user_[i] = copy_[i];
    }
}

}  // namespace ucg::mpi
