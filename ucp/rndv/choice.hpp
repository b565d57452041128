// How the data of an announced message is moved.
#pragma once

#include "ucp/rndv/rate_book.hpp"

namespace ucp {

class ep;
struct request;

// For the receiver, by what was observed, else by what is predicted. `readable`: the sender lends
// its memory. Owner context.
[[nodiscard]] rndv_method choose_method(const request& receive, const ep& from, bool readable);

}  // namespace ucp
