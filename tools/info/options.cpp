#include "tools/info/options.hpp"

#include <fmt/format.h>
#include <ucp/api/ucp.h>

#include <limits>

#include "tools/common/failure.hpp"

namespace tools::info {
namespace {

struct feature {
    char letter;
    std::uint64_t flags;
};
constexpr feature known_features[] = {
    {'a', UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64},
    {'r', UCP_FEATURE_RMA},
    {'t', UCP_FEATURE_TAG},
    {'s', UCP_FEATURE_STREAM},
    {'m', UCP_FEATURE_AM},
    {'x', UCP_FEATURE_EXPORTED_MEMH},
    {'d', UCP_FEATURE_DEVICE},
    {'w', UCP_FEATURE_WAKEUP},
};

std::uint64_t feature_of(char letter) {
    for (const feature& each : known_features)
        if (each.letter == letter) return each.flags;
    throw usage_error(fmt::format("'{}' is none of the features a r t s m x d w e", letter));
}

void add_features(options& into, std::string_view letters) {
    if (letters.empty()) throw usage_error("-u needs at least one feature");
    for (const char letter : letters) {
        if (letter == 'e')
            into.error_handling = true;
        else
            into.features |= feature_of(letter);
    }
}

std::vector<option_row> rows_of(options& into) {
    const number endpoints{0, std::numeric_limits<std::uint32_t>::max()};
    return {
        help_line("Usage: ucx_info [options]\n\nPages"),
        flag("-v", into.version, "version and path of the library"),
        flag("-d", into.devices,
             "transports and devices: their capabilities, and why others are unusable"),
        flag("-b", into.build, "how this was built"),
        flag("-y", into.types, "sizes of types"),
        flag("-s", into.system, "processor, clock and caches"),
        flag("-T", into.topology, "NUMA nodes, network devices and how they are connected"),
        flag("-c", into.config, "configuration"),
        flag("-p", into.context, "a UCP context: transports and devices in use"),
        flag("-w", into.worker, "a UCP worker"),
        flag("-e", into.endpoint,
             "a UCP endpoint: lanes, and which protocol serves which size and why"),
        help_line("\nFor -d"),
        value("-t name", into.transport, any_text{}, "only this transport"),
        help_line("\nFor -c (each implies it)"),
        flag("-f", into.documented,
             "with a description of every variable, as for a configuration file"),
        flag("-a", into.hidden, "hidden variables, too"),
        flag("-C", into.commented, "defaults commented out"),
        value("-F text", into.filter, any_text{}, "only variables whose name contains this"),
        help_line("\nFor -p, -w and -e"),
        {"-u letters",
         "features to use (needed): t tags, r remote memory, a atomics, s streams, m active "
         "messages, x exported memory, d device; with them w wakeup, e error handling",
         [&into](std::string_view letters) { add_features(into, letters); }},
        value("-n count", into.endpoints, endpoints, "endpoints expected (1)"),
        value("-N count", into.endpoints_per_node, endpoints,
              "endpoints expected within the node (1)"),
        value("-D kind", into.kinds, one_of{{"all", "shm", "net", "self"}},
              "devices to use: all, shm, net, self (all)"),
        value("-P where", into.peer, one_of{{"self", "intra", "inter"}},
              "the endpoint's peer: self (this process), intra (another process on this host), "
              "inter (as if on another host) (self)"),
        refuse("-M", "measuring memory copies is not in this build"),
        refuse("-6", "-6 goes with -A, which is not in this build"),
        refuse("-A address", "connecting by address needs listeners, which are not in this build"),
        refuse("-m size", "memory allocation is not in this build"),
        help_line(""),
        help_option(into.standard),
        version_option(into.standard,
                       "the versions of this program and of the library, and the library's path"),
    };
}

void check(const options& parsed) {
    if (!parsed.any_page()) throw usage_error("nothing to show; choose a page");
    if (parsed.needs_features() && parsed.features == 0) {
        throw usage_error("-p, -w and -e need the features to use, such as -u t");
    }
    if (!parsed.transport.empty() && !parsed.devices) throw usage_error("-t needs -d");
}

}  // namespace

options parse_options(const std::vector<std::string>& arguments) {
    options parsed;
    parse_options_only(rows_of(parsed), arguments);
    if (parsed.standard.only_text()) return parsed;
    // Each option for printing the configuration implies -c.
    parsed.config = parsed.config || parsed.documented || parsed.hidden || parsed.commented ||
                    !parsed.filter.empty();
    check(parsed);
    return parsed;
}

std::string help_text() {
    options none;
    return help(rows_of(none));
}

}  // namespace tools::info
