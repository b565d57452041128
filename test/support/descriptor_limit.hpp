// A limit on this process's descriptors for a part of a test.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>

namespace test {

// While it lives, descriptors of `limit` and above cannot be opened.
class descriptor_limit {
public:
    explicit descriptor_limit(rlim_t limit) {
        REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
        rlimit lower = before_;
        lower.rlim_cur = std::min(limit, before_.rlim_max);
        REQUIRE(::setrlimit(RLIMIT_NOFILE, &lower) == 0);
    }
    ~descriptor_limit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    descriptor_limit(const descriptor_limit&) = delete;
    descriptor_limit& operator=(const descriptor_limit&) = delete;

    // Returns the descriptor that the next open would get: as a limit it lets nothing be opened, if
    // no lower one is closed meanwhile.
    [[nodiscard]] static rlim_t next_descriptor() {
        const int next = ::dup(STDIN_FILENO);
        REQUIRE(next >= 0);
        ::close(next);
        return static_cast<rlim_t>(next);
    }

private:
    rlimit before_{};
};

}  // namespace test
