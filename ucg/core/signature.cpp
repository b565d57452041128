#include "ucg/core/signature.hpp"

#include <fmt/format.h>
#include <ucg/api/ucg.h>

#include "ucg/algo/table.hpp"
#include "ucs/sys/process.hpp"

namespace ucg {
namespace {

using schedule::collective;

std::string_view algorithm_of(collective type, std::uint64_t hash) {
    for (const schedule::algorithm& each : algo::algorithms(type))
        if (ucs::sys::hash_text(each.name) == hash) return each.name;
    return "an algorithm that this version of the library does not know";
}

std::string text_of_elements(const signature& call) {
    const auto type = static_cast<ucg_type_t>(call.type);
    std::string made = ucg_type_name(type);
    if (type == UCG_TYPE_OPAQUE) made += fmt::format(" of {} bytes", call.element);
    return made;
}

}  // namespace

std::string text_of(const signature& call) {
    if (call.operation >= signature::program)
        return name(static_cast<program_kind>(call.operation - signature::program));
    std::string made = ucg_coll_name(static_cast<ucg_coll_t>(call.operation));
    if (call.operation >= UCG_COLL_LAST) return made;
    const auto type = static_cast<collective>(call.operation);
    if (traits_of(type).has_counts)
        made += " of " + text_of_elements(call);
    else if (type != collective::barrier)
        made += fmt::format(" of {} {}", call.count, text_of_elements(call));
    if (traits_of(type).reduces)
        made += fmt::format(" with {}", ucg_op_name(static_cast<ucg_op_t>(call.op)));
    if (traits_of(type).has_root()) made += fmt::format(", root {}", call.root);
    if (call.flags != 0) made += ", deterministic";
    return made + fmt::format(", by {}", algorithm_of(type, call.algorithm));
}

}  // namespace ucg
