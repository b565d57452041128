// Temporary environment variables for a test.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace test {

// Sets a variable, or removes it with nullptr, and restores the old value at the end.
class env {
public:
    env(const char* name, const char* value) : name_(name) {
        if (const char* old = std::getenv(name)) old_ = old;
        value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
    }
    ~env() { old_ ? ::setenv(name_.c_str(), old_->c_str(), 1) : ::unsetenv(name_.c_str()); }
    env(const env&) = delete;
    env& operator=(const env&) = delete;

private:
    std::string name_;
    std::optional<std::string> old_;
};

}  // namespace test
