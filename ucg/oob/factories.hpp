// Functions that make the out-of-band exchanges of each kind.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "ucg/oob/exchange.hpp"
#include "ucg/oob/root_address.hpp"
#include "ucs/type/result.hpp"

namespace ucg::oob {

// Makes exchanges over shared memory, among threads or forked processes: one object for each of
// `size` ranks. The caller makes them before it forks.
// UCS_ERR_INVALID_PARAM, UCS_ERR_NO_MEMORY.
[[nodiscard]] ucs::result<std::vector<std::unique_ptr<exchange>>> make_local(rank_t size,
                                                                             double timeout);

// Implements ucg_oob_create_directory: over files in a folder that all ranks share.
[[nodiscard]] ucs::result<std::unique_ptr<exchange>> make_directory(const rank_params& self,
                                                                    std::string_view path,
                                                                    std::string_view job);

// Implements ucg_oob_create_tcp: rank 0 is the store to which all other ranks connect.
[[nodiscard]] ucs::result<std::unique_ptr<exchange>> make_tcp(const rank_params& self,
                                                              const root_address& root,
                                                              std::string_view job);

// Implements ucg_oob_create_pmix: among ranks that a launcher with PMIx started.
[[nodiscard]] ucs::result<std::unique_ptr<exchange>> make_pmix(double timeout);

// Implements ucg_oob_create_env: chooses an exchange by the environment variables of a launcher.
[[nodiscard]] ucs::result<std::unique_ptr<exchange>> make_from_environment();

}  // namespace ucg::oob
