// A descriptor that a program makes readable, to wake a thread that polls it.
#pragma once

#include "ucs/type/result.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucs::async {

// Signals accumulate until drain(). signal() and drain() take one system call each and never block.
// Any thread.
class eventfd {
public:
    static result<eventfd> create();

    // Makes the descriptor readable.
    void signal() const noexcept;

    // Makes the descriptor unreadable. Returns true if it was signalled.
    bool drain() const noexcept;

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }

private:
    explicit eventfd(unique_fd fd) noexcept : fd_(std::move(fd)) {}

    unique_fd fd_;
};

}  // namespace ucs::async
