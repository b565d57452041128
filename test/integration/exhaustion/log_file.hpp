// The library's log, in memory that needs no allocation.
#pragma once

#include <string>

namespace exhaustion {

// The library's log file of this process, made at the first use. The standard error belongs to the
// sanitizers.
class log_file {
public:
    static log_file& instance();

    void clear() const noexcept;
    [[nodiscard]] bool empty() const noexcept;
    [[nodiscard]] std::string text() const;

private:
    log_file();

    int fd_;
};

}  // namespace exhaustion
