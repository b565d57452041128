// Runs code in child processes.
#pragma once

#include <signal.h>
#include <sys/wait.h>

#include <utility>

#include "test/support/socket_pair.hpp"

namespace test {

// Forks a child that ends with the result of the body. Returns the child's wait status, -1 without
// a child. A child that hangs is killed.
template<class Body>
int run_in_child(const Body& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(60);
        ::_exit(body());
    }
    int status = -1;
    return child > 0 && ::waitpid(child, &status, 0) == child ? status : -1;
}

// A child process that runs body(fd), and is killed when the object ends. `fd` is its end of a
// channel for packets between it and the test.
class child_process {
public:
    template<class Body>
    explicit child_process(const Body& body) {
        socket_pair ends(SOCK_SEQPACKET);
        channel_ = std::move(ends.near);
        pid_ = ::fork();
        REQUIRE(pid_ >= 0);
        if (pid_ != 0) return;
        channel_.reset();
        try {
            body(ends.far.get());
        } catch (...) {
            ::_exit(1);
        }
        ::_exit(0);
    }
    ~child_process() { kill(); }
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;

    void kill() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }
    // Receives a value that the child sends as one packet.
    template<class Value>
    void receive(Value& into) const {
        REQUIRE(::recv(fd(), &into, sizeof into, 0) == ssize_t{sizeof into});
    }
    [[nodiscard]] pid_t pid() const { return pid_; }
    [[nodiscard]] int fd() const { return channel_.get(); }

private:
    pid_t pid_ = 0;
    ucs::unique_fd channel_;
};

}  // namespace test
