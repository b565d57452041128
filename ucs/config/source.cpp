#include "ucs/config/source.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "ucs/arch/cpu.hpp"
#include "ucs/config/ini_file.hpp"
#include "ucs/config/once.hpp"
#include "ucs/config/text.hpp"
#include "ucs/log/log.hpp"
#include "ucs/sys/trusted_file.hpp"

namespace ucs::config {
namespace {

constinit log::component self{"ucs.config"};

constexpr std::size_t max_file_size = 1 << 20;

// The installation from which this code was loaded.
struct installation {
    std::string file;     // LIB/../etc/ucx/ucx.conf; empty if unknown
    uid_t installer = 0;  // owner of the library file: this user could change the code itself
};

installation find_installation() {
    Dl_info library{};
    if (::dladdr(reinterpret_cast<const void*>(&find_installation), &library) == 0) return {};
    const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(library.dli_fname, nullptr),
                                                          std::free);
    struct stat about {};
    if (resolved == nullptr || ::stat(resolved.get(), &about) != 0) return {};
    std::string path(resolved.get());
    for (int level = 0; level < 2; ++level) {
        const std::size_t slash = path.rfind('/');
        if (slash == path.npos) return {};
        path.resize(slash);
    }
    return {path + "/etc/ucx/ucx.conf", about.st_uid};
}

const installation& the_installation() {
    static const installation found = find_installation();
    return found;
}

// The content of a configuration file, or the reason why it could not be read.
struct configuration_file {
    std::string text;
    bool readable_by_others = false;
    bool is_absent = false;
    std::string reason;  // empty if it was read
};

// Reads a configuration file. If the program names it, it may belong to any user; a default file
// must belong to a user that could change the library.
configuration_file read_text(const std::string& path, bool named) {
    const sys::opened_file file =
        named ? sys::open_for_reading(path, sys::file_trust::named_by_caller)
              : sys::open_for_reading(path, sys::file_trust::own, the_installation().installer);
    configuration_file made;
    made.is_absent = file.is_absent();
    made.reason = file.reason;
    if (!file) return made;
    struct stat about {};
    made.readable_by_others =
        ::fstat(file.fd.get(), &about) != 0 || (about.st_mode & (S_IRWXG | S_IRWXO)) != 0;
    sys::file_text read = sys::read_whole(file, max_file_size);
    if (read.error != 0) made.reason = std::strerror(read.error);
    made.text = std::move(read.text);
    return made;
}

// Warns if the folder does not exist, which is probably a typing error. A folder without ucx.conf
// is valid.
void warn_without_folder(const char* folder) {
    struct stat found {};
    int error = ::stat(folder, &found) == 0 ? 0 : errno;
    if (error == 0 && !S_ISDIR(found.st_mode)) error = ENOTDIR;
    if ((error != ENOENT && error != ENOTDIR) || !first_time(std::string("no folder ") + folder)) {
        return;
    }
    log::warn(self, "UCX_CONFIG_DIR=\"{:.200}\": {}; no file is read from there", folder,
              std::strerror(error));
}

machine_facts this_machine() {
    const arch::cpu_identity& cpu = arch::cpu();
    return {arch::vendor_name(cpu.vendor), arch::model_name(cpu.model)};
}

}  // namespace

result<source> source::read(std::string_view prefix, std::string_view file) {
    source made;
    made.prefix_ = prefix;
    if (file.empty()) {
        const std::string& installed = the_installation().file;
        if (!installed.empty()) (void)made.read_file(installed, false);
        if (installed != "/etc/ucx/ucx.conf") (void)made.read_file("/etc/ucx/ucx.conf", false);
        if (const char* folder = std::getenv("UCX_CONFIG_DIR"); folder != nullptr && *folder) {
            warn_without_folder(folder);
            (void)made.read_file(std::string(folder) + "/ucx.conf", false);
        }
    } else if (ucs_status_t status = made.read_file(std::string(file), true); status != UCS_OK) {
        return status;
    }
    made.read_environment();
    return made;
}

source source::of_family(std::string_view family) {
    source made;
    made.family_ = family;
    made.read_environment();
    return made;
}

source source::empty() {
    return {};
}

ucs_status_t source::read_file(const std::string& path, bool required) {
    const configuration_file file = read_text(path, required);
    if (!file.reason.empty()) {
        if (required) {
            log::error(self, "cannot read the configuration file {}: {}", path, file.reason);
            return file.is_absent ? UCS_ERR_NO_ELEM : UCS_ERR_IO_ERROR;
        }
        if (!file.is_absent && first_time("unreadable " + path))
            log::warn(self, "{} is left out: {}", path, file.reason);
        return UCS_OK;
    }
    ini_content content = parse_ini(file.text, this_machine());
    if (content.bad_lines != 0 && first_time("malformed " + path)) {
        log::warn(self, "{}:{}: the line is not NAME=VALUE; {} such line(s) are left out", path,
                  content.first_bad_line, content.bad_lines);
    }
    for (auto& setting : content.settings) {
        values_.insert_or_assign(
            std::move(setting.name),
            text_value{std::move(setting.text), origin::file,
                       path + ":" + std::to_string(setting.line), file.readable_by_others});
    }
    return UCS_OK;
}

void source::read_environment() {
    const std::string common = family_ + "_";
    const std::string own = prefix_.empty() ? "" : prefix_ + "_" + common;
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
        const std::string_view text(*variable);
        const std::size_t equal = text.find('=');
        if (equal == text.npos) continue;
        std::string_view name = text.substr(0, equal);
        const std::string where(name);
        const bool prefixed = !own.empty() && name.starts_with(own);
        if (!prefixed && !name.starts_with(common)) continue;
        name.remove_prefix(prefixed ? own.size() : common.size());
        if (name.empty()) continue;
        const auto found = values_.find(name);
        if (found != values_.end() && found->second.from == origin::prefixed_environment) continue;
        values_.insert_or_assign(
            std::string(name),
            text_value{std::string(text.substr(equal + 1)),
                       prefixed ? origin::prefixed_environment : origin::environment, where});
    }
}

void source::set(std::string_view name, std::string_view text) {
    values_.insert_or_assign(std::string(name),
                             text_value{std::string(text), origin::program, "the program"});
}

void source::erase_secret(std::string_view name) noexcept {
    const auto found = values_.find(name);
    if (found == values_.end() || found->second.text.empty()) return;
    std::string& text = found->second.text;
    ::explicit_bzero(text.data(), text.size());
    // The mark is shorter than a key, so this does not allocate.
    const std::string_view mark = hidden_value;
    text.resize(std::min(text.size(), mark.size()));
    mark.copy(text.data(), text.size());
}

const text_value* source::find(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
}

const text_value* source::find(const option& entry) const {
    const text_value* const own = find(entry.name);
    return own != nullptr || entry.family_name.empty() ? own : find(entry.family_name);
}

}  // namespace ucs::config
