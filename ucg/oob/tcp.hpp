// Out-of-band exchange over TCP: rank 0 is the store to which all other ranks connect.
#pragma once

#include <string_view>

#include "ucg/oob/exchange.hpp"
#include "ucg/oob/root_address.hpp"
#include "ucs/type/result.hpp"

namespace ucg::oob {

// Implements ucg_oob_create_tcp.
[[nodiscard]] ucs::result<std::unique_ptr<exchange>> make_tcp(const rank_params& self,
                                                              const root_address& root,
                                                              std::string_view job);

}  // namespace ucg::oob
