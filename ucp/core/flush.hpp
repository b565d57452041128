// The flush of a whole worker.
#pragma once

#include "ucs/type/status.h"

namespace ucp {

class worker;
struct request;

// UCS_OK: everything before is done. UCS_INPROGRESS: `group` completes later, with the first error
// of an endpoint that fails meanwhile. An endpoint that failed before is not waited for.
ucs_status_t start_flush(worker& owner, request& group);
// The flush of one endpoint, a part of the group, ended.
void end_part(request& group, ucs_status_t status);

}  // namespace ucp
