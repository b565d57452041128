#include "ucs/sys/trusted_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "test/support/temp_dir.hpp"

using ucs::unique_fd;
using namespace ucs::sys;

namespace {

constexpr uid_t stranger = 65534;

std::string why_not_read(const std::string& path, file_trust trust = file_trust::own) {
    const opened_file file = open_for_reading(path, trust);
    CHECK(static_cast<bool>(file) == file.reason.empty());
    return file.reason;
}

std::string why_not_appended(const std::string& path) {
    const opened_file file = open_for_appending(path);
    CHECK(static_cast<bool>(file) == file.reason.empty());
    return file.reason;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

bool is_root() {
    return ::geteuid() == 0;
}

}  // namespace

TEST_CASE("a file of the user's own is read") {
    const test::temp_dir folder;
    const opened_file file = open_for_reading(folder.write("own", "text"), file_trust::own);
    REQUIRE(file);
    CHECK(read_whole(file, 100).text == "text");
    const opened_file again = open_for_reading(folder / "own", file_trust::own);
    CHECK(read_whole(again, 3).error == EFBIG);
}

TEST_CASE("a file of any length up to the limit is read whole") {
    const test::temp_dir folder;
    for (const std::size_t length : {0U, 1U, 4095U, 4096U, 4097U, 4098U, 20000U}) {
        CAPTURE(length);
        std::string text(length, 'x');
        if (length > 0) text.back() = 'y';
        const std::string path = folder.write("file", text);
        CHECK(read_whole(open_for_reading(path, file_trust::own), length).text == text);
        if (length == 0) continue;
        const auto longer = read_whole(open_for_reading(path, file_trust::own), length - 1);
        CHECK(longer.error == EFBIG);
        CHECK(longer.text.empty());
    }
}

TEST_CASE("a missing file or folder is reported as absent") {
    const test::temp_dir folder;
    CHECK(open_for_reading(folder / "none", file_trust::own).is_absent());
    CHECK(open_for_reading(folder / "none/none", file_trust::own).is_absent());
    CHECK(open_for_reading(folder.write("file", "") + "/below", file_trust::own).is_absent());
    CHECK_FALSE(open_for_reading(folder.write("fine", ""), file_trust::own).is_absent());
}

TEST_CASE("a file that is not regular is refused without blocking") {
    const test::temp_dir folder;
    REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    folder.write("target", "text");
    folder.link("link", folder / "target");
    folder.write("sub/file", "");
    for (const file_trust trust : {file_trust::own, file_trust::secret}) {
        CHECK(has(why_not_read(folder / "pipe", trust), "it is a pipe"));
        CHECK(has(why_not_read(folder / "link", trust), "it is a symbolic link"));
        CHECK(has(why_not_read(folder / "sub", trust), "it is a folder"));
        CHECK(has(why_not_read("/dev/null", trust), "it is a device"));
    }
    CHECK(has(why_not_read(folder / "pipe", file_trust::named_by_caller), "it is a pipe"));
    CHECK(why_not_read(folder / "link", file_trust::named_by_caller).empty());
    CHECK(has(why_not_appended(folder / "pipe"), "it is a pipe"));
    CHECK(has(why_not_appended(folder / "link"), "it is a symbolic link"));
    CHECK(has(why_not_appended(folder / "sub"), "it is a folder"));
    CHECK(has(why_not_appended("/dev/zero"), "it is a device"));
    CHECK(folder.read("target") == "text");
}

TEST_CASE("a file in a folder that others can write to is refused") {
    const test::temp_dir folder;
    const std::string file = folder.write("file", "text");
    REQUIRE(::chmod(file.c_str(), 0600) == 0);
    REQUIRE(::chmod(folder.path().c_str(), 0777) == 0);
    CHECK(has(why_not_read(folder / "file"), "others can write to its folder"));
    CHECK(has(why_not_read(folder / "file", file_trust::secret), "others can write to its folder"));
    CHECK(why_not_read(folder / "file", file_trust::named_by_caller).empty());
    CHECK(has(replace_file(folder / "file", "new"), "others can write to its folder"));
    REQUIRE(::chmod(folder.path().c_str(), 01777) == 0);
    CHECK(has(why_not_read(folder / "file"), "others can write to its folder"));
    CHECK(folder.read("file") == "text");
    CHECK(why_not_appended(folder / "log").empty());
}

TEST_CASE("a file that others can write to is refused, and a secret that they can read") {
    const test::temp_dir folder;
    const std::string file = folder.write("file", "text");
    REQUIRE(::chmod(file.c_str(), 0666) == 0);
    CHECK(has(why_not_read(file), "others can write to it"));
    REQUIRE(::chmod(file.c_str(), 0644) == 0);
    CHECK(why_not_read(file).empty());
    CHECK(has(why_not_read(file, file_trust::secret), "give it 600"));
    REQUIRE(::chmod(file.c_str(), 0600) == 0);
    CHECK(why_not_read(file, file_trust::secret).empty());
}

TEST_CASE("a group is trusted when its number is the owner's") {
    if (!is_root()) return;
    const test::temp_dir folder;
    const std::string file = folder.write("file", "text");
    REQUIRE(::chmod(file.c_str(), 0664) == 0);
    CHECK(why_not_read(file).empty());
    REQUIRE(::chown(file.c_str(), 0, stranger) == 0);
    CHECK(has(why_not_read(file), "others can write to it"));
}

namespace {

// Lets another user write to the file, by an access control list. Returns false if the file system
// has no lists.
bool add_stranger(const std::string& path) {
    struct entry {
        std::uint16_t tag, permissions;
        std::uint32_t id;
    };
    struct {
        std::uint32_t version = 2;
        entry entries[5] = {{0x01, 7, ~0U},       // the owner
                            {0x02, 7, stranger},  // a named user
                            {0x04, 7, ~0U},       // the group
                            {0x10, 7, ~0U},       // the mask
                            {0x20, 0, ~0U}};      // others
    } list;
    return ::setxattr(path.c_str(), "system.posix_acl_access", &list, sizeof list, 0) == 0;
}

}  // namespace

TEST_CASE("the owner's group is not trusted if an access control list names others") {
    const test::temp_dir folder;
    const std::string file = folder.write("file", "text");
    const std::string inner = folder.write("sub/inner", "text");
    for (const std::string& path : {file, folder / "sub"}) {
        REQUIRE(::chown(path.c_str(), static_cast<uid_t>(-1), ::geteuid()) == 0);
        REQUIRE(::chmod(path.c_str(), 0770) == 0);
    }
    CHECK(why_not_read(file).empty());
    CHECK(why_not_read(inner).empty());
    if (!add_stranger(file) || !add_stranger(folder / "sub")) {
        WARN("skipped: the file system has no access control lists");
        return;
    }
    CHECK(has(why_not_read(file), "others can write to it"));
    CHECK(has(why_not_read(inner), "others can write to its folder"));
}

TEST_CASE("a file of another user's is refused, and one in another user's folder") {
    if (!is_root()) return;  // only root can create such a file
    const test::temp_dir folder;
    const std::string file = folder.write("file", "text");
    REQUIRE(::chown(file.c_str(), stranger, stranger) == 0);
    CHECK(has(why_not_read(file), "belongs to user 65534"));
    CHECK(has(why_not_appended(file), "belongs to user 65534"));
    CHECK(why_not_read(file, file_trust::named_by_caller).empty());
    CHECK(open_for_reading(file, file_trust::own, stranger));
    const std::string own = folder.write("own", "text");
    REQUIRE(::chown(folder.path().c_str(), stranger, stranger) == 0);
    CHECK(has(why_not_read(own), "its folder belongs to user 65534"));
    CHECK_FALSE(replace_file(own, "new").empty());
}

TEST_CASE("lines are appended to a new file, an own file, the null device and descriptors") {
    const test::temp_dir folder;
    CHECK(why_not_appended(folder / "new").empty());
    CHECK(why_not_appended(folder.write("old", "first\n")).empty());
    const opened_file old = open_for_appending(folder / "old");
    REQUIRE(::write(old.fd.get(), "second\n", 7) == 7);
    CHECK(folder.read("old") == "first\nsecond\n");
    CHECK(why_not_appended("/dev/null").empty());
    CHECK(why_not_appended("/dev/stderr").empty());
    CHECK(why_not_appended("/proc/self/fd/" + std::to_string(old.fd.get())).empty());
    CHECK_FALSE(why_not_appended("/dev/fd/1023").empty());
    REQUIRE(::link((folder / "old").c_str(), (folder / "second").c_str()) == 0);
    CHECK(has(why_not_appended(folder / "second"), "it has a second name"));
}

TEST_CASE("a file that the user names is written, and a pipe without a reader does not block") {
    const test::temp_dir folder;
    using ucs::sys::write_named_file;
    CHECK(write_named_file(folder.write("file", "longer text"), "text").empty());
    CHECK(folder.read("file") == "text");
    folder.link("link", folder / "new");
    CHECK(write_named_file(folder / "link", "behind").empty());
    CHECK(folder.read("new") == "behind");
    CHECK(write_named_file("/dev/null", "text").empty());
    CHECK_FALSE(write_named_file("/dev/full", "text").empty());
    CHECK_FALSE(write_named_file(folder.path(), "text").empty());
    REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    CHECK_FALSE(write_named_file(folder / "pipe", "text").empty());
    const unique_fd reader(::open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK));
    CHECK(write_named_file(folder / "pipe", "text").empty());
    char got[8];
    CHECK(::read(reader.get(), got, sizeof got) == 4);
}

TEST_CASE("a file is replaced atomically, whatever was in its place") {
    const test::temp_dir folder;
    CHECK(replace_file(folder / "file", "one").empty());
    CHECK(replace_file(folder / "file", "two").empty());
    CHECK(folder.read("file") == "two");
    folder.write("target", "text");
    folder.link("link", folder / "target");
    CHECK(replace_file(folder / "link", "mine").empty());
    CHECK(folder.read("target") == "text");
    CHECK(folder.read("link") == "mine");
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator(folder.path()))
        ++files;
    CHECK(files == 3);
    CHECK_FALSE(replace_file(folder / "none/file", "text").empty());
}
