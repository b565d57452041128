// Runs code in a child process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

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

}  // namespace test
