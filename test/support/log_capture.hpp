// Captures the log messages of the code under test.
#pragma once

#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include "ucs/log/settings.hpp"

namespace test {

// During its lifetime log messages are stored here instead of being written. Threads of the test
// may log.
class log_capture final : public ucs::log::sink {
public:
    log_capture() { ucs::log::set_sink(this); }
    ~log_capture() { ucs::log::set_sink(nullptr); }
    log_capture(const log_capture&) = delete;
    log_capture& operator=(const log_capture&) = delete;

    void message(const ucs::log::component& source, ucs::log::level severity,
                 std::string_view text) override {
        const std::lock_guard guard(lock_);
        entries_.push_back({source.name(), severity, std::string(text)});
    }

    // Number of messages that contain `part`, with this severity or a more severe one.
    [[nodiscard]] std::size_t count(std::string_view part,
                                    ucs::log::level limit = ucs::log::level::trace_poll) const {
        const std::lock_guard guard(lock_);
        std::size_t found = 0;
        for (const entry& each : entries_) {
            found += each.severity <= limit && each.text.find(part) != std::string::npos ? 1U : 0U;
        }
        return found;
    }

    [[nodiscard]] std::size_t size() const {
        const std::lock_guard guard(lock_);
        return entries_.size();
    }

    // All messages, one per line: for INFO() in a test.
    [[nodiscard]] std::string text() const {
        const std::lock_guard guard(lock_);
        std::string all;
        for (const entry& each : entries_)
            (((all += each.component) += ": ") += each.text) += '\n';
        return all;
    }

    void clear() {
        const std::lock_guard guard(lock_);
        entries_.clear();
    }

private:
    struct entry {
        std::string component;
        ucs::log::level severity;
        std::string text;
    };
    mutable std::mutex lock_;
    std::vector<entry> entries_;
};

// During its lifetime every repeated warning and error is logged, as with UCX_LOG_REPEATS=inf: for
// tests that count the causes of a line.
class every_line {
public:
    every_line() {
        ucs::log::settings wanted;
        wanted.repeats = std::numeric_limits<decltype(wanted.repeats)>::max();
        static_cast<void>(ucs::log::configure(wanted));
    }
    ~every_line() { static_cast<void>(ucs::log::configure({})); }
    every_line(const every_line&) = delete;
    every_line& operator=(const every_line&) = delete;
};

}  // namespace test
