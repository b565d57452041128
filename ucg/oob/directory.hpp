// Files in a folder that all ranks see.
#pragma once

#include <memory>
#include <string_view>

#include "ucg/oob/exchange.hpp"
#include "ucs/type/result.hpp"

namespace ucg::oob {

// As ucg_oob_create_directory.
[[nodiscard]] ucs::result<std::unique_ptr<exchange>> make_directory(const membership& who,
                                                                    std::string_view path,
                                                                    std::string_view job);

}  // namespace ucg::oob
