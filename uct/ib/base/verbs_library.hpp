// libibverbs, loaded when the first RDMA device is looked for.
#pragma once

#include <infiniband/verbs.h>

#include <string>

namespace uct::ib {

// Our libraries are not linked with libibverbs: they work on machines that have none, and processes
// that use no RDMA never load it. This source file defines the functions of <infiniband/verbs.h>
// that we call, hidden in our library; each calls the real one. So the code around reads as any
// program for verbs, and the header's inline functions (posting, polling) need no detour.
//
// True: they can be called. False: `why_not` says why, and none may be called. The library stays
// loaded. Any thread; the first call takes some milliseconds.
[[nodiscard]] bool load_verbs(std::string& why_not);

}  // namespace uct::ib
