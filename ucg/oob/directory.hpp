// Out-of-band exchange over files in a folder that all ranks share.
#pragma once

#include <memory>
#include <string_view>

#include "ucg/oob/exchange.hpp"
#include "ucs/type/result.hpp"

namespace ucg::oob {

// Implements ucg_oob_create_directory.
[[nodiscard]] ucs::result<std::unique_ptr<exchange>> make_directory(const rank_params& self,
                                                                    std::string_view path,
                                                                    std::string_view job);

}  // namespace ucg::oob
