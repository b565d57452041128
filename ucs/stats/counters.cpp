#include "ucs/stats/counters.hpp"

#include <string>

namespace ucs::stats {

void describe(vfs::directory& into, std::span<counter> values,
              std::span<const std::string_view> value_names) {
    for (std::size_t i = 0; i < values.size() && i < value_names.size(); ++i) {
        counter& value = values[i];
        into.file(
            std::string(value_names[i]), [&value] { return std::to_string(value.get()) + "\n"; },
            [&value](std::string_view text) {
                if (text != "0" && text != "0\n") return UCS_ERR_INVALID_PARAM;
                value.set(0);
                return UCS_OK;
            });
    }
}

}  // namespace ucs::stats
