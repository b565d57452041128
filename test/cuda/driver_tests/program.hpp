// Runs hidden test cases of this program as processes of their own.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ucs/type/unique_fd.hpp"

namespace standin {

// How a program has ended.
struct ended_program {
    int status;  // the exit code, or -1 after a signal
    std::string output;
};

// A process that runs one test case. A channel for packets connects it with the test. It is killed
// when the object ends.
class program {
public:
    // `variables` are NAME=value and replace those of the environment.
    explicit program(const std::string& test_case, const std::vector<std::string>& variables = {});
    ~program();
    program(const program&) = delete;
    program& operator=(const program&) = delete;

    // Waits for the end of the process.
    ended_program wait();
    void kill();

    [[nodiscard]] int channel() const { return channel_.get(); }

private:
    pid_t pid_ = -1;
    ucs::unique_fd channel_;
    ucs::unique_fd output_;
};

// Runs a program to its end.
inline ended_program run(const std::string& test_case,
                         const std::vector<std::string>& variables = {}) {
    return program(test_case, variables).wait();
}

// The other end of the channel, in the process that was started.
[[nodiscard]] int own_channel();

// Send and receive values as packets.
void send_bytes(int channel, const void* bytes, std::size_t length);
void receive_bytes(int channel, void* bytes, std::size_t length);

template<class Value>
void send(int channel, const Value& value) {
    send_bytes(channel, &value, sizeof value);
}
template<class Value>
[[nodiscard]] Value receive(int channel) {
    Value value{};
    receive_bytes(channel, &value, sizeof value);
    return value;
}

// Pass a file descriptor.
void send_file(int channel, int file);
[[nodiscard]] ucs::unique_fd receive_file(int channel);

}  // namespace standin
