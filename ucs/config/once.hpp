// Saying a thing once per process.
#pragma once

#include <string>

namespace ucs::config {

// True for the first call with this key in the process. Any thread.
bool first_time(const std::string& key);

}  // namespace ucs::config
