#include "test/cuda/driver_tests/program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "test/support/socket_pair.hpp"

namespace standin {
namespace {

// The descriptor of the channel in a program that was started.
constexpr int channel_number = 100;

bool replaces(const std::string& variable, const char* old) {
    return std::strncmp(variable.c_str(), old, variable.find('=') + 1) == 0;
}

std::vector<char*> environment_with(std::vector<std::string>& variables) {
    std::vector<char*> all;
    for (char** each = environ; *each != nullptr; ++each) {
        bool is_replaced = false;
        for (const std::string& variable : variables)
            is_replaced = is_replaced || replaces(variable, *each);
        if (!is_replaced) all.push_back(*each);
    }
    for (std::string& variable : variables)
        all.push_back(variable.data());
    all.push_back(nullptr);
    return all;
}

[[noreturn]] void become(std::string test_case, char** environment, int channel, int output) {
    ::dup2(channel, channel_number);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    std::string self = "/proc/self/exe";
    char* const arguments[] = {self.data(), test_case.data(), nullptr};
    ::alarm(60);
    ::execve(self.c_str(), arguments, environment);
    ::_exit(126);
}

std::string text_of(int file) {
    std::string text(static_cast<std::size_t>(::lseek(file, 0, SEEK_END)), '\0');
    REQUIRE(::pread(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
    return text;
}

}  // namespace

program::program(const std::string& test_case, const std::vector<std::string>& variables)
    : output_(::memfd_create("output", MFD_CLOEXEC)) {
    test::socket_pair ends(SOCK_SEQPACKET);
    channel_ = std::move(ends.near);
    std::vector<std::string> changed = variables;
    const std::vector<char*> environment = environment_with(changed);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0)
        become(test_case, const_cast<char**>(environment.data()), ends.far.get(), output_.get());
}

program::~program() {
    kill();
}

ended_program program::wait() {
    int status = 0;
    REQUIRE(::waitpid(std::exchange(pid_, -1), &status, 0) > 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(output_.get())};
}

void program::kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
}

int own_channel() {
    return channel_number;
}

void send_bytes(int channel, const void* bytes, std::size_t length) {
    REQUIRE(::send(channel, bytes, length, MSG_NOSIGNAL) == static_cast<ssize_t>(length));
}

void receive_bytes(int channel, void* bytes, std::size_t length) {
    REQUIRE(::recv(channel, bytes, length, 0) == static_cast<ssize_t>(length));
}

void send_file(int channel, int file) {
    char byte = 0;
    iovec data{&byte, 1};
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof file)] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(header), &file, sizeof file);
    REQUIRE(::sendmsg(channel, &message, MSG_NOSIGNAL) == 1);
}

ucs::unique_fd receive_file(int channel) {
    char byte = 0;
    int file = -1;
    iovec data{&byte, 1};
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof file)] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    REQUIRE(::recvmsg(channel, &message, MSG_CMSG_CLOEXEC) == 1);
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    REQUIRE(header != nullptr);
    std::memcpy(&file, CMSG_DATA(header), sizeof file);
    return ucs::unique_fd(file);
}

}  // namespace standin
