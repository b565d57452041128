#include "tools/common/json_report.hpp"

namespace tools {

json_report::json_report(const run_conditions& conditions, const writer& settings) {
    text_.begin_object();
    text_.member("tool", conditions.tool);
    write_conditions(text_, conditions);
    text_.begin_object("settings");
    settings(text_);
    text_.end();
    text_.begin_array("rows");
}

void json_report::add_row(const writer& row) {
    text_.begin_object();
    row(text_);
    text_.end();
}

template<class Error>
std::string json_report::end_with(const Error& error) {
    text_.end();
    text_.member("error", error);
    text_.end();
    return text_.text();
}

std::string json_report::finish() {
    return end_with(nullptr);
}

std::string json_report::finish_after(std::string_view error) {
    return end_with(error);
}

}  // namespace tools
