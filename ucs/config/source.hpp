// Sources of option texts (environment, files, program), and functions that load a settings struct
// from them.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "ucs/config/option.hpp"

namespace ucs::config {

// Origin of an option's effective value, for `ucx_info -c` and error messages.
enum class origin { built_in, file, environment, prefixed_environment, program };

struct text_value {
    std::string text;
    origin from = origin::built_in;
    std::string where;                // "UCX_TLS", "/etc/ucx/ucx.conf:12", "ucp_config_modify"
    bool readable_by_others = false;  // whether other users can read the file that holds it
};

// Layers of option texts, in order of increasing priority: built-in default, ucx.conf, UCX_<NAME>,
// <PREFIX>_UCX_<NAME>, values set by the program. A snapshot: later changes of the environment have
// no effect. Value type; any thread may read.
class source {
public:
    // Reads the environment and ucx.conf. `prefix` may be empty ("MPI" gives MPI_UCX_<NAME>).
    // `file` empty means etc/ucx/ucx.conf below the library's installation, then /etc/ucx/ucx.conf,
    // then ucx.conf in the folder $UCX_CONFIG_DIR; later files override earlier ones. A named file
    // that cannot be read is an error; a missing default file is not. If a default file exists but
    // cannot be read, or the folder in UCX_CONFIG_DIR does not exist, it is skipped with one
    // warning. Lines that are not NAME=VALUE are skipped with one warning per file.
    static result<source> read(std::string_view prefix, std::string_view file);

    // Reads the environment variables <FAMILY>_<NAME> of another option family ("UCG").
    static source of_family(std::string_view family);

    // Returns a source without environment and files (tests, simulation).
    static source empty();

    // Sets NAME (without UCX_) from the program, without a check; see modify().
    void set(std::string_view name, std::string_view text);

    // Overwrites the text of a secret option after it has been read, and leaves a mark that it was
    // set.
    void erase_secret(std::string_view name) noexcept;

    [[nodiscard]] const text_value* find(std::string_view name) const;
    // Returns the text for an option: that of its own name if it is set, otherwise that of its
    // family name.
    [[nodiscard]] const text_value* find(const option& entry) const;

    // Reports every text whose name is in no table, see report_unused(). Does nothing if
    // UCX_WARN_UNUSED_ENV_VARS disables it.
    void warn_unknown(std::span<const table* const> known) const;

    // Logs, once per process and name, why the text of a name has no effect: a warning with the
    // nearest known name, or the reason from openucx_options.hpp. The reason is a warning if the
    // user expects the effect, otherwise a line of level info.
    void report_unused(std::span<const table* const> known, std::string_view name,
                       const text_value& value) const;
    [[nodiscard]] bool reports_unused() const;

    // All names with their texts, sorted by name.
    [[nodiscard]] const std::map<std::string, text_value, std::less<>>& values() const noexcept {
        return values_;
    }

    [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
    // The prefix of variable names: "UCX".
    [[nodiscard]] const std::string& family() const noexcept { return family_; }

private:
    void read_environment();
    ucs_status_t read_file(const std::string& path, bool required);

    std::string prefix_;
    std::string family_ = "UCX";
    std::map<std::string, text_value, std::less<>> values_;
};

// Checks the texts of all `options` without storing them. If some are invalid, logs a line for each
// and returns UCS_ERR_INVALID_PARAM.
ucs_status_t check(const table& options, const source& from);

// Fills `settings` from `from` according to `options`. An option without a text gets its default.
// An invalid text is logged as an error with the variable, the text and the expected form, and the
// option gets its default. All options are read; returns the first error.
ucs_status_t load(void* settings, const table& options, const source& from);

// Does the same for a new struct whose table is `Settings::options()`.
template<class Settings>
result<Settings> load(const source& from) {
    Settings settings{};
    if (ucs_status_t status = load(&settings, Settings::options(), from); status != UCS_OK) {
        return status;
    }
    return settings;
}

// Sets NAME. If the text is invalid for its option, logs the expected form and returns
// UCS_ERR_INVALID_PARAM. A name that is in no table is stored anyway and reported as unused,
// because programs set options of other versions and treat an error as fatal.
ucs_status_t modify(source& target, std::span<const table* const> known, std::string_view name,
                    std::string_view text);

// Flags of print, the values of ucs_config_print_flags_t.
enum print_flags : unsigned {
    print_values = 1,
    print_header = 2,
    print_doc = 4,
    print_hidden = 8,
    print_comment_default = 16,
};

// Returns the effective value of an option as text.
[[nodiscard]] std::string value_text(const source& from, const option& entry);

// Returns lines `UCX_<NAME>=<value>`, which clients parse; with documentation as comments above
// each line. A filter selects options whose name contains it.
std::string print(const source& from, std::span<const table* const> known, std::string_view title,
                  unsigned flags, std::string_view filter = {});

}  // namespace ucs::config
