// Where option texts come from, and loading a settings struct from them.
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
    bool readable_by_others = false;  // the file that it stands in
};

// Layers of option texts, the strongest last: built-in default, ucx.conf, UCX_<NAME>,
// <PREFIX>_UCX_<NAME>, values set by the program. A snapshot: later changes of the environment
// do not show. Value type; any thread may read.
class source {
public:
    // Reads the environment and ucx.conf. `prefix` may be empty ("MPI" gives MPI_UCX_<NAME>).
    // `file` empty means etc/ucx/ucx.conf below the library's installation, then
    // /etc/ucx/ucx.conf, then ucx.conf in the folder $UCX_CONFIG_DIR, the later ones stronger; a
    // named file that cannot be read is an error, a missing default one is not. A default file
    // that exists but cannot be read gives one warning and is left out, and so does a folder in
    // UCX_CONFIG_DIR that does not exist; lines that are not NAME=VALUE give one warning per file
    // and are left out.
    static result<source> read(std::string_view prefix, std::string_view file);

    // The environment's variables <FAMILY>_<NAME>, of a library that has options of its own
    // ("UCG").
    static source of_family(std::string_view family);

    // A source with no environment and no file (tests, sim).
    static source empty();

    // Sets NAME (without UCX_) from the program. No check: see registry::modify.
    void set(std::string_view name, std::string_view text);

    // Overwrites the text of a secret option that has been read, and leaves a mark that there is
    // one.
    void erase_secret(std::string_view name) noexcept;

    [[nodiscard]] const text_value* find(std::string_view name) const;
    // The text for an option: by its own name, else by that of its family.
    [[nodiscard]] const text_value* find(const option& which) const;

    // Reports every text whose name is in no table, see report_unused. Does nothing where
    // UCX_WARN_UNUSED_ENV_VARS says so.
    void warn_unknown(std::span<const table* const> known) const;

    // Writes, once per process and name, why the text of a name has no effect: a warning with the
    // nearest known name, or the reason that openucx_options.hpp gives. Such a reason is a warning
    // only if the user looks for the effect, and a line of level info otherwise.
    void report_unused(std::span<const table* const> known, std::string_view name,
                       const text_value& value) const;
    [[nodiscard]] bool reports_unused() const;

    // Every name with a text, sorted by name.
    [[nodiscard]] const std::map<std::string, text_value, std::less<>>& values() const noexcept {
        return values_;
    }

    [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
    // What names of variables begin with: "UCX".
    [[nodiscard]] const std::string& family() const noexcept { return family_; }

private:
    void read_environment();
    ucs_status_t read_file(const std::string& path, bool required);

    std::string prefix_;
    std::string family_ = "UCX";
    std::map<std::string, text_value, std::less<>> values_;
};

// Looks at the texts for all of `options` without storing them anywhere: UCS_ERR_INVALID_PARAM, and
// a line in the log for each, when some are wrong.
ucs_status_t check(const table& options, const source& from);

// Fills `settings` from `from` by `options`: a missing text falls back to the default, a wrong
// one is logged as an error that names the variable, the text and the expected form. All options
// are looked at; the first error is returned, and a wrong option has its default.
ucs_status_t load(void* settings, const table& options, const source& from);

// The same into a fresh struct whose table is returned by `Settings::options()`.
template<class Settings>
result<Settings> load(const source& from) {
    Settings settings{};
    if (ucs_status_t status = load(&settings, Settings::options(), from); status != UCS_OK) {
        return status;
    }
    return settings;
}

// Sets NAME. A text that does not fit its option is UCS_ERR_INVALID_PARAM, with a log line that has
// the expected form. A name that is in no table is kept all the same and reported as unused:
// programs set options of other versions, and treat a refusal as fatal.
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

// A value that an option was found to have, as text: what the program would read.
[[nodiscard]] std::string value_text(const source& from, const option& which);

// The text of `UCX_<NAME>=<value>` lines that clients parse; with docs as comments above each. A
// filter leaves only options whose name contains it.
std::string print(const source& from, std::span<const table* const> known, std::string_view title,
                  unsigned flags, std::string_view filter = {});

}  // namespace ucs::config
