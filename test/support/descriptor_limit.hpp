// A temporary limit on the descriptors of this process.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>

namespace test {

// During its lifetime no descriptor of `limit` or above can be opened.
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

    // Returns the descriptor that the next open would get. As a limit it prevents any open, unless
    // a lower descriptor is closed meanwhile.
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
