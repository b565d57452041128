#include "tools/perf/core/test_options.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "tools/common/failure.hpp"
#include "tools/common/nearest.hpp"
#include "tools/common/text.hpp"
#include "tools/perf/core/size_list.hpp"

namespace tools::perf {
namespace {

constexpr std::uint32_t max_threads = 1024;
constexpr std::uint64_t max_header = std::uint64_t{1} << 20;  // above the limit of any library

template<class Value>
struct choice {
    std::string_view name;
    Value value;
};

constexpr std::array<choice<thread_mode>, 3> thread_modes{{{"single", thread_mode::single},
                                                           {"serialized", thread_mode::serialized},
                                                           {"multi", thread_mode::multi}}};
constexpr std::array<choice<layout>, 2> layouts{{{"contig", layout::contig}, {"iov", layout::iov}}};
constexpr std::array<choice<wait_mode>, 2> wait_modes{
    {{"poll", wait_mode::poll}, {"sleep", wait_mode::sleep}}};
constexpr std::array<choice<send_operation>, 3> operations{{{"short", send_operation::copied_short},
                                                            {"bcopy", send_operation::bcopy},
                                                            {"zcopy", send_operation::zcopy}}};
constexpr std::array<choice<receive_mode>, 2> receive_modes{
    {{"recv", receive_mode::recv}, {"recv_data", receive_mode::recv_data}}};

template<class Choices>
auto choose(char letter, std::string_view text, const Choices& choices) {
    std::vector<std::string_view> names;
    for (const auto& one : choices) {
        if (one.name == text) return one.value;
        names.push_back(one.name);
    }
    throw usage_error(fmt::format("-{}: {}", letter, none_of(text, names)));
}

template<class Choices, class Value>
std::string_view name_of(const Choices& choices, Value value) {
    for (const auto& one : choices) {
        if (one.value == value) return one.name;
    }
    return {};
}

std::uint64_t count_between(char letter, std::string_view text, std::uint64_t low,
                            std::uint64_t high) {
    const auto count = parse_count(text);
    if (!count || *count < low || *count > high) {
        throw usage_error(fmt::format("-{}: \"{}\" is not a whole number from {} to {}", letter,
                                      text, low, high));
    }
    return *count;
}

double parse_rank(std::string_view text) {
    const auto rank = parse_real(text);
    if (!rank || *rank < 0 || *rank > 100) {
        throw usage_error(fmt::format("-R: \"{}\" is not a percentile from 0 to 100", text));
    }
    return *rank;
}

void apply_threads(test_params& params, std::string_view text) {
    const std::vector<std::string_view> parts = split(text, ',');
    params.threads = static_cast<std::uint32_t>(count_between('T', parts[0], 1, max_threads));
    params.shared_worker = parts.size() == 2 && parts[1] == "shared";
    if (parts.size() > 2 || (parts.size() == 2 && !params.shared_worker)) {
        throw usage_error(fmt::format("-T: \"{}\" is not N or N,shared", text));
    }
}

void apply_layouts(test_params& params, std::string_view text) {
    const std::vector<std::string_view> parts = split(text, ',');
    if (parts.size() > 2) {
        throw usage_error(fmt::format("-D: \"{}\" names more than two layouts", text));
    }
    for (const auto& operation : operations) {
        if (operation.name != text) continue;
        params.operation = operation.value;
        return;
    }
    params.send_layout = choose('D', parts.front(), layouts);
    // A single layout is that of the sender, as in UCX.
    params.recv_layout = parts.size() == 2 ? choose('D', parts[1], layouts) : layout::contig;
}

void check_memory(std::string_view text) {
    const std::vector<std::string_view> parts = split(text, ',');
    if (parts.size() > 2) {
        throw usage_error(fmt::format("-m: \"{}\" names more than two memory types", text));
    }
    for (const std::string_view part : parts) {
        if (part == "host") continue;
        throw usage_error(
            fmt::format("-m: memory type \"{}\" is not in this build (only: host)", part));
    }
}

}  // namespace

void apply_test_option(test_params& params, const found_option& option, option_scanner& scanner) {
    constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max() / 4;
    const std::string& value = option.value;
    switch (option.letter) {
        case 't':
            params.test = value;
            return;
        case 's':
            params.pieces = parse_size_list(value);
            return;
        case 'i':
            params.stride = count_between('i', value, 0, max_message);
            return;
        case 'n':
            params.iterations = count_between('n', value, 1, any);
            return;
        case 'w':
            params.warmup = count_between('w', value, 0, any);
            return;
        case 'O':
            params.outstanding = static_cast<std::uint32_t>(count_between('O', value, 0, 65536));
            return;
        case 'R':
            params.rank = parse_rank(value);
            return;
        case 'T':
            return apply_threads(params, value);
        case 'M':
            params.threading = choose('M', value, thread_modes);
            return;
        case 'D':
            return apply_layouts(params, value);
        case 'r':
            params.receive = choose('r', value, receive_modes);
            return;
        case 'm':
            return check_memory(value);
        case 'E':
            params.waiting = choose('E', value, wait_modes);
            return;
        case 'C':
            params.wildcard = true;
            return;
        case 'U':
            params.unexpected = true;
            return;
        case 'V':
            params.validate = true;
            return;
        case 'X':
            params.extra_info = true;
            return;
        case 'x':
            params.transport = value;
            return;
        case 'd':
            params.device = value;
            return;
        case 'W':
            params.flow_window = static_cast<std::uint32_t>(count_between('W', value, 1, 65536));
            return;
        case 'y':
            params.extra_copy = true;
            return;
        case 'z':
            params.memory_handles = true;
            return;
        case 'H':
            params.header = count_between('H', value, 0, max_header);
            return;
        case 'e':
            params.errors = scanner.take_if_one_of({"none", "peer"}).value_or("peer") == "none"
                                ? error_handling::none
                                : error_handling::peer;
            return;
        case 'I':
            params.wakeup = true;
            return;
        default:
            throw usage_error(fmt::format("option -{} does not describe a test", option.letter));
    }
}

void apply_test_words(test_params& params, std::span<const std::string> words) {
    option_scanner scanner(words, test_flags, test_valued);
    while (const auto option = scanner.next())
        apply_test_option(params, *option, scanner);
    if (!scanner.operands().empty()) {
        throw usage_error(fmt::format("\"{}\" is not an option", scanner.operands().front()));
    }
}

std::vector<std::string> to_words(const test_params& params) {
    std::vector<std::string> words{
        "-t",
        params.test,
        "-s",
        print_size_list(params.pieces),
        "-i",
        std::to_string(params.stride),
        "-n",
        std::to_string(params.iterations),
        "-w",
        std::to_string(params.warmup),
        "-O",
        std::to_string(params.outstanding),
        "-R",
        fmt::format("{:.6f}", params.rank),
        "-T",
        std::to_string(params.threads) + (params.shared_worker ? ",shared" : ""),
        "-M",
        std::string(name_of(thread_modes, params.threading)),
        "-D",
        fmt::format("{},{}", name_of(layouts, params.send_layout),
                    name_of(layouts, params.recv_layout)),
        "-r",
        std::string(name_of(receive_modes, params.receive)),
        "-e",
        params.errors == error_handling::peer ? "peer" : "none",
        "-E",
        std::string(name_of(wait_modes, params.waiting))};
    if (params.wakeup) words.emplace_back("-I");
    if (params.header) {
        words.emplace_back("-H");
        words.push_back(std::to_string(*params.header));
    }
    if (!params.transport.empty()) words.insert(words.end(), {"-x", params.transport});
    if (!params.device.empty()) words.insert(words.end(), {"-d", params.device});
    if (params.operation) {
        words.insert(words.end(), {"-D", std::string(name_of(operations, *params.operation))});
    }
    words.insert(words.end(), {"-W", std::to_string(params.flow_window)});
    if (params.extra_copy) words.emplace_back("-y");
    if (params.memory_handles) words.emplace_back("-z");
    if (params.wildcard) words.emplace_back("-C");
    if (params.unexpected) words.emplace_back("-U");
    if (params.validate) words.emplace_back("-V");
    if (params.extra_info) words.emplace_back("-X");
    return words;
}

void check(const test_params& params) {
    if (params.test.empty()) throw usage_error("no test is named; choose one with -t");
    if (params.shared_worker && params.threading != thread_mode::multi) {
        throw usage_error("-T N,shared needs -M multi");
    }
    if (params.shared_worker && params.waiting == wait_mode::sleep) {
        throw usage_error(
            "-E sleep and -T N,shared exclude each other: a thread would sleep while "
            "another one takes its messages");
    }
    if (params.shared_worker && params.wildcard) {
        throw usage_error(
            "-C and -T N,shared exclude each other: threads would take each "
            "other's messages");
    }
    if (params.stride == 0) return;
    for (const std::size_t size : params.pieces) {
        if (size > params.stride) {
            throw usage_error(
                fmt::format("-i: pieces of {} bytes overlap at distance {}", size, params.stride));
        }
    }
    if (params.stride > max_message / params.pieces.size()) {
        throw usage_error(fmt::format("-i: {} pieces at distance {} are too far apart",
                                      params.pieces.size(), params.stride));
    }
}

}  // namespace tools::perf
