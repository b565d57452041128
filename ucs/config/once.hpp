// Detects the first occurrence of an event in the process, for messages that are logged once.
#pragma once

#include <string>

namespace ucs::config {

// Returns true for the first call with this key in the process. Any thread.
bool first_time(const std::string& key);

}  // namespace ucs::config
