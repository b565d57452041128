#include "ucp/proto/remote_choice.hpp"

#include <fmt/format.h>

#include <limits>

#include "ucp/proto/pipeline.hpp"

namespace ucp {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

// Before each write the system checks the identity of the owner in a separate call (uct/sm/cma).
double single_copy(const lane_set& lanes, uct::op needed, std::size_t length) noexcept {
    if (lanes.rma == nullptr || !lanes.rma->ops.has(needed)) return never;
    const bool within_host = lanes.rma->reach == uct::scope::host;
    const double check =
        needed == uct::op::put_zcopy && within_host ? lanes.costs->single_copy_overhead : 0;
    return check + read_seconds(lanes, length);
}

void explain_kind(const lane_set& lanes, const char* title,
                  remote_estimate (*predict)(const lane_set&, std::size_t), std::string& text) {
    text += fmt::format("#   {}:\n", title);
    constexpr std::size_t sizes[] = {8, 256, 4096, 65536, 1048576, 16777216};
    for (const std::size_t size : sizes) {
        const remote_estimate predicted = predict(lanes, size);
        const bool copied = prefers_single_copy(predicted);
        text += fmt::format("#     {:>8} bytes: {}, {:.2f} us", size,
                            copied ? "single copy" : "messages",
                            (copied ? predicted.single_copy : predicted.messages) * 1e6);
        if (lanes.rma != nullptr) {
            text += fmt::format("; {} {:.2f} us", copied ? "messages" : "single copy",
                                (copied ? predicted.messages : predicted.single_copy) * 1e6);
        }
        text += '\n';
    }
}

}  // namespace

// The data travels in one direction, and the owner copies it from the message into its memory.
remote_estimate estimate_put(const lane_set& lanes, std::size_t length) noexcept {
    const double flow = length > lanes.am->max_bcopy
                            ? pipeline_seconds(lanes, length)
                            : lanes.am->latency + lanes.am->overhead + lanes.costs->copy_overhead +
                                  two_copies_seconds(lanes, length);
    return {single_copy(lanes, uct::op::put_zcopy, length), flow};
}

// A request travels before the data.
remote_estimate estimate_get(const lane_set& lanes, std::size_t length) noexcept {
    return {single_copy(lanes, uct::op::get_zcopy, length),
            control_seconds(lanes) + estimate_put(lanes, length).messages};
}

std::string explain_remote(const lane_set& lanes) {
    std::string text = "#\n# Memory of the peer that is not mapped here:\n";
    if (lanes.rma == nullptr) text += "#   no lane reaches it, so everything goes by messages\n";
    explain_kind(lanes, "put", estimate_put, text);
    explain_kind(lanes, "get", estimate_get, text);
    return text;
}

}  // namespace ucp
