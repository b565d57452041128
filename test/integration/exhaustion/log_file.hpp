// The library's log, in memory that needs no allocation.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "ucp/api/ucp.h"

namespace exhaustion {

// The library's log file of this process, made at the first use. The standard error belongs to the
// sanitizers.
class log_file {
public:
    static log_file& instance() {
        static log_file made;
        return made;
    }

    void clear() const noexcept { static_cast<void>(::ftruncate(fd_, 0)); }
    [[nodiscard]] bool empty() const noexcept {
        struct stat info {};
        return ::fstat(fd_, &info) != 0 || info.st_size == 0;
    }
    [[nodiscard]] std::string text() const {
        struct stat info {};
        ::fstat(fd_, &info);
        std::string all(static_cast<std::size_t>(info.st_size), '\0');
        const ssize_t got = ::pread(fd_, all.data(), all.size(), 0);
        all.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        return all;
    }

private:
    log_file() : fd_(::memfd_create("log", 0)) {
        // The library writes through a duplicate of the descriptor, and after clear() at the end of
        // the file.
        ::fcntl(fd_, F_SETFL, O_APPEND);
        ::setenv("UCX_LOG_REPEATS", "inf", 0);  // one line for each failure
        const std::string path = "/proc/self/fd/" + std::to_string(fd_);
        ::setenv("UCX_LOG_FILE", path.c_str(), 1);
        // The library opens the file with its first message.
        static_cast<void>(ucp_lib_query(nullptr));
    }

    int fd_;
};

}  // namespace exhaustion
