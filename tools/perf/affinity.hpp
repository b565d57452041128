// Binding threads to processors, for -c.
#pragma once

#include <vector>

namespace tools::perf {

// Throws usage_error when a processor of the list is not one that this process may use.
void check_cpus(const std::vector<unsigned>& cpus);

// Binds the calling thread: with a processor for each of the `threads` threads to the one at
// `index`, otherwise to all of the list. Nothing for an empty list. Throws failure.
void pin_thread(const std::vector<unsigned>& cpus, unsigned index, unsigned threads);

}  // namespace tools::perf
