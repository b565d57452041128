#include "ucg/oob/job_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "ucg/oob/log.hpp"
#include "ucs/config/text.hpp"
#include "ucs/sys/process.hpp"
#include "ucs/sys/text_file.hpp"

namespace ucg::oob {
namespace {

constexpr std::size_t longest_job = 100;

bool is_good_name(std::string_view job) {
    return !job.empty() && job.size() <= longest_job &&
           std::all_of(job.begin(), job.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '.' || c == '_' || c == '-';
           });
}

std::string here_file(rank_t rank) {
    return fmt::format("here.{}", rank);
}
std::string left_file(rank_t rank) {
    return fmt::format("left.{}", rank);
}

ucs_status_t cannot(const char* what, const std::string& path) {
    ucs::log::error(oob_log, "{} {}: {}", what, path, std::strerror(errno));
    return UCS_ERR_IO_ERROR;
}

bool write_all(int fd, std::span<const std::byte> from) noexcept {
    while (!from.empty()) {
        const ssize_t count = ::write(fd, from.data(), from.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return false;
        from = from.subspan(static_cast<std::size_t>(count));
    }
    return true;
}

// Some file systems find out at the end that there is no room.
bool close_good(ucs::unique_fd file) noexcept {
    return ::close(file.release()) == 0;
}

// Which process of which host this is.
std::string here_text() {
    return fmt::format("{} {} {} {}", ucs::sys::host_id(), ucs::sys::pid_namespace(), ::getpid(),
                       ucs::sys::start_time(::getpid()).value_or(0));
}

template<class Number>
std::optional<Number> number(const std::string& text) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end) return {};
    return value;
}

// Also one that ended and that nobody has waited for.
bool is_gone(std::string_view text) {
    const auto parts = ucs::config::split(text, ' ');
    if (parts.size() != 4) return false;
    const auto pid = number<pid_t>(parts[2]);
    const auto start = number<std::uint64_t>(parts[3]);
    const auto host = number<std::uint64_t>(parts[0]);
    const auto space = number<std::uint64_t>(parts[1]);
    if (!pid || *pid <= 0 || !start || *start == 0) return false;
    if (host != ucs::sys::host_id() || space != ucs::sys::pid_namespace()) return false;
    const auto stat = ucs::sys::read_text(fmt::format("/proc/{}/stat", *pid));
    if (!stat) return ::access("/proc/self/stat", R_OK) == 0;
    const std::size_t name_end = stat->rfind(") ");
    if (name_end != stat->npos && name_end + 2 < stat->size() &&
        ((*stat)[name_end + 2] == 'Z' || (*stat)[name_end + 2] == 'X'))
        return true;
    const auto found = ucs::sys::parse_start_time(*stat);
    return found && *found != *start;
}

}  // namespace

bool read_all(int fd, std::span<std::byte> into) noexcept {
    while (!into.empty()) {
        const ssize_t count = ::read(fd, into.data(), into.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        into = into.subspan(static_cast<std::size_t>(count));
    }
    return true;
}

ucs::result<job_folder> job_folder::open(std::string_view path, std::string_view job) {
    if (path.empty() || !is_good_name(job)) {
        ucs::log::error(
            oob_log,
            "ranks that meet in a folder need its path (\"{}\" is given) and the name of "
            "a job (\"{}\" is given): letters, digits, dots, _ and -, at most {}, new "
            "for each start",
            path, job, longest_job);
        return UCS_ERR_INVALID_PARAM;
    }
    std::string whole = fmt::format("{}/ucg-{}", path, job);
    if (::mkdir(whole.c_str(), 0700) != 0 && errno != EEXIST) return cannot("mkdir", whole);
    ucs::unique_fd folder(::open(whole.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat facts {};
    if (!folder || ::fstat(folder.get(), &facts) != 0) return cannot("open", whole);
    if (facts.st_uid != ::geteuid() || (facts.st_mode & 0077) != 0) {
        ucs::log::error(
            oob_log,
            "{} is of user {} with mode {:o}: it must be of this user ({}) and closed to "
            "others",
            whole, facts.st_uid, facts.st_mode & 07777, ::geteuid());
        return UCS_ERR_REJECTED;
    }
    return job_folder(std::move(whole), std::move(folder));
}

ucs_status_t job_folder::enter(rank_t rank) const {
    const std::string name = here_file(rank);
    const bool has_left = ::faccessat(folder_.get(), left_file(rank).c_str(), F_OK, 0) == 0;
    ucs::unique_fd file;
    if (!has_left)
        file = ucs::unique_fd(::openat(folder_.get(), name.c_str(),
                                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (has_left || (!file && errno == EEXIST)) {
        ucs::log::error(
            oob_log,
            "{} has files of rank {} already: each start of a job needs a name of its own "
            "(UCG_OOB_JOB), and each process a rank of its own",
            path_, rank);
        return UCS_ERR_ALREADY_EXISTS;
    }
    if (!file) return cannot("make", path_ + "/" + name);
    const std::string text = here_text();
    if (!write_all(file.get(), std::as_bytes(std::span(text))) || !close_good(std::move(file)))
        return cannot("write", path_ + "/" + name);
    return UCS_OK;
}

void job_folder::leave(rank_t rank, rank_t size) const noexcept {
    try {
        const auto fd = folder_.get();
        if (::renameat(fd, here_file(rank).c_str(), fd, left_file(rank).c_str()) != 0) return;
        rank_t gone = 0;
        for (const std::string& name : ucs::sys::list_folder(path_))
            if (name.starts_with("left.")) ++gone;
        if (gone == size) clean();
    } catch (const std::bad_alloc&) {  // the files stay
    }
}

void job_folder::clean() const noexcept {
    for (const std::string& name : ucs::sys::list_folder(path_))
        remove(name);
    static_cast<void>(::rmdir(path_.c_str()));
}

ucs_status_t job_folder::write(const std::string& name, rank_t by, std::span<const std::byte> head,
                               std::span<const std::byte> body) const {
    const std::string first = fmt::format("temporary.{}", by);
    ucs::unique_fd file(::openat(folder_.get(), first.c_str(),
                                 O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return cannot("make", path_ + "/" + first);
    if (!write_all(file.get(), head) || !write_all(file.get(), body) ||
        !close_good(std::move(file)) ||
        ::renameat(folder_.get(), first.c_str(), folder_.get(), name.c_str()) != 0) {
        const ucs_status_t status = cannot("write", path_ + "/" + name);
        remove(first);
        return status;
    }
    return UCS_OK;
}

void job_folder::remove(const std::string& name) const noexcept {
    static_cast<void>(::unlinkat(folder_.get(), name.c_str(), 0));
}

ucs::unique_fd job_folder::find(const std::string& name) const noexcept {
    return ucs::unique_fd(
        ::openat(folder_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
}

std::optional<std::vector<std::byte>> job_folder::read(const std::string& name,
                                                       std::size_t most) const {
    const ucs::unique_fd file = find(name);
    if (!file) return {};
    std::vector<std::byte> content(most);
    ssize_t count = 0;
    do {
        count = ::read(file.get(), content.data(), content.size());
    } while (count < 0 && errno == EINTR);
    if (count < 0) return {};
    content.resize(static_cast<std::size_t>(count));
    return content;
}

job_folder::presence job_folder::look_for(rank_t rank) const {
    const auto text = read(here_file(rank), 256);
    if (!text) return find(left_file(rank)) ? presence::left : presence::absent;
    const bool gone = is_gone({reinterpret_cast<const char*>(text->data()), text->size()});
    return gone ? presence::dead : presence::here;
}

}  // namespace ucg::oob
