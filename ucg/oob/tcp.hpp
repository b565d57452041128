// A store at rank 0.
#pragma once

#include <string_view>

#include "ucg/oob/exchange.hpp"
#include "ucg/oob/tcp_place.hpp"
#include "ucs/type/result.hpp"

namespace ucg::oob {

// As ucg_oob_create_tcp.
[[nodiscard]] ucs::result<std::unique_ptr<exchange>> make_tcp(const membership& who,
                                                              const tcp_place& root,
                                                              std::string_view job);

}  // namespace ucg::oob
