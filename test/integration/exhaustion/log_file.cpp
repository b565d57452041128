#include "test/integration/exhaustion/log_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "ucp/api/ucp.h"

namespace exhaustion {

log_file& log_file::instance() {
    static log_file made;
    return made;
}

log_file::log_file() : fd_(::memfd_create("log", 0)) {
    // The library writes through a duplicate of the descriptor, and after clear() at the end of the
    // file.
    ::fcntl(fd_, F_SETFL, O_APPEND);
    ::setenv("UCX_LOG_REPEATS", "inf", 0);  // one line for each failure
    const std::string path = "/proc/self/fd/" + std::to_string(fd_);
    ::setenv("UCX_LOG_FILE", path.c_str(), 1);
    // The library opens the file with its first message.
    static_cast<void>(ucp_lib_query(nullptr));
}

void log_file::clear() const noexcept {
    static_cast<void>(::ftruncate(fd_, 0));
}

bool log_file::empty() const noexcept {
    struct stat info {};
    return ::fstat(fd_, &info) != 0 || info.st_size == 0;
}

std::string log_file::text() const {
    struct stat info {};
    ::fstat(fd_, &info);
    std::string all(static_cast<std::size_t>(info.st_size), '\0');
    const ssize_t got = ::pread(fd_, all.data(), all.size(), 0);
    all.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return all;
}

}  // namespace exhaustion
