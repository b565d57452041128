// Text about objects, for the print functions and the object tree.
#pragma once

#include <string>

namespace ucp {

class worker;

[[nodiscard]] std::string worker_info(worker& shown);

}  // namespace ucp
