#include "tools/perf/core/test_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tools/common/failure.hpp"
#include "tools/common/text.hpp"

namespace tools::perf {
namespace {

struct run_of_sizes {
    std::size_t size;
    std::size_t count;
};

run_of_sizes parse_piece(std::string_view piece) {
    const std::size_t colon = piece.find(':');
    const auto size = parse_size(piece.substr(0, colon));
    auto count = std::optional<std::uint64_t>(1);
    if (colon != std::string_view::npos) count = parse_count(piece.substr(colon + 1));
    if (!size || !count || *count == 0) {
        throw usage_error(fmt::format(
            "-s: \"{}\" is not a size (bytes with k, m or g behind, and :N for N pieces)", piece));
    }
    return {*size, *count};
}

}  // namespace

std::vector<std::size_t> parse_size_list(std::string_view text) {
    std::vector<std::size_t> sizes;
    std::size_t total = 0;
    for (const std::string_view piece : split(text, ',')) {
        const auto [size, count] = parse_piece(piece);
        if (count > max_pieces - sizes.size()) {
            throw usage_error(fmt::format("-s: more than {} pieces", max_pieces));
        }
        if (size > max_message || size * count > max_message - total) {
            throw usage_error(fmt::format("-s: a message of more than {} bytes", max_message));
        }
        total += size * count;
        sizes.insert(sizes.end(), count, size);
    }
    return sizes;
}

std::string print_size_list(const std::vector<std::size_t>& sizes) {
    std::string text;
    for (std::size_t index = 0; index < sizes.size();) {
        std::size_t count = 1;
        while (index + count < sizes.size() && sizes[index + count] == sizes[index])
            ++count;
        if (index != 0) text += ',';
        text += std::to_string(sizes[index]);
        if (count > 1) text += ':' + std::to_string(count);
        index += count;
    }
    return text;
}

namespace {

constexpr std::uint32_t max_threads = 1024;
constexpr std::uint64_t max_header = std::uint64_t{1} << 20;  // above the limit of any library

// The names in the order of the enumerators.
const one_of thread_modes{{"single", "serialized", "multi"}};
const one_of layouts{{"contig", "iov"}};
const one_of wait_modes{{"poll", "sleep"}};
const one_of operations{{"short", "bcopy", "zcopy"}};
const one_of receive_modes{{"recv", "recv_data"}};
const one_of error_modes{{"none", "peer"}};

struct size_list {
    std::vector<std::size_t> operator()(std::string_view text) const {
        return parse_size_list(text);
    }
    static std::string print(const std::vector<std::size_t>& sizes) {
        return print_size_list(sizes);
    }
};

void apply_threads(test_params& params, std::string_view text) {
    const std::vector<std::string_view> parts = split(text, ',');
    params.threads = static_cast<std::uint32_t>(number{1, max_threads}(parts[0]));
    params.shared_worker = parts.size() == 2 && parts[1] == "shared";
    if (parts.size() > 2 || (parts.size() == 2 && !params.shared_worker)) {
        throw usage_error(fmt::format("\"{}\" is not N or N,shared", text));
    }
}

void apply_layouts(test_params& params, std::string_view text) {
    if (std::ranges::count(operations.names, text) != 0) {
        params.operation = static_cast<send_operation>(operations(text));
        return;
    }
    const std::vector<std::string_view> parts = split(text, ',');
    if (parts.size() > 2)
        throw usage_error(fmt::format("\"{}\" names more than two layouts", text));
    params.send_layout = static_cast<layout>(layouts(parts.front()));
    // A single layout is that of the sender, as in UCX.
    params.recv_layout =
        parts.size() == 2 ? static_cast<layout>(layouts(parts[1])) : layout::contig;
}

option_row::words layout_words(const test_params& params) {
    const auto name = [](const one_of& names, auto value) {
        return names.print(static_cast<std::size_t>(value));
    };
    option_row::words made{"-D", fmt::format("{},{}", name(layouts, params.send_layout),
                                             name(layouts, params.recv_layout))};
    if (params.operation) made.insert(made.end(), {"-D", name(operations, *params.operation)});
    return made;
}

void check_memory(std::string_view text) {
    const std::vector<std::string_view> parts = split(text, ',');
    if (parts.size() > 2) {
        throw usage_error(fmt::format("\"{}\" names more than two memory types", text));
    }
    for (const std::string_view part : parts) {
        if (part == "host") continue;
        throw usage_error(
            fmt::format("memory type \"{}\" is not in this build (only: host)", part));
    }
}

}  // namespace

std::vector<option_row> test_rows(test_params& into) {
    constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max() / 4;
    return {
        help_line("\nWhat to run"),
        value("-t test", into.test, any_text{}, "one of the tests below"),
        value(
            "-s sizes", into.pieces, size_list{},
            "message size; several, separated by commas, are the parts of one message: 8, 64k, 1m, "
            "16,48,8192, and 1024:16 for sixteen parts of 1024 bytes (8)"),
        value("-n count", into.iterations, number{1, any},
              "iterations (1000000); overrides the -n of a batch file"),
        value("-w count", into.warmup, number{0, any},
              "iterations before the measured ones, at most a tenth of -n (10000); overrides the "
              "-w of "
              "a batch file"),
        value("-O count", into.outstanding, number{0, 65536},
              "messages in flight (latency tests 1, bandwidth tests 32)"),
        value("-R percent", into.rank, real{0, 100, "a percentile from 0 to 100"},
              "which percentile to print (50)"),
        flag("-V", into.validate, "check every byte of every received message"),
        flag("-X", into.extra_info,
             "print the library's description of an operation of the test after the final row"),
        help_line("\nHow"),
        {"-T n", "threads, each with its own worker; n,shared: all on one worker (needs -M multi)",
         [&into](std::string_view text) { apply_threads(into, text); },
         [&into] {
             return option_row::words{
                 "-T", fmt::format("{}{}", into.threads, into.shared_worker ? ",shared" : "")};
         }},
        value("-M mode", into.threading, thread_modes,
              "thread mode of the workers: single, serialized or multi (single)"),
        {"-D s[,r]", "layout of the message at sender and receiver: contig or iov (contig)",
         [&into](std::string_view text) { apply_layouts(into, text); },
         [&into] { return layout_words(into); }},
        value("-i bytes", into.stride, number{0, max_message},
              "distance between the parts of an iov message (0: back to back)"),
        flag("-C", into.wildcard, "receive with a tag mask that accepts any tag"),
        flag("-U", into.unexpected,
             "probe before each receive, so that every message is unexpected"),
        value("-r mode", into.receive, receive_modes,
              "recv or recv_data. Stream tests: receive into a buffer, or take what arrived "
              "without a "
              "copy. ucp_am tests: fetch rendezvous messages only, or all (recv)"),
        value("-H bytes", into.header, number{0, max_header},
              "header of an active message, in addition to its size (0)"),
        flag("-y", into.extra_copy, "copy the data of an active message out of its handler"),
        flag("-z", into.memory_handles,
             "register the memory of messages, put and get, and hand its handle to each operation"),
        {"-m type", "memory of the messages, sender[,receiver]: host (host)", check_memory},
        {"-e [mode]", "error handling of the endpoints: none, or peer (as -e alone) (none)",
         [&into](std::string_view text) {
             into.errors = text == "none" ? error_handling::none : error_handling::peer;
         },
         [&into] {
             return option_row::words{"-e",
                                      error_modes.print(static_cast<std::size_t>(into.errors))};
         },
         error_modes.names},
        value("-E mode", into.waiting, wait_modes,
              "waiting: poll, or sleep until there is something to do (poll)"),
        flag("-I", into.wakeup, "enable wake-up of the workers without sleeping on them"),
        help_line("\nTests of a transport (-T, -M, -e, -r, -z, -C and -U are not for them)"),
        value("-x name", into.transport, any_text{}, "transport, such as posix or tcp"),
        value("-d name", into.device, any_text{},
              "device, such as memory or eth0; a wrong one lists the available devices"),
        {"-D how", "operation: short, bcopy or zcopy (short; for put and get zcopy)"},
        {"-H bytes", "header of a message, counted in its size (8; other than 8 with zcopy only)"},
        value("-W count", into.flow_window, number{1, 65536},
              "messages that the sender may be ahead of the receiver's acknowledgements (127)"),
    };
}

void apply_test_words(test_params& params, std::span<const std::string> words) {
    parse_options_only(test_rows(params), words);
}

std::vector<std::string> to_words(test_params params) {
    return tools::to_words(test_rows(params));
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

void refuse_unsupported(const test_params& params, const accepted_options& accepted) {
    const auto refuse = [&](bool given, bool is_accepted, const char* option,
                            const char* meant_for) {
        if (!given || is_accepted) return;
        throw usage_error(fmt::format("{} is for {}, not for {}", option, meant_for, params.test));
    };
    refuse(params.wildcard, accepted.matching, "-C", "tag tests");
    refuse(params.unexpected, accepted.matching, "-U", "tag tests");
    refuse(params.header.has_value(), accepted.header, "-H", "active message tests");
    refuse(params.extra_copy, accepted.extra_copy, "-y", "ucp_am tests");
    refuse(params.receive == receive_mode::recv_data, accepted.receive_modes, "-r recv_data",
           "stream and ucp_am tests");
    refuse(params.memory_handles, accepted.handles && accepted.protocol, "-z",
           "messages, put and get of the protocol layer");
    const char* const transport = "tests of a transport";
    refuse(!params.transport.empty(), accepted.transport, "-x", transport);
    refuse(!params.device.empty(), accepted.transport, "-d", transport);
    refuse(params.operation.has_value(), accepted.transport, "-D short, bcopy or zcopy", transport);
    refuse(params.flow_window != test_params{}.flow_window, accepted.transport, "-W", transport);
    const char* const protocol = "tests of the protocol layer";
    const bool pieces = params.send_layout == layout::iov || params.recv_layout == layout::iov;
    refuse(params.threads > 1, accepted.protocol, "-T", protocol);
    refuse(params.threading != thread_mode::single, accepted.protocol, "-M", protocol);
    refuse(params.errors == error_handling::peer, accepted.protocol, "-e", protocol);
    refuse(pieces, accepted.protocol, "-D iov", protocol);
}

}  // namespace tools::perf
