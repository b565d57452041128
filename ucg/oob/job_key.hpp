// The job key as the connections of a store use it.
#pragma once

#include <optional>
#include <string_view>

#include "ucs/security/key.hpp"

namespace ucg::oob {

using job_key = std::optional<ucs::security::key>;

// The purpose of connections between rank 0 and the other ranks, which is part of their proofs.
inline constexpr std::string_view store_purpose = "ucg store";

}  // namespace ucg::oob
