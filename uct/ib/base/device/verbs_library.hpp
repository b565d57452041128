// libibverbs, loaded when the first RDMA device is looked for.
#pragma once

#include <infiniband/verbs.h>

#include <string>

namespace uct::ib {

// Hawser's libraries are not linked with libibverbs: they work on machines without it, and
// processes that use no RDMA never load it. This source file defines the functions of
// <infiniband/verbs.h> that Hawser calls, hidden in the library; each calls the real one. So the
// other code reads like any program for verbs, and the header's inline functions (posting, polling)
// are called directly.
//
// Loads the library. Returns true if its functions can be called. Otherwise sets `reason`, and none
// may be called. The library stays loaded. Any thread; the first call takes some
// milliseconds.
[[nodiscard]] bool load_verbs(std::string& reason);

}  // namespace uct::ib
