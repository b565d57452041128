// The destination of log lines: a stream of the process, or a file with rotation.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

namespace ucs::log {

// One destination with atomic replacement. Lines are written without a lock, one write(2) each:
// rotation and reconfiguration put the new file under the old descriptor number. One global
// instance; any thread.
class output {
public:
    constexpr output() noexcept = default;

    // `target`: empty or "stderr", "-" or "stdout", or a file name with %-fields. Returns an empty
    // text on success. If the file cannot be opened, returns the reason, and lines go to the
    // standard error.
    std::string open(const std::string& target, std::size_t size_limit, unsigned backups);

    void write(std::string_view line) noexcept;

private:
    void install(int file) noexcept;
    void rotate() noexcept;

    std::atomic<int> fd_{2};
    std::atomic<std::size_t> written_{0};
    std::atomic<std::size_t> limit_{~std::size_t{0}};
    std::mutex change_;  // guards the members below; held to open and to rotate, never to write
    int own_fd_ = -1;    // once a file was opened, its number stays ours
    unsigned backups_ = 0;
    std::string path_;
};

// Replaces %h %p %e %t %% in a file name.
[[nodiscard]] std::string expand_file_name(std::string_view pattern);

}  // namespace ucs::log
