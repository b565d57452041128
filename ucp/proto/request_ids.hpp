// The ids of a worker's requests in messages.
#pragma once

#include "ucp/core/slots.hpp"
#include "ucs/datastruct/id_table.hpp"

namespace ucp {

struct request;

// Slot of a worker: running sends and receives by the ids that its peers were sent.
struct request_ids {
    explicit request_ids(worker&) noexcept {}

    ucs::datastruct::secret_id_table<request*> sends;
    ucs::datastruct::secret_id_table<request*> receives;
};

}  // namespace ucp
