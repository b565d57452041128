// Log line that identifies the library.
#pragma once

namespace ucp::capi {

// Logs at level info, once per process, the version and the file from which the library was loaded,
// because several versions may be installed. Any thread.
void log_library() noexcept;

}  // namespace ucp::capi
