#include "ucs/security/job_key.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "ucs/config/text.hpp"
#include "ucs/log/log.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucs::security {

namespace {

constinit log::component self{"ucs.security"};

constexpr std::size_t longest_file = 4096;

// Bytes of a file that may hold a key; erased when it is destroyed.
struct file_content {
    std::array<std::byte, longest_file + 1> bytes;
    std::size_t length = 0;

    ~file_content() { erase(bytes); }
    [[nodiscard]] std::string_view text() const noexcept {
        return {reinterpret_cast<const char*>(bytes.data()), length};
    }
};

// 0, or the errno of the failed read.
int read_all(int fd, file_content& into) noexcept {
    while (into.length < into.bytes.size()) {
        const ssize_t got =
            ::read(fd, into.bytes.data() + into.length, into.bytes.size() - into.length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno;
        if (got == 0) break;
        into.length += static_cast<std::size_t>(got);
    }
    return 0;
}

// nullptr: the file may hold a key. Else the reason why it may not.
const char* why_not_private(const struct stat& found) noexcept {
    if (!S_ISREG(found.st_mode)) return "it is no regular file";
    if (found.st_uid != ::geteuid()) return "it belongs to another user";
    if ((found.st_mode & 077) != 0) {
        return "others than its owner have access to it; chmod 600 makes it private";
    }
    if (found.st_size > static_cast<off_t>(longest_file)) return "it is longer than 4096 bytes";
    return nullptr;
}

ucs_status_t refuse(const std::string& path, const char* reason) noexcept {
    log::error(self, "UCX_JOB_KEY_FILE: {} cannot be used: {}", path, reason);
    return UCS_ERR_INVALID_PARAM;
}

}  // namespace

const config::table& job_key_settings::options() {
    static const config::table options{
        "Security",
        {
            config::make_option<&job_key_settings::text>(
                "JOB_KEY", "",
                "The key of the job, a text of 16 characters or more that is hard to guess. All\n"
                "processes of the job must have the same one: with it every network connection\n"
                "begins with a mutual proof of the key, and a peer that fails it is refused. Its\n"
                "text is never printed. Empty: UCX_JOB_KEY_FILE counts."),
            config::make_option<&job_key_settings::file>(
                "JOB_KEY_FILE", "",
                "A file that holds the key of the job. It must be a regular file of this user\n"
                "with mode 0600 or stricter. Empty: there is no key, unless UCX_JOB_KEY has one."),
        }};
    return options;
}

result<key> parse_job_key(std::string_view text) noexcept {
    text = config::trim(text);
    if (text.size() < shortest_key_text) return UCS_ERR_INVALID_PARAM;
    return key::from_text(text);
}

result<key> read_job_key(const std::string& path) noexcept {
    const unique_fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!fd) {
        return refuse(path, errno == ELOOP ? "it is a symbolic link" : std::strerror(errno));
    }
    struct stat found {};
    if (::fstat(fd.get(), &found) != 0) return refuse(path, std::strerror(errno));
    if (const char* reason = why_not_private(found); reason != nullptr) return refuse(path, reason);
    file_content content;
    if (const int error = read_all(fd.get(), content); error != 0) {
        return refuse(path, std::strerror(error));
    }
    if (content.length > longest_file) return refuse(path, "it is longer than 4096 bytes");
    auto parsed = parse_job_key(content.text());
    if (!parsed) return refuse(path, "it holds a key of less than 16 characters");
    return parsed;
}

result<std::optional<key>> load_job_key(const config::source& from) {
    const auto options = config::load<job_key_settings>(from);
    if (!options) return options.status();
    if (!options->text.text.empty()) {
        const auto parsed = parse_job_key(options->text.text);
        if (parsed) return std::optional(*parsed);
        log::error(self, "UCX_JOB_KEY has less than 16 characters; a key must be hard to guess");
        return parsed.status();
    }
    if (options->file.empty()) return std::optional<key>();
    const auto read = read_job_key(options->file);
    if (!read) return read.status();
    return std::optional(*read);
}

}  // namespace ucs::security
