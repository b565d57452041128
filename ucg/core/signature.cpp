#include "ucg/core/signature.hpp"

#include <fmt/format.h>
#include <ucg/api/ucg.h>

#include "ucg/algo/table.hpp"
#include "ucg/core/program_kind.hpp"
#include "ucg/select/selector.hpp"
#include "ucs/sys/process.hpp"

namespace ucg {
namespace {

using schedule::collective;

std::string_view algorithm_of(collective what, std::uint64_t hash) {
    for (const schedule::algorithm& each : algo::algorithms(what))
        if (ucs::sys::hash_text(each.name) == hash) return each.name;
    return hash == ucs::sys::hash_text(select::shared_memory)
               ? select::shared_memory
               : "an algorithm that this version of the library does not know";
}

std::string text_of_elements(const signature& of) {
    const auto type = static_cast<ucg_type_t>(of.type);
    std::string made = ucg_type_name(type);
    if (type == UCG_TYPE_OPAQUE) made += fmt::format(" of {} bytes", of.element);
    return made;
}

}  // namespace

std::string text_of(const signature& of) {
    if (of.what >= signature::program)
        return name(static_cast<program_kind>(of.what - signature::program));
    std::string made = ucg_coll_name(static_cast<ucg_coll_t>(of.what));
    if (of.what >= UCG_COLL_LAST) return made;
    const auto what = static_cast<collective>(of.what);
    if (has_block_counts(what))
        made += " of " + text_of_elements(of);
    else if (what != collective::barrier)
        made += fmt::format(" of {} {}", of.count, text_of_elements(of));
    if (takes_operator(what))
        made += fmt::format(" with {}", ucg_op_name(static_cast<ucg_op_t>(of.op)));
    if (has_root(what)) made += fmt::format(", root {}", of.root);
    if (of.flags != 0) made += ", deterministic";
    return made + fmt::format(", by {}", algorithm_of(what, of.algorithm));
}

}  // namespace ucg
