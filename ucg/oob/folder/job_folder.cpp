#include "ucg/oob/folder/job_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>

#include "ucg/oob/log.hpp"
#include "ucs/config/text.hpp"
#include "ucs/sys/file_size.hpp"
#include "ucs/sys/process.hpp"
#include "ucs/sys/text_file.hpp"
#include "ucs/sys/trusted_file.hpp"

namespace ucg::oob {
namespace {

constexpr std::size_t max_job_length = 100;

bool is_valid_job(std::string_view job) {
    return !job.empty() && job.size() <= max_job_length &&
           std::all_of(job.begin(), job.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '.' || c == '_' || c == '-';
           });
}

std::string presence_file(rank_t rank) {
    return fmt::format("here.{}", rank);
}
std::string left_file(rank_t rank) {
    return fmt::format("left.{}", rank);
}

// A file of a network file system may vanish (ESTALE).
bool is_not_there(int error) noexcept {
    return error == ENOENT || error == ESTALE;
}

ucs_status_t log_error(const char* action, const std::string& path) {
    ucs::log::error(oob_log, "{} {}: {}", action, path, std::strerror(errno));
    return UCS_ERR_IO_ERROR;
}

bool write_all(int fd, std::span<const std::byte> from) noexcept {
    while (!from.empty()) {
        const ssize_t count = ucs::sys::write_within_limit(
            fd, {reinterpret_cast<const char*>(from.data()), from.size()});
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return false;
        from = from.subspan(static_cast<std::size_t>(count));
    }
    return true;
}

// Some file systems report a full disk only at close().
bool close_checked(ucs::unique_fd file) noexcept {
    return ::close(file.release()) == 0;
}

// Identifies this process: host, PID namespace, PID and start time.
std::string process_text() {
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

// True if the process has ended; a zombie counts as ended.
bool is_gone(std::string_view text) {
    const auto parts = ucs::config::split(text, ' ');
    if (parts.size() != 4) return false;
    const auto pid = number<pid_t>(parts[2]);
    const auto start = number<std::uint64_t>(parts[3]);
    const auto host = number<std::uint64_t>(parts[0]);
    const auto pid_namespace = number<std::uint64_t>(parts[1]);
    if (!pid || *pid <= 0 || !start || *start == 0) return false;
    if (host != ucs::sys::host_id() || pid_namespace != ucs::sys::pid_namespace()) return false;
    if (::kill(*pid, 0) != 0 && errno == ESRCH) return true;
    // The PID may belong to another process now, the process may have ended meanwhile, or /proc may
    // not show it.
    const auto stat = ucs::sys::read_text(fmt::format("/proc/{}/stat", *pid));
    if (!stat) return false;
    const std::size_t name_end = stat->rfind(") ");
    if (name_end != stat->npos && name_end + 2 < stat->size() &&
        ((*stat)[name_end + 2] == 'Z' || (*stat)[name_end + 2] == 'X'))
        return true;
    const auto found = ucs::sys::parse_start_time(*stat);
    return found && *found != *start;
}

}  // namespace

ucs::result<job_folder> job_folder::open(std::string_view path, std::string_view job) {
    if (path.empty() || !is_valid_job(job)) {
        ucs::log::error(
            oob_log,
            "ranks that meet in a folder need its path (\"{}\" is given) and the name of "
            "a job (\"{}\" is given): letters, digits, dots, _ and -, at most {}, new "
            "for each start",
            path, job, max_job_length);
        return UCS_ERR_INVALID_PARAM;
    }
    std::string whole = fmt::format("{}/ucg-{}", path, job);
    if (::mkdir(whole.c_str(), 0700) != 0 && errno != EEXIST) return log_error("mkdir", whole);
    ucs::unique_fd folder(::open(whole.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat facts {};
    if (!folder || ::fstat(folder.get(), &facts) != 0) return log_error("open", whole);
    if (facts.st_uid != ::geteuid() || (facts.st_mode & 0077) != 0) {
        ucs::log::error(
            oob_log,
            "{} is of user {} with mode {:o}: it must be of this user ({}) and closed to "
            "others",
            whole, facts.st_uid, facts.st_mode & 07777, ::geteuid());
        return UCS_ERR_REJECTED;
    }
    // The process may change its working directory before it leaves this folder.
    if (whole.front() != '/') {
        std::error_code error;
        const auto directory = std::filesystem::current_path(error);
        if (error) {
            errno = error.value();
            return log_error("find the folder of", whole);
        }
        whole = (directory / whole).string();
    }
    return job_folder(std::move(whole), std::move(folder));
}

ucs_status_t job_folder::enter(rank_t rank) const {
    // A link makes the file appear complete, and fails if it exists. The temporary name contains
    // the process, because two processes may have the same rank by mistake.
    static std::atomic<unsigned> count{0};
    const std::string temporary =
        fmt::format("temporary.{}.{:x}.{:x}.{}.{}", rank, ucs::sys::host_id(),
                    ucs::sys::pid_namespace(), ::getpid(), ++count);
    const std::string name = presence_file(rank);
    const int fd = folder_.get();
    const std::string text = process_text();
    const ucs_status_t written = create(temporary, std::as_bytes(std::span(text)), {});
    if (written != UCS_OK) return written;
    const bool has_left = ::faccessat(fd, left_file(rank).c_str(), F_OK, 0) == 0;
    const bool is_in = !has_left && ::linkat(fd, temporary.c_str(), fd, name.c_str(), 0) == 0;
    const int error = has_left ? EEXIST : errno;
    remove(temporary);
    if (is_in) return UCS_OK;
    if (error != EEXIST) {
        errno = error;
        return log_error("make", path_of(name));
    }
    ucs::log::error(oob_log,
                    "{} has files of rank {} already: each start of a job needs a name of its own "
                    "(UCG_OOB_JOB), and each process a rank of its own",
                    path_, rank);
    return UCS_ERR_ALREADY_EXISTS;
}

void job_folder::leave(rank_t rank, rank_t size) const noexcept try {
    const auto fd = folder_.get();
    if (::renameat(fd, presence_file(rank).c_str(), fd, left_file(rank).c_str()) != 0) return;
    const auto names = list();
    const auto gone =
        std::ranges::count_if(names, [](const auto& name) { return name.starts_with("left."); });
    if (static_cast<rank_t>(gone) != size) return;
    for (const std::string& name : names)
        remove(name);
    static_cast<void>(::rmdir(path_.c_str()));
} catch (const std::bad_alloc&) {  // without memory the files stay
}

// Lists by the descriptor, because the path may name another folder by now.
std::vector<std::string> job_folder::list() const {
    std::vector<std::string> names;
    ucs::unique_fd again(::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!again) return names;
    struct close {
        void operator()(DIR* open) const noexcept { ::closedir(open); }
    };
    const std::unique_ptr<DIR, close> listing(::fdopendir(again.get()));
    if (!listing) return names;
    static_cast<void>(again.release());
    while (const dirent* each = ::readdir(listing.get()))
        if (const std::string_view name = each->d_name; name != "." && name != "..")
            names.emplace_back(name);
    return names;
}

ucs_status_t job_folder::create(const std::string& name, std::span<const std::byte> head,
                                std::span<const std::byte> body) const {
    ucs::unique_fd file(::openat(folder_.get(), name.c_str(),
                                 O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                                 0600));
    if (!file) return log_error("make", path_of(name));
    if (write_all(file.get(), head) && write_all(file.get(), body) &&
        close_checked(std::move(file)))
        return UCS_OK;
    const ucs_status_t status = log_error("write", path_of(name));
    remove(name);
    return status;
}

ucs_status_t job_folder::write(const std::string& name, rank_t writer,
                               std::span<const std::byte> head,
                               std::span<const std::byte> body) const {
    const std::string temporary = fmt::format("temporary.{}", writer);
    if (const ucs_status_t status = create(temporary, head, body); status != UCS_OK) return status;
    if (::renameat(folder_.get(), temporary.c_str(), folder_.get(), name.c_str()) == 0)
        return UCS_OK;
    const ucs_status_t status = log_error("write", path_of(name));
    remove(temporary);
    return status;
}

void job_folder::remove(const std::string& name) const noexcept {
    static_cast<void>(::unlinkat(folder_.get(), name.c_str(), 0));
}

ucs::result<std::size_t> job_folder::read(const std::string& name, std::span<std::byte> head,
                                          std::span<std::byte> body) const {
    const ucs::sys::opened_file file =
        ucs::sys::open_for_reading_in(folder_.get(), name, ucs::sys::file_trust::own);
    if (!file) {
        if (is_not_there(file.error)) return ucs::result<std::size_t>(0);
        ucs::log::error(oob_log, "{} cannot be used: {}", path_of(name), file.reason);
        return file.error == 0 ? UCS_ERR_REJECTED : UCS_ERR_IO_ERROR;
    }
    std::size_t count = 0;
    for (const std::span<std::byte> into : {head, body}) {
        for (std::size_t done = 0; done < into.size();) {
            const ssize_t got = ::read(file.fd.get(), into.data() + done, into.size() - done);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0)
                return is_not_there(errno) ? ucs::result<std::size_t>(0)
                                           : log_error("read", path_of(name));
            if (got == 0) return count;
            done += static_cast<std::size_t>(got);
            count += static_cast<std::size_t>(got);
        }
    }
    return count;
}

ucs::result<job_folder::presence> job_folder::presence_of(rank_t rank) const {
    std::array<std::byte, 256> text;
    const auto count = read(presence_file(rank), text);
    if (!count) return count.status();
    if (*count != 0) {
        const bool gone = is_gone({reinterpret_cast<const char*>(text.data()), *count});
        return gone ? presence::dead : presence::present;
    }
    if (::faccessat(folder_.get(), left_file(rank).c_str(), F_OK, 0) == 0) return presence::left;
    if (is_not_there(errno)) return presence::absent;
    return log_error("open", path_of(left_file(rank)));
}

}  // namespace ucg::oob
