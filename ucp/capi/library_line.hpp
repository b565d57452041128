// The log's line about the library itself.
#pragma once

namespace ucp::capi {

// Says at level info, once per process, which version this is and from which file it was loaded:
// several may be installed. Any thread.
void tell_library() noexcept;

}  // namespace ucp::capi
