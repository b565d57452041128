#include "tools/common/json_report.hpp"

#include <fmt/chrono.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>

#include "tools/common/affinity.hpp"
#include "tools/common/build_config.hpp"

namespace tools {
namespace {

// Returns the processor's name from /proc/cpuinfo.
std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("model name")) continue;
        const std::size_t colon = line.find(": ");
        if (colon != std::string::npos) return line.substr(colon + 2);
    }
    return "unknown";
}

std::string now_in_utc() {
    const std::time_t now = std::time(nullptr);
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

void write_host(json_writer& into) {
    utsname names{};
    (void)::uname(&names);
    into.begin_object("host");
    into.member("name", names.nodename);
    into.member("kernel", fmt::format("{} {}", names.sysname, names.release));
    into.member("machine", names.machine);
    into.member("processor", processor_name());
    into.member("processors_online", ::sysconf(_SC_NPROCESSORS_ONLN));
    into.end();
}

void write_libraries(json_writer& into, std::span<const library> libraries) {
    into.begin_array("libraries");
    for (const library& each : libraries) {
        into.begin_object();
        into.member("name", each.name);
        into.member("version", each.version);
        into.member("path", each.path);
        into.end();
    }
    into.end();
}

// Returns the environment variables of the libraries, sorted.
std::vector<std::string> settings_of_environment() {
    std::vector<std::string> found;
    for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
        const std::string_view text = *each;
        if (text.starts_with("UCX_") || text.starts_with("UCG_")) found.emplace_back(text);
    }
    std::sort(found.begin(), found.end());
    return found;
}

void write_environment(json_writer& into) {
    into.begin_object("environment");
    for (const std::string_view each : settings_of_environment()) {
        const std::size_t sign = std::min(each.find('='), each.size());
        const std::string_view name = each.substr(0, sign);
        const std::string_view value = each.substr(std::min(sign + 1, each.size()));
        into.member(name, is_secret(name) ? std::string_view("(not shown)") : value);
    }
    into.end();
}

}  // namespace

bool is_secret(std::string_view name) noexcept {
    return name.ends_with("_KEY");
}

void write_conditions(json_writer& into, const run_conditions& conditions) {
    into.begin_object("conditions");
    into.member("tool_version", build_version);
    into.member("tool_revision", build_revision);
    into.member("tool_build", build_configuration);
    into.member("started", now_in_utc());
    into.begin_array("command");
    into.element(conditions.tool);
    for (const std::string& each : conditions.arguments)
        into.element(each);
    into.end();
    write_libraries(into, conditions.libraries);
    write_host(into);
    into.begin_array("binding");
    for (const unsigned cpu : allowed_cpus())
        into.element(cpu);
    into.end();
    write_environment(into);
    into.end();
}

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
