// A descriptor that becomes readable when somebody says so.
#pragma once

#include "ucs/type/result.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucs::async {

// Signals add up until drained; both are one system call and never block. Any thread.
class eventfd {
public:
    static result<eventfd> create();

    // Makes the descriptor readable.
    void signal() const noexcept;

    // Makes it unreadable; true when it was signalled.
    bool drain() const noexcept;

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }

private:
    explicit eventfd(unique_fd fd) noexcept : fd_(std::move(fd)) {}

    unique_fd fd_;
};

}  // namespace ucs::async
