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
    scoped_context() noexcept = default;
    scoped_context(const driver_functions& driver, CUcontext wanted) noexcept {
        enter(driver, wanted);
    }
    ~scoped_context() { leave(); }
    scoped_context(const scoped_context&) = delete;
    scoped_context& operator=(const scoped_context&) = delete;

    // Makes another context current, or the first one.
    void enter(const driver_functions& driver, CUcontext wanted) noexcept {
        leave();
        CUcontext current = nullptr;
        status_ = driver.cuCtxGetCurrent(&current);
        if (status_ != CUDA_SUCCESS || current == wanted) return;
        status_ = driver.cuCtxPushCurrent_v2(wanted);
        if (status_ == CUDA_SUCCESS) pushed_by_ = &driver;
    }
    // Makes the context of the thread current again.
    void leave() noexcept {
        CUcontext popped;
        if (pushed_by_ != nullptr) pushed_by_->cuCtxPopCurrent_v2(&popped);
        pushed_by_ = nullptr;
        status_ = CUDA_ERROR_INVALID_CONTEXT;
    }

    // Returns CUDA_SUCCESS if the context is current.
    [[nodiscard]] CUresult status() const noexcept { return status_; }

private:
    const driver_functions* pushed_by_ = nullptr;
    CUresult status_ = CUDA_ERROR_INVALID_CONTEXT;
};

}  // namespace ucs::cuda
