// The life of the stand-in in a process: cuInit, forks, and the end of the process.
#pragma once

namespace standin {

// Fails with the driver's status unless cuInit has succeeded in this process.
void check_started();

// Returns true in a child that was forked after cuInit: the driver is not usable there.
[[nodiscard]] bool is_forked() noexcept;

}  // namespace standin
