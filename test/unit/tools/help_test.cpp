// Tests which options the help text of each tool lists.
#include <catch2/catch.hpp>

#include "tools/common/text.hpp"
#include "tools/info/options.hpp"
#include "tools/perf/core/program_options.hpp"
#include "tools/ucg_perf/options.hpp"
#include "tools/ucg_sim/options.hpp"
#include "tools/vfs/options.hpp"

namespace {

// Returns the letters of a help text, and the long names of options without a letter.
std::string options_in(const std::string& help) {
    std::string found;
    for (const std::string_view line : tools::split(help, '\n')) {
        CHECK(line.size() <= 100);
        if (!line.starts_with("  -") || line.size() < 4) continue;
        if (line[3] != '-')
            found += line[3];
        else
            found += std::string(" ").append(tools::words(line).front());
    }
    return found;
}

}  // namespace

TEST_CASE("each tool lists the letters of its options") {
    CHECK(options_in(tools::info::help_text()) == "vdbysTcpwetfaCFunNDPh --version");
    CHECK(options_in(tools::vfs::help_text()) == "dofvh --version");
    CHECK(options_in(tools::ucg_perf::help_text()) == "csdoraiDmWbpCnwtTVxf --jsonqvlh --version");
    CHECK(options_in(tools::ucg_sim::help_text()) ==
          "casTKEnpNLrDlv --jsontGkPh --versioniefRCgdSm");
    CHECK(options_in(tools::perf::help_text()) ==
          "tsnwORVXTMDiCUrHyzmeEIxdDHWbcp6l --peer-timeoutfv --jsonNqh --version");
}
