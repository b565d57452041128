// Binds threads to processors.
#pragma once

#include <vector>

namespace tools {

// Throws usage_error if this process may not use a processor of the list. `letter`: the option that
// set the list.
void check_cpus(char letter, const std::vector<unsigned>& cpus);

// Returns the processors that this process may use, in ascending order. Throws failure.
[[nodiscard]] std::vector<unsigned> allowed_cpus();

// Binds the calling thread. If the list has a processor for each of the `threads` threads, to the
// one at `index`, otherwise to all of the list. Does nothing for an empty list. Throws failure.
void pin_thread(const std::vector<unsigned>& cpus, unsigned index, unsigned threads);

}  // namespace tools
