#include "ucg/mpi/persistent.hpp"

#include "ucg/mpi/types.hpp"

namespace ucg::mpi {

int persistent::begin() {
    MPI_Request begun = MPI_REQUEST_NULL;
    const int status = start(&begun);
    if (status == MPI_SUCCESS) set_active(begun);
    return status;
}

void persistent::set_active(MPI_Request now) noexcept {
    if (active_ == MPI_REQUEST_NULL && now != MPI_REQUEST_NULL) persistent_requests().activated();
    if (active_ != MPI_REQUEST_NULL && now == MPI_REQUEST_NULL) persistent_requests().deactivated();
    active_ = now;
}

persistents& persistent_requests() noexcept {
    static auto* const all = new persistents;
    return *all;
}

persistent* persistents::find(MPI_Request handle) noexcept {
    if (none() || handle == MPI_REQUEST_NULL) return nullptr;
    const std::lock_guard guard(lock_);
    const auto found = all_.find(number_of(handle));
    return found == all_.end() ? nullptr : found->second.get();
}

int persistents::add(served& of, prepared&& what, MPI_Request* handle) {
    int status = what.keep_types();
    if (status != MPI_SUCCESS) return status;
    const ucg_coll_t coll = what.args.coll;
    std::unique_lock guard(lock_);
    auto made = std::make_unique<persistent>(of, std::move(what), next_++);
    guard.unlock();
    if (const ucs_status_t got = made->own_request(); got != UCS_OK)
        return of.fail(ucg_coll_name(coll), got);
    status = PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, 0, library().alone, handle);
    if (status != MPI_SUCCESS) return status;
    made->handle = *handle;
    guard.lock();
    all_.insert_or_assign(number_of(*handle), std::move(made));
    count_.store(all_.size(), std::memory_order_release);
    return MPI_SUCCESS;
}

int persistents::remove(MPI_Request* handle) noexcept {
    persistent* const which = find(*handle);
    patience waits;
    while (which->runs())
        waits.again(moving().advance() != 0);
    MPI_Request left = which->active();
    if (left != MPI_REQUEST_NULL) PMPI_Wait(&left, MPI_STATUS_IGNORE);
    which->set_active(MPI_REQUEST_NULL);
    {
        const std::lock_guard guard(lock_);
        all_.erase(number_of(*handle));
        count_.store(all_.size(), std::memory_order_release);
    }
    return PMPI_Request_free(handle);
}

// A program that ends while one runs is wrong, and nobody knows whether the others still come.
void persistents::clear() noexcept {
    const std::lock_guard guard(lock_);
    for (auto each = all_.begin(); each != all_.end();) {
        if (each->second->runs()) {
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

stand_ins::stand_ins(int count, MPI_Request* user) : user_(user) {
    if (persistent_requests().none_active() || count <= 0 || user == nullptr) return;
    const auto n = static_cast<std::size_t>(count);
    for (std::size_t i = 0; i < n; ++i) {
        persistent* const ours = persistent_requests().find(user[i]);
        if (ours == nullptr) continue;
        if (copy_.empty()) {
            copy_.assign(user, user + n);
            ours_.resize(n);
        }
        ours_[i] = ours;
        copy_[i] = ours->active();
    }
}

stand_ins::~stand_ins() {
    for (std::size_t i = 0; i < copy_.size(); ++i) {
        if (ours_[i] != nullptr)
            ours_[i]->set_active(copy_[i]);
        else
            user_[i] = copy_[i];
    }
}

}  // namespace ucg::mpi
