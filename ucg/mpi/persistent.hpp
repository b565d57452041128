// Persistent collectives: handles that MPI knows as its own requests, and starts of ours.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "ucg/mpi/operation.hpp"

namespace ucg::mpi {

// One persistent request. The program's handle is an inactive request of MPI's that is never
// started; MPI sees each start as another request, which stands in for it in waits and tests.
class persistent final : public operation {
public:
    persistent(served& of, prepared&& what, std::uint64_t number)
        : operation(of, std::move(what)), number_(number) {}

    int begin();
    // What MPI is to wait for instead; MPI_REQUEST_NULL: it does not run.
    [[nodiscard]] MPI_Request active() const noexcept { return active_; }
    // What became of it in a wait or a test.
    void set_active(MPI_Request now) noexcept;
    // What the program has.
    MPI_Request handle = MPI_REQUEST_NULL;
    // Ranks make them in the same order, so starts of several at once are put in this order.
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    [[nodiscard]] bool runs() const noexcept { return is_running(); }

protected:
    void dropped() noexcept override {}

private:
    const std::uint64_t number_;
    MPI_Request active_ = MPI_REQUEST_NULL;
};

// All of a process. Any thread.
class persistents {
public:
    [[nodiscard]] bool none() const noexcept { return count_.load(std::memory_order_acquire) == 0; }
    // nullptr: it is a request of MPI's.
    persistent* find(MPI_Request handle) noexcept;
    // Takes a request of ucg for it, and gives the program its handle.
    int add(served& of, prepared&& what, MPI_Request* handle);
    // Waits until it does not run.
    int remove(MPI_Request* handle) noexcept;
    // At the end, those that the program has not freed: they would keep their groups.
    void clear() noexcept;

    // Of starts that MPI has not seen the end of: only their handles need others in their place,
    // for to MPI all of them are inactive.
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

persistents& persistent_requests() noexcept;

// The requests of a wait or a test, persistent ones of ours replaced by what stands in for them.
class stand_ins {
public:
    stand_ins(int count, MPI_Request* user);
    stand_ins(const stand_ins&) = delete;
    stand_ins& operator=(const stand_ins&) = delete;
    // Hands back what MPI made of them.
    ~stand_ins();
    [[nodiscard]] MPI_Request* data() noexcept { return copy_.empty() ? user_ : copy_.data(); }

private:
    MPI_Request* const user_;
    std::vector<MPI_Request> copy_;
    std::vector<persistent*> ours_;
};

}  // namespace ucg::mpi
