// Option value: bandwidth of copies by direction.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ucs/config/option.hpp"

namespace uct::cuda {

// "10GBs" for all directions, or "default:10GBs,h2d:22GBs,d2h:22GBs,d2d:600GBs"; directions that
// are missing have the default. Bytes per second.
struct directed_rates {
    double others = 0;
    double host_to_device = 0;
    double device_to_host = 0;
    double device_to_device = 0;

    // Returns nothing if the text is malformed, a rate is not positive, or a direction has none.
    [[nodiscard]] static std::optional<directed_rates> parse(std::string_view text);
    [[nodiscard]] std::string text() const;
};

}  // namespace uct::cuda

template<>
const ucs::config::value_type& ucs::config::value_type_of<uct::cuda::directed_rates>();
