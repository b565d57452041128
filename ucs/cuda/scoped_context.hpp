// Makes a CUDA context current for a scope.
#pragma once

#include "ucs/cuda/driver.hpp"

namespace ucs::cuda {

// The context of an operation is that of its memory, and not that of the calling thread: a thread
// that progresses a worker may never have called CUDA, or may have another device current. Pushes
// the context unless it is current already, and pops it at the end of the scope. The object lives
// on the stack of one thread.
class scoped_context {
public:
    scoped_context(const driver_functions& driver, CUcontext wanted) noexcept : driver_(driver) {
        CUcontext current = nullptr;
        status_ = driver.cuCtxGetCurrent(&current);
        if (status_ != CUDA_SUCCESS || current == wanted) return;
        status_ = driver.cuCtxPushCurrent_v2(wanted);
        is_pushed_ = status_ == CUDA_SUCCESS;
    }
    ~scoped_context() {
        CUcontext popped;
        if (is_pushed_) driver_.cuCtxPopCurrent_v2(&popped);
    }
    scoped_context(const scoped_context&) = delete;
    scoped_context& operator=(const scoped_context&) = delete;

    // Returns CUDA_SUCCESS if the context is current.
    [[nodiscard]] CUresult status() const noexcept { return status_; }

private:
    const driver_functions& driver_;
    CUresult status_;
    bool is_pushed_ = false;
};

}  // namespace ucs::cuda
