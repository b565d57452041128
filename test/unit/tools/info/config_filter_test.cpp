#include "tools/info/config_filter.hpp"

#include <catch2/catch.hpp>

using tools::info::filter_config;

namespace {

constexpr const char* printed = R"(# A title = with an equals sign

# Transports to use, for example UCX_TLS=self
# syntax: list
UCX_TLS=all

# When to begin rendezvous.
# UCX_RNDV_THRESH=auto

UCX_RNDV_SCHEME=auto
)";

}  // namespace

TEST_CASE("selected variables keep their descriptions, others are removed with theirs") {
    CHECK(filter_config(printed, "RNDV") ==
          "# When to begin rendezvous.\n# UCX_RNDV_THRESH=auto\nUCX_RNDV_SCHEME=auto\n");
    CHECK(filter_config(printed, "tls") ==
          "# Transports to use, for example UCX_TLS=self\n# syntax: list\nUCX_TLS=all\n");
}

TEST_CASE("names are searched, not values and descriptions") {
    CHECK(filter_config(printed, "AUTO").empty());
    CHECK(filter_config(printed, "equals").empty());
}
