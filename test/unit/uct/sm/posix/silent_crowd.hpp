// Helper: senders of this user that connect and stay silent.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "test/unit/uct/sm/posix/fixture.hpp"
#include "uct/sm/posix/socket.hpp"

namespace uct::posix::test {

inline std::uint64_t socket_of(const node& which) {
    return sm::parse_posix_address(which.address())->socket_id;
}

// A child process that holds connections to the node. All of them are accepted or in its queue when
// the constructor returns. It ends with the object, or with the test's process.
class silent_crowd {
public:
    silent_crowd(node& to, std::size_t connections) {
        const std::uint64_t socket_id = socket_of(to);
        int ends[2];
        REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
        const ucs::unique_fd read_end(ends[0]);
        ucs::unique_fd write_end(ends[1]);
        pid_ = ::fork();
        REQUIRE(pid_ >= 0);
        if (pid_ == 0) connect_all(socket_id, connections, write_end.get());
        write_end.reset();
        char connected = 0;
        for (ssize_t got = -1; got != 1; got = ::read(read_end.get(), &connected, 1)) {
            REQUIRE(got != 0);  // the child has failed
            to.progress();
        }
    }
    ~silent_crowd() { end(); }
    silent_crowd(const silent_crowd&) = delete;
    silent_crowd& operator=(const silent_crowd&) = delete;

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    void end() noexcept {
        if (pid_ == 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }

private:
    [[noreturn]] static void connect_all(std::uint64_t socket_id, std::size_t connections,
                                         int report) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        std::vector<ucs::unique_fd> all(connections);
        for (ucs::unique_fd& each : all) {
            each = make_socket();
            int error = 0;
            while ((error = connect_to(each.get(), socket_id)) == EAGAIN)
                ::sched_yield();
            if (error != 0) ::_exit(1);
        }
        static_cast<void>(!::write(report, "x", 1));
        for (;;)
            ::pause();
    }

    pid_t pid_ = 0;
};

}  // namespace uct::posix::test
