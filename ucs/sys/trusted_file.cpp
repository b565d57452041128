#include "ucs/sys/trusted_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "ucs/sys/file_size.hpp"

namespace ucs::sys {
namespace {

constexpr int always = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

opened_file failed(int error) {
    return {{}, error, std::strerror(error)};
}

opened_file refused(std::string why) {
    return {{}, 0, std::move(why)};
}

// A path split at its last slash. "file" alone is in the current folder.
struct split_path {
    std::string folder;
    std::string name;
};

split_path split(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return {".", path};
    return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

bool is_own(uid_t owner) noexcept {
    return owner == ::geteuid();
}

// Owners whose files are trusted: this user, root, and optionally the installer of the library.
class trusted_owners {
public:
    explicit trusted_owners(std::optional<uid_t> installer = std::nullopt) noexcept
        : installer_(installer) {}
    [[nodiscard]] bool have(uid_t owner) const noexcept {
        return is_own(owner) || owner == 0 || owner == installer_;
    }

private:
    std::optional<uid_t> installer_;
};

// Returns whether the file has an access control list with entries beyond those of its mode. The
// descriptor of a folder is opened with O_PATH, so its attributes are read through its name in
// /proc. If the kernel refuses to read the list, it counts as present.
bool has_access_list(int fd) {
    constexpr const char* attribute = "system.posix_acl_access";
    if (::fgetxattr(fd, attribute, nullptr, 0) >= 0) return true;
    if (errno == EBADF &&
        ::getxattr(fmt::format("/proc/self/fd/{}", fd).c_str(), attribute, nullptr, 0) >= 0) {
        return true;
    }
    return errno != ENODATA && errno != EOPNOTSUPP;
}

// A group with the same number as the owner is the owner's private group, unless an access list
// names others: then the group bits apply to all entries of the list.
bool others_can_write(int fd, const struct stat& about) {
    if ((about.st_mode & S_IWOTH) != 0) return true;
    if ((about.st_mode & S_IWGRP) == 0) return false;
    return about.st_gid != about.st_uid || has_access_list(fd);
}

const char* kind_of(mode_t mode) noexcept {
    switch (mode & S_IFMT) {
        case S_IFDIR:
            return "a folder";
        case S_IFLNK:
            return "a symbolic link";
        case S_IFIFO:
            return "a pipe";
        case S_IFSOCK:
            return "a socket";
        default:
            return "a device";
    }
}

std::string not_regular(mode_t mode) {
    return fmt::format("it is {}, not a regular file", kind_of(mode));
}

// Returns an empty text if only trusted users can change the entries of the folder; otherwise the
// reason.
std::string why_open_to_others(int folder, const trusted_owners& owners) {
    struct stat about {};
    if (::fstat(folder, &about) != 0) return std::strerror(errno);
    if (!owners.have(about.st_uid))
        return fmt::format("its folder belongs to user {}", about.st_uid);
    if (others_can_write(folder, about))
        return fmt::format("others can write to its folder (mode {:o})", about.st_mode & 07777);
    return {};
}

std::string why_not_trusted(int fd, const struct stat& about, file_trust trust,
                            const trusted_owners& owners) {
    if (!S_ISREG(about.st_mode)) return not_regular(about.st_mode);
    if (trust == file_trust::named_by_caller) return {};
    if (!owners.have(about.st_uid))
        return fmt::format("it belongs to user {}, not to this user or root", about.st_uid);
    if (trust == file_trust::secret && (about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return fmt::format("others can read or write it (mode {:o}, give it 600)",
                           about.st_mode & 07777);
    if (others_can_write(fd, about))
        return fmt::format("others can write to it (mode {:o})", about.st_mode & 07777);
    return {};
}

// Checks the file before it opens it, because opening a device may have effects.
opened_file open_checked(int folder, const std::string& name, file_trust trust,
                         const trusted_owners& owners) {
    const bool follow = trust == file_trust::named_by_caller;
    struct stat about {};
    if (::fstatat(folder, name.c_str(), &about, follow ? 0 : AT_SYMLINK_NOFOLLOW) != 0)
        return failed(errno);
    if (!S_ISREG(about.st_mode)) return refused(not_regular(about.st_mode));
    unique_fd fd(::openat(folder, name.c_str(), O_RDONLY | always | (follow ? 0 : O_NOFOLLOW)));
    if (!fd || ::fstat(fd.get(), &about) != 0) return failed(errno);
    if (std::string why = why_not_trusted(fd.get(), about, trust, owners); !why.empty())
        return refused(std::move(why));
    return {std::move(fd), 0, {}};
}

unique_fd open_folder(const std::string& path) noexcept {
    return unique_fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

std::optional<int> number_after(std::string_view path, std::string_view prefix) noexcept {
    if (!path.starts_with(prefix)) return std::nullopt;
    path.remove_prefix(prefix.size());
    int number = -1;
    const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), number);
    if (error != std::errc{} || end != path.data() + path.size()) return std::nullopt;
    return number;
}

// Returns the descriptor of this process that the path names, if it names one.
std::optional<int> own_descriptor(std::string_view path) noexcept {
    if (path == "/dev/stdout") return STDOUT_FILENO;
    if (path == "/dev/stderr") return STDERR_FILENO;
    if (const auto number = number_after(path, "/dev/fd/")) return number;
    return number_after(path, "/proc/self/fd/");
}

bool is_null_device(const struct stat& about) noexcept {
    return S_ISCHR(about.st_mode) && about.st_rdev == makedev(1, 3);
}

std::string why_not_appended(const struct stat& about) {
    if (is_null_device(about)) return {};
    if (!S_ISREG(about.st_mode)) return not_regular(about.st_mode);
    if (!is_own(about.st_uid)) return fmt::format("it belongs to user {}", about.st_uid);
    if (about.st_nlink > 1) return "it has a second name";
    return {};
}

// Returns a name in the same folder that no other process or thread uses.
std::string temporary_name(const std::string& name) {
    static std::atomic<unsigned> count{0};
    return fmt::format(".{}.{}.{}", name, ::getpid(),
                       count.fetch_add(1, std::memory_order_relaxed));
}

// Writes the whole text. Returns false with errno set on failure.
bool write_all(int fd, std::string_view text) noexcept {
    while (!text.empty()) {
        const ssize_t count = write_within_limit(fd, text);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

}  // namespace

bool opened_file::is_absent() const noexcept {
    return error == ENOENT || error == ENOTDIR;
}

opened_file open_for_reading(const std::string& path, file_trust trust,
                             std::optional<uid_t> installer) {
    const trusted_owners owners(installer);
    if (trust == file_trust::named_by_caller) return open_checked(AT_FDCWD, path, trust, owners);
    const auto [folder_path, name] = split(path);
    const unique_fd folder = open_folder(folder_path);
    if (!folder) return failed(errno);
    opened_file file = open_checked(folder.get(), name, trust, owners);
    if (!file) return file;
    if (std::string why = why_open_to_others(folder.get(), owners); !why.empty())
        return refused(std::move(why));
    return file;
}

opened_file open_for_reading_in(int folder, const std::string& name, file_trust trust) {
    return open_checked(folder, name, trust, trusted_owners());
}

opened_file open_for_appending(const std::string& path, unsigned mode) {
    if (const auto own = own_descriptor(path)) {
        unique_fd copy(::fcntl(*own, F_DUPFD_CLOEXEC, 0));
        return copy ? opened_file{std::move(copy), 0, {}} : failed(errno);
    }
    struct stat about {};
    if (::lstat(path.c_str(), &about) == 0) {
        if (std::string why = why_not_appended(about); !why.empty()) return refused(std::move(why));
    }
    unique_fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | always, mode));
    if (!fd || ::fstat(fd.get(), &about) != 0) return failed(errno);
    if (std::string why = why_not_appended(about); !why.empty()) return refused(std::move(why));
    return {std::move(fd), 0, {}};
}

file_text read_whole(const opened_file& file, std::size_t limit) {
    constexpr std::size_t block = 4096;
    file_text result;
    std::string& text = result.text;
    std::size_t length = 0;
    while (true) {
        if (length == text.size()) text.resize(length + block + 1);
        const ssize_t count = ::read(file.fd.get(), text.data() + length, text.size() - length);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) result.error = errno;
        if (count > 0) length += static_cast<std::size_t>(count);
        if (length > limit) result.error = EFBIG;
        if (count > 0 && result.error == 0) continue;
        if (result.error != 0) {
            ::explicit_bzero(text.data(), length);
            length = 0;
        }
        text.resize(length);
        return result;
    }
}

std::string replace_file(const std::string& path, std::string_view text, unsigned mode) {
    const auto [folder_path, name] = split(path);
    const unique_fd folder = open_folder(folder_path);
    if (!folder) return std::strerror(errno);
    if (std::string why = why_open_to_others(folder.get(), trusted_owners()); !why.empty())
        return why;
    const std::string temporary = temporary_name(name);
    unique_fd fd(::openat(folder.get(), temporary.c_str(),
                          O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | always, mode));
    if (!fd) return std::strerror(errno);
    // Some file systems report a lack of space only in close().
    const bool written = write_all(fd.get(), text) && ::close(fd.release()) == 0;
    if (written && ::renameat(folder.get(), temporary.c_str(), folder.get(), name.c_str()) == 0)
        return {};
    const int error = errno;
    static_cast<void>(::unlinkat(folder.get(), temporary.c_str(), 0));
    return std::strerror(error);
}

std::string write_named_file(const std::string& path, std::string_view text) {
    // Open without waiting for the reader of a pipe, then write in blocking mode.
    unique_fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | always, 0666));
    if (!fd || ::fcntl(fd.get(), F_SETFL, 0) != 0) return std::strerror(errno);
    if (!write_all(fd.get(), text) || ::close(fd.release()) != 0) return std::strerror(errno);
    return {};
}

void make_own_folder(const std::string& path) noexcept {
    try {
        static_cast<void>(::mkdir(split(path).folder.c_str(), 0700));
        static_cast<void>(::mkdir(path.c_str(), 0700));
    } catch (...) {
        // Out of memory: the folder stays absent.
    }
}

}  // namespace ucs::sys
