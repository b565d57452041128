#include "tools/common/standard_options.hpp"

#include <utility>

#include "tools/common/failure.hpp"

namespace tools {
namespace {

// Unprintable letters for options that have only a long name.
constexpr char version_letter = '\1';
constexpr char csv_letter = '\2';
constexpr char json_letter = '\3';

}  // namespace

bool standard_options::take(const found_option& option) {
    switch (option.letter) {
        case 'h':
            help = true;
            return true;
        case version_letter:
            version = true;
            return true;
        case csv_letter:
            choose(output_form::csv);
            return true;
        case json_letter:
            choose(output_form::json);
            return true;
        default:
            return false;
    }
}

void standard_options::choose(output_form wanted) {
    if (form != output_form::text && form != wanted) {
        throw usage_error("--csv and --json exclude each other");
    }
    form = wanted;
}

option_set with_standard_options(option_set own) {
    own.flags += {'h', version_letter};
    own.names.insert(own.names.end(), {{"help", 'h'}, {"version", version_letter}});
    return own;
}

option_set with_report_options(option_set own) {
    option_set all = with_standard_options(std::move(own));
    all.flags += {csv_letter, json_letter};
    all.names.insert(all.names.end(), {{"csv", csv_letter}, {"json", json_letter}});
    return all;
}

}  // namespace tools
