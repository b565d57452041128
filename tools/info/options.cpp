#include "tools/info/options.hpp"

#include <fmt/format.h>
#include <ucp/api/ucp.h>

#include <limits>
#include <string_view>

#include "tools/common/failure.hpp"
#include "tools/common/option_scanner.hpp"
#include "tools/common/text.hpp"

namespace tools::info {
namespace {

std::uint64_t feature_of(char letter) {
    switch (letter) {
        case 'a':
            return UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64;
        case 'r':
            return UCP_FEATURE_RMA;
        case 't':
            return UCP_FEATURE_TAG;
        case 's':
            return UCP_FEATURE_STREAM;
        case 'm':
            return UCP_FEATURE_AM;
        case 'x':
            return UCP_FEATURE_EXPORTED_MEMH;
        case 'd':
            return UCP_FEATURE_DEVICE;
        case 'w':
            return UCP_FEATURE_WAKEUP;
        default:
            throw usage_error(
                fmt::format("-u: '{}' is none of the features a r t s m x d w e", letter));
    }
}

void apply_features(options& into, std::string_view letters) {
    if (letters.empty()) throw usage_error("-u needs at least one feature");
    std::uint64_t features = into.features.value_or(0);
    for (const char letter : letters) {
        if (letter == 'e') {
            into.error_handling = true;
        } else {
            features |= feature_of(letter);
        }
    }
    into.features = features;
}

std::uint64_t parse_endpoints(char letter, std::string_view text) {
    const auto count = parse_count(text);
    if (count && *count <= std::numeric_limits<std::uint32_t>::max()) return *count;
    throw usage_error(fmt::format("-{}: \"{}\" is not a number of endpoints", letter, text));
}

device_kind parse_kind(std::string_view text) {
    if (text == "all") return device_kind::all;
    if (text == "shm") return device_kind::shm;
    if (text == "net") return device_kind::net;
    if (text == "self") return device_kind::self;
    throw usage_error(fmt::format("-D: \"{}\" is none of: all, shm, net, self", text));
}

placement parse_placement(std::string_view text) {
    if (text == "self") return placement::self;
    if (text == "intra") return placement::intra;
    if (text == "inter") return placement::inter;
    throw usage_error(fmt::format("-P: \"{}\" is none of: self, intra, inter", text));
}

void apply_flag(options& into, char letter) {
    switch (letter) {
        case 'v':
            into.version = true;
            return;
        case 'd':
            into.devices = true;
            return;
        case 'b':
            into.build = true;
            return;
        case 'y':
            into.types = true;
            return;
        case 's':
            into.system = true;
            return;
        case 'T':
            into.topology = true;
            return;
        case 'c':
            into.config = true;
            return;
        case 'f':
            into.documented = true;
            return;
        case 'a':
            into.hidden = true;
            return;
        case 'C':
            into.commented = true;
            return;
        case 'p':
            into.context = true;
            return;
        case 'w':
            into.worker = true;
            return;
        case 'e':
            into.endpoint = true;
            return;
        case 'M':
            throw usage_error("-M: measuring memory copies is not in this build");
        default:
            throw usage_error("-6 goes with -A, which is not in this build");
    }
}

void apply_value(options& into, char letter, const std::string& value) {
    switch (letter) {
        case 't':
            into.transport = value;
            return;
        case 'F':
            into.filter = value;
            return;
        case 'u':
            return apply_features(into, value);
        case 'n':
            into.endpoints = parse_endpoints('n', value);
            return;
        case 'N':
            into.endpoints_per_node = parse_endpoints('N', value);
            return;
        case 'D':
            into.kinds = parse_kind(value);
            return;
        case 'P':
            into.peer = parse_placement(value);
            return;
        case 'A':
            throw usage_error(
                "-A: connecting by address needs listeners, which are not in this "
                "build");
        default:
            throw usage_error("-m: memory allocation is not in this build");
    }
}

void check(const options& parsed) {
    if (!parsed.any_page()) throw usage_error("nothing to show; choose a page");
    if (parsed.needs_features() && parsed.features.value_or(0) == 0) {
        throw usage_error("-p, -w and -e need the features to use, such as -u t");
    }
    if (!parsed.transport.empty() && !parsed.devices) throw usage_error("-t needs -d");
}

}  // namespace

options parse_options(const std::vector<std::string>& arguments) {
    options parsed;
    constexpr std::string_view flags = "vdbysTcfaCpweM6";
    option_scanner scanner(arguments, with_standard_options({std::string(flags), "tFunNDPAm", {}}));
    while (const auto option = scanner.next()) {
        if (parsed.standard.take(*option)) {
            if (parsed.standard.only_text()) return parsed;
        } else if (flags.find(option->letter) != std::string_view::npos) {
            apply_flag(parsed, option->letter);
        } else {
            apply_value(parsed, option->letter, option->value);
        }
    }
    if (!scanner.operands().empty()) {
        throw usage_error(fmt::format("\"{}\" is not an option", scanner.operands().front()));
    }
    // Each option for printing the configuration implies -c.
    parsed.config = parsed.config || parsed.documented || parsed.hidden || parsed.commented ||
                    !parsed.filter.empty();
    check(parsed);
    return parsed;
}

const char* help_text() noexcept {
    return R"(Usage: ucx_info [options]

Pages
  -v           version and path of the library
  -d           transports and devices: their capabilities, and why others are unusable
  -b           how this was built
  -y           sizes of types
  -s           processor, clock and caches
  -T           NUMA nodes, network devices and how they are connected
  -c           configuration
  -p           a UCP context: transports and devices in use
  -w           a UCP worker
  -e           a UCP endpoint: lanes, and which protocol serves which size and why

For -d
  -t name      only this transport

For -c (each implies it)
  -f           with a description of every variable, as for a configuration file
  -a           hidden variables, too
  -C           defaults commented out
  -F text      only variables whose name contains this

For -p, -w and -e
  -u letters   features to use (needed): t tags, r remote memory, a atomics, s streams,
               m active messages, x exported memory, d device; with them w wakeup, e error
               handling
  -n count     endpoints expected (1)
  -N count     endpoints expected within the node (1)
  -D kind      devices to use: all, shm, net, self (all)
  -P where     the endpoint's peer: self (this process), intra (another process on this
               host), inter (as if on another host) (self)

  -h, --help   this text
  --version    the versions of this program and of the library, and the library's path
)";
}

}  // namespace tools::info
