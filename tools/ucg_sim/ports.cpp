#include "tools/ucg_sim/ports.hpp"

#include <fmt/format.h>

namespace tools::ucg_sim {
namespace {

bool alike(const ucg::sim::traffic& a, const ucg::sim::traffic& b) noexcept {
    return a.out == b.out && a.in == b.in;
}

}  // namespace

std::string ports_text(std::span<const ucg::sim::traffic> nodes) {
    std::string made =
        nodes.empty() ? "" : "    port of node           bytes out        bytes in\n";
    for (std::size_t first = 0; first < nodes.size();) {
        std::size_t end = first + 1;
        while (end < nodes.size() && alike(nodes[first], nodes[end]))
            ++end;
        const std::string which =
            end - first > 1 ? fmt::format("{}-{}", first, end - 1) : fmt::format("{}", first);
        made += fmt::format("    {:<15} {:>16.0f} {:>15.0f}\n", which, nodes[first].out,
                            nodes[first].in);
        first = end;
    }
    return made;
}

}  // namespace tools::ucg_sim
