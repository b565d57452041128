// Binding threads to processors.
#pragma once

#include <vector>

namespace tools {

// Throws usage_error when a processor of the list, which the option of this letter gave, is not one
// that this process may use.
void check_cpus(char letter, const std::vector<unsigned>& cpus);

// Those that this process may use, ascending. Throws failure.
[[nodiscard]] std::vector<unsigned> allowed_cpus();

// Binds the calling thread: with a processor for each of the `threads` threads to the one at
// `index`, otherwise to all of the list. Nothing for an empty list. Throws failure.
void pin_thread(const std::vector<unsigned>& cpus, unsigned index, unsigned threads);

}  // namespace tools
