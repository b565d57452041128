// The help text of ucx_perftest (-h).
#pragma once

#include <string>

namespace tools::perf {

[[nodiscard]] std::string help_text();

}  // namespace tools::perf
