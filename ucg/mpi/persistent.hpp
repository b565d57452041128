// Persistent collectives: requests that MPI knows as its own inactive requests, and whose starts
// ucg serves.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "ucg/mpi/operation.hpp"

namespace ucg::mpi {

// One persistent request. The program's handle is an inactive request of MPI that is never started.
// MPI sees each start as another request, which substitutes the handle in waits and tests.
class persistent final : public operation {
public:
    persistent(comm_state& comm, prepared_call&& call, std::uint64_t number)
        : operation(comm, std::move(call)), number_(number) {}

    int begin();
    // The MPI request of the current start; MPI_REQUEST_NULL: the operation is inactive.
    [[nodiscard]] MPI_Request active() const noexcept { return active_; }
    // Sets the request of the current start after a wait or test.
    void set_active(MPI_Request request) noexcept;
    // The program's handle.
    MPI_Request handle = MPI_REQUEST_NULL;
    // The creation number. Ranks create persistent requests in the same order, so several starts at
    // once follow this order.
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    [[nodiscard]] bool is_active() const noexcept { return is_running(); }

protected:
    void dropped() noexcept override {}

private:
    const std::uint64_t number_;
    MPI_Request active_ = MPI_REQUEST_NULL;
};

// All persistent requests of a process. Any thread.
class persistent_table {
public:
    [[nodiscard]] bool none() const noexcept { return count_.load(std::memory_order_acquire) == 0; }
    // Returns nullptr if the handle is a request of MPI.
    persistent* find(MPI_Request handle) noexcept;
    // Creates a persistent request with a request of ucg, and returns the program's handle.
    int add(comm_state& comm, prepared_call&& call, MPI_Request* handle);
    // Removes a persistent request. Waits until it is inactive.
    int remove(MPI_Request* handle) noexcept;
    // Removes the requests that the program has not freed, because they keep their groups. Called
    // at finalisation.
    void clear() noexcept;

    // Counts starts whose end MPI has not seen. Only their handles need substitutes, because MPI
    // treats all other handles as inactive.
    [[nodiscard]] bool none_active() const noexcept {
        return active_.load(std::memory_order_acquire) == 0;
    }
    void activated() noexcept { active_.fetch_add(1, std::memory_order_acq_rel); }
    void deactivated() noexcept { active_.fetch_sub(1, std::memory_order_acq_rel); }

private:
    std::mutex lock_;
    std::unordered_map<std::uint64_t, std::unique_ptr<persistent>> all_;
    std::atomic<std::size_t> count_{0}, active_{0};
    std::uint64_t next_ = 0;
};

persistent_table& persistent_requests() noexcept;

// The requests of a wait or test, in which ucg's persistent requests are replaced by the requests
// of their current starts.
class substituted_requests {
public:
    substituted_requests(int count, MPI_Request* user);
    substituted_requests(const substituted_requests&) = delete;
    substituted_requests& operator=(const substituted_requests&) = delete;
    // Writes the results of MPI back.
    ~substituted_requests();
    [[nodiscard]] MPI_Request* data() noexcept { return copy_.empty() ? user_ : copy_.data(); }

private:
    MPI_Request* const user_;
    std::vector<MPI_Request> copy_;
    std::vector<persistent*> persistents_;
};

}  // namespace ucg::mpi
