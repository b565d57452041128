#include "ucs/vfs/fuse/operations.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>

#include "ucs/vfs/query.hpp"

namespace ucs::vfs {
namespace {

using kind = directory::entry::kind;

// The time for which the kernel may cache the attributes of an entry. It never caches contents
// (direct_io).
constexpr double keep_seconds = 1.0;

answer ask(verb operation, const char* path, std::string text = {}) {
    const auto function =
        reinterpret_cast<answer (*)(const query&)>(::fuse_get_context()->private_data);
    return function({operation, path, std::move(text)});
}

int error_of(ucs_status_t status) noexcept {
    switch (status) {
        case UCS_OK:
            return 0;
        case UCS_ERR_NO_ELEM:
            return -ENOENT;
        case UCS_ERR_INVALID_PARAM:
            return -EINVAL;
        case UCS_ERR_UNSUPPORTED:
            return -EACCES;
        case UCS_ERR_NO_MEMORY:
            return -ENOMEM;
        case UCS_ERR_TIMED_OUT:
            return -ETIMEDOUT;
        default:
            return -EIO;
    }
}

// The content of an open file: a snapshot from open(), however it is read.
struct content {
    std::string text;
};

content* content_of(const fuse_file_info* file) noexcept {
    return reinterpret_cast<content*>(file->fh);
}

void fill_stat(const item& entry, struct stat& into) {
    into = {};
    into.st_uid = ::getuid();
    into.st_gid = ::getgid();
    into.st_atime = into.st_mtime = into.st_ctime = std::time(nullptr);
    into.st_nlink = entry.type == kind::folder ? 2 : 1;
    switch (entry.type) {
        case kind::folder:
            into.st_mode = S_IFDIR | 0555;
            break;
        case kind::link:
            into.st_mode = S_IFLNK | 0777;
            into.st_size = static_cast<off_t>(entry.target.size());
            break;
        case kind::file:
            into.st_mode = S_IFREG | (entry.writable ? 0644U : 0444U);
            break;
    }
}

// No exception may cross libfuse, which is C. The module does not link our libraries, so
// ucs::boundary cannot be used.
template<class Function>
int guarded(Function work) noexcept {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return -ENOMEM;
    }
}

void* on_init(fuse_conn_info*, fuse_config* settings) {
    settings->direct_io = 1;
    settings->entry_timeout = keep_seconds;
    settings->attr_timeout = keep_seconds;
    settings->negative_timeout = 0;
    return ::fuse_get_context()->private_data;
}

int on_getattr(const char* path, struct stat* into, fuse_file_info* file) {
    return guarded([&] {
        const answer got = ask(verb::stat, path);
        if (got.status != UCS_OK) return error_of(got.status);
        fill_stat(got.items.front(), *into);
        if (file != nullptr && file->fh != 0) {
            into->st_size = static_cast<off_t>(content_of(file)->text.size());
        }
        return 0;
    });
}

int on_readdir(const char* path, void* buffer, fuse_fill_dir_t fill, off_t, fuse_file_info*,
               fuse_readdir_flags) {
    return guarded([&] {
        const answer got = ask(verb::list, path);
        if (got.status != UCS_OK) return error_of(got.status);
        for (const char* name : {".", ".."})
            fill(buffer, name, nullptr, 0, fuse_fill_dir_flags{});
        for (const item& each : got.items) {
            struct stat about;
            fill_stat(each, about);
            fill(buffer, each.name.c_str(), &about, 0, FUSE_FILL_DIR_PLUS);
        }
        return 0;
    });
}

int on_readlink(const char* path, char* buffer, std::size_t size) {
    return guarded([&] {
        const answer got = ask(verb::stat, path);
        if (got.status != UCS_OK) return error_of(got.status);
        const std::string& target = got.items.front().target;
        const std::size_t used = std::min(target.size(), size - 1);
        std::memcpy(buffer, target.data(), used);
        buffer[used] = 0;
        return 0;
    });
}

int on_open(const char* path, fuse_file_info* file) {
    return guarded([&] {
        auto made = std::make_unique<content>();
        if ((file->flags & O_ACCMODE) != O_WRONLY) {
            answer got = ask(verb::read, path);
            if (got.status != UCS_OK) return error_of(got.status);
            made->text = std::move(got.text);
            if (!made->text.empty() && !made->text.ends_with('\n')) made->text += '\n';
        }
        file->fh = reinterpret_cast<std::uint64_t>(made.release());
        return 0;
    });
}

int on_read(const char*, char* buffer, std::size_t size, off_t offset, fuse_file_info* file) {
    const std::string& text = content_of(file)->text;
    const auto from = static_cast<std::size_t>(offset);
    if (offset < 0 || from >= text.size()) return 0;
    const std::size_t length = std::min(size, text.size() - from);
    std::memcpy(buffer, text.data() + from, length);
    return static_cast<int>(length);
}

// A single write sets a value.
int on_write(const char* path, const char* bytes, std::size_t size, off_t offset, fuse_file_info*) {
    return guarded([&] {
        if (offset != 0) return -EINVAL;
        const answer got = ask(verb::write, path, std::string(bytes, size));
        return got.status == UCS_OK ? static_cast<int>(size) : error_of(got.status);
    });
}

// A shell truncates the file before it writes.
int on_truncate(const char*, off_t, fuse_file_info*) {
    return 0;
}

int on_release(const char*, fuse_file_info* file) {
    delete content_of(file);
    return 0;
}

}  // namespace

const fuse_operations& fuse_operations_of_tree() noexcept {
    static const fuse_operations table = [] {
        fuse_operations made{};
        made.init = on_init;
        made.getattr = on_getattr;
        made.readdir = on_readdir;
        made.readlink = on_readlink;
        made.open = on_open;
        made.read = on_read;
        made.write = on_write;
        made.truncate = on_truncate;
        made.release = on_release;
        return made;
    }();
    return table;
}

}  // namespace ucs::vfs
