#include "tools/ucg_sim/options.hpp"

#include <fmt/format.h>

#include <string_view>

#include "tools/common/failure.hpp"
#include "tools/common/option_scanner.hpp"
#include "tools/common/text.hpp"

namespace tools::ucg_sim {
namespace {

using ucg::schedule::collective;
using ucg::schedule::collective_count;

constexpr ucg::schedule::rank_t max_ranks = 16384;

std::uint64_t count_of(char letter, const std::string& text, std::uint64_t least,
                       std::uint64_t most) {
    const auto value = parse_count(text);
    if (!value || *value < least || *value > most) {
        throw usage_error(
            fmt::format("-{}: \"{}\" is not a number from {} to {}", letter, text, least, most));
    }
    return *value;
}

double positive(char letter, std::string_view text) {
    const auto value = parse_real(text);
    if (!value || *value < 0) {
        throw usage_error(fmt::format("-{}: \"{}\" is not a number from 0", letter, text));
    }
    return *value;
}

double rate(char letter, std::string_view text) {
    const double gigabytes = positive(letter, text);
    if (gigabytes <= 0) throw usage_error(fmt::format("-{}: a rate must be above 0", letter));
    return gigabytes * 1e9;
}

double size_in_bytes(std::string_view text) {
    const auto value = parse_size(text);
    if (!value || *value > (std::uint64_t{1} << 40U)) {
        throw usage_error(fmt::format("-s: \"{}\" is not a size up to 1t", text));
    }
    return static_cast<double>(*value);
}

// "8,64k" and ranges by doubling, "8-1m".
std::vector<double> sizes_of(const std::string& text) {
    std::vector<double> made;
    for (const std::string_view piece : split(text, ',')) {
        const auto ends = split(piece, '-');
        if (ends.size() > 2) {
            throw usage_error(fmt::format("-s: \"{}\" is neither a size nor a range", piece));
        }
        const double last = size_in_bytes(ends.back());
        const double first = size_in_bytes(ends.front());
        if (ends.size() == 2 && (first < 1 || first > last)) {
            throw usage_error(fmt::format("-s: the range \"{}\" is empty", piece));
        }
        for (double size = first; size <= last; size *= 2) {
            made.push_back(size);
            if (ends.size() == 1) break;
        }
    }
    return made;
}

std::vector<collective> collectives_of(const std::string& text) {
    std::vector<collective> made;
    for (std::size_t i = 0; i < collective_count; ++i)
        if (text == "all" || text == name(static_cast<collective>(i)))
            made.push_back(static_cast<collective>(i));
    if (made.empty()) {
        throw usage_error(fmt::format("-c: there is no collective \"{}\" (-l lists them)", text));
    }
    return made;
}

// "latency:bandwidth:send:receive:gap", of which those left out at the end, or empty, stay.
void change_link(char letter, const std::string& text, ucg::sim::link_parameters& link) {
    const auto parts = split(text, ':');
    if (parts.size() > 5) {
        throw usage_error(fmt::format("-{}: \"{}\" has more than five parts", letter, text));
    }
    double* const times[] = {&link.latency, nullptr, &link.send_overhead, &link.receive_overhead,
                             &link.gap};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].empty()) continue;
        if (times[i] == nullptr)
            link.bandwidth = rate(letter, parts[i]);
        else
            *times[i] = positive(letter, parts[i]);
    }
}

void take(options& into, const found_option& found) {
    const std::string& text = found.value;
    switch (found.letter) {
        case 'c':
            into.collectives = collectives_of(text);
            break;
        case 'a':
            into.algorithm = text;
            break;
        case 'n':
            into.on.ranks = static_cast<ucg::schedule::rank_t>(count_of('n', text, 1, max_ranks));
            break;
        case 'p':
            into.on.ranks_per_node =
                static_cast<ucg::schedule::rank_t>(count_of('p', text, 1, max_ranks));
            break;
        case 's':
            into.sizes = sizes_of(text);
            break;
        case 'r':
            into.root = static_cast<ucg::schedule::rank_t>(count_of('r', text, 0, max_ranks - 1));
            break;
        case 'i':
            change_link('i', text, into.on.inside);
            break;
        case 'e':
            change_link('e', text, into.on.between);
            break;
        case 'R':
            into.on.reduce_rate = rate('R', text);
            break;
        case 'C':
            into.on.copy_rate = rate('C', text);
            break;
        case 'g':
            into.cutting.segment = static_cast<std::size_t>(size_in_bytes(text));
            break;
        case 'm':
            into.carried = count_of('m', text, 1, std::uint64_t{1} << 32U);
            break;
        case 'd':
            into.on.max_delay = into.on.max_skew = positive('d', text);
            break;
        case 'S':
            into.on.seed = count_of('S', text, 0, ~std::uint64_t{0});
            break;
        case 'D':
            into.deterministic = true;
            break;
        case 'v':
            into.csv = true;
            break;
        case 'l':
            into.list = true;
            break;
        default:
            into.help = true;
    }
}

}  // namespace

options parse_options(std::span<const std::string> words) {
    options wanted;
    option_scanner scanner(words, "Dvlh", "canpsrieRCgmdS");
    while (const auto found = scanner.next())
        take(wanted, *found);
    if (!scanner.operands().empty()) {
        throw usage_error(fmt::format("\"{}\" is no option", scanner.operands().front()));
    }
    if (wanted.root >= wanted.on.ranks) throw usage_error("-r: there is no such rank");
    return wanted;
}

std::string help_text() {
    return R"(usage: ucg_sim [options]
Runs collectives in virtual time on a machine that is described, with the code of the real ones,
and checks every result.

  -c NAME     the collective, or all (allreduce)
  -a NAME     the algorithm; all of them; or auto, the one that is predicted to be the fastest (all)
  -s SIZES    bytes, of a block where each rank has one for each other: "8,64k", "8-1m" for doublings
  -n COUNT    ranks, up to 16384 (64)
  -p COUNT    ranks on a node (1)
  -r RANK     the root (0)
  -D          only algorithms that give the same bits however the data is cut
  -l          lists collectives and their algorithms
  -v          comma-separated values
  -h          this text

The machine. A link is LATENCY:BANDWIDTH:SEND:RECEIVE:GAP, in ns and GB/s: SEND and RECEIVE are
processor time of a message, GAP is the least time between two messages in a port. What is left
empty stays as it is.
  -i LINK     inside a node (300:20:100:100:0)
  -e LINK     between nodes, one port for each node (1500:12.5:250:250:0)
  -R GB/S     reducing two sources into a result (20)
  -C GB/S     copying (20)
  -g SIZE     segments that algorithms cut their data into (128k)
  -d NS       random delays up to so much, of messages and at the start (0)
  -S SEED     of the random delays (1)
  -m COUNT    elements of 4 bytes that a rank has at most in memory of a vector; the rest is
              charged for only (4096)
)";
}

}  // namespace tools::ucg_sim
