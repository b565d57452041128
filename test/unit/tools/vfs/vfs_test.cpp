// Tests of the parts of ucx_vfs that parse text.
#include <sys/mount.h>

#include <catch2/catch.hpp>

#include "test/unit/tools/words_of.hpp"
#include "tools/common/failure.hpp"
#include "tools/vfs/known_listeners.hpp"
#include "tools/vfs/mounts.hpp"
#include "tools/vfs/options.hpp"

using namespace tools::vfs;

namespace {

options parse(std::string_view line) {
    return parse_options(words_of(line));
}

}  // namespace

TEST_CASE("ucx_vfs: options and the command come in any order") {
    const options opts = parse("-f start -d /tmp/x -oallow_other -v");
    CHECK(opts.command == action::start);
    CHECK(opts.foreground);
    CHECK(opts.verbose);
    CHECK(opts.folder == "/tmp/x");
    CHECK(opts.mount_options == "allow_other");
    CHECK(parse("stop").command == action::stop);
    CHECK(parse("start").folder == "/tmp/ucx");
    CHECK(parse("-h").standard.help);
    CHECK(parse("--help").standard.help);
    CHECK(parse("--version").standard.version);
    CHECK_THROWS_AS(parse(""), tools::usage_error);
    CHECK_THROWS_AS(parse("begin"), tools::usage_error);
    CHECK_THROWS_AS(parse("start stop"), tools::usage_error);
    CHECK_THROWS_AS(parse("-x start"), tools::usage_error);
    CHECK_THROWS_AS(parse("--json start"), tools::usage_error);
    CHECK_THROWS_AS(parse("start -d"), tools::usage_error);
}

TEST_CASE("ucx_vfs: only listening sockets with the right prefix are processes") {
    const std::string table =
        "Num       RefCount Protocol Flags    Type St Inode Path\n"
        "0000000000000000: 00000002 00000000 00010000 0005 01  1001 @ours-1-aa\n"
        "0000000000000000: 00000003 00000000 00000000 0005 03  1002 @ours-1-aa\n"
        "0000000000000000: 00000003 00000000 00000000 0001 03  1003\n"
        "0000000000000000: 00000002 00000000 00010000 0001 01  1004 /run/ours-1-bb\n"
        "0000000000000000: 00000002 00000000 00010000 0005 01  1005 @ours-2-cc\n"
        "0000000000000000: 00000002 00000000 00010000 0005 01  1006 @ours-1-dd\n"
        // Any user may listen at names like these two, and printing one would control the terminal.
        "0000000000000000: 00000002 00000000 00010000 0005 01  1007 @ours-1-\x1b]0;e\n"
        "0000000000000000: 00000002 00000000 00010000 0005 01  1008 @ours-1-\xc2\x9b\n";
    CHECK(listening_names(table, "ours-1-") == std::vector<std::string>{"ours-1-aa", "ours-1-dd"});
    CHECK(listening_names("", "ours").empty());
}

TEST_CASE("ucx_vfs: leftovers are mounts of its type below its folder") {
    const std::string text =
        "22 1 8:1 / / rw - ext4 /dev/root rw\n"
        "40 22 0:50 / /tmp/ucx/12 rw,nosuid shared:3 - fuse.ucx_vfs ucx_vfs rw,user_id=0\n"
        "41 22 0:51 / /tmp/ucx/13 rw,nosuid - fuse.sshfs ucx_vfs rw\n"
        "42 22 0:52 / /tmp/ucxx/14 rw - fuse.ucx_vfs ucx_vfs rw\n"
        "43 22 0:53 / /tmp/a\\040b/15 rw - fuse.ucx_vfs ucx_vfs rw\n";
    CHECK(mounts_below("/tmp/ucx", text) == std::vector<std::string>{"/tmp/ucx/12"});
    CHECK(mounts_below("/tmp/a b", text) == std::vector<std::string>{"/tmp/a b/15"});
}

TEST_CASE("ucx_vfs: mount options are split into flags and options of FUSE") {
    const split_options split = split_mount_options("ro,allow_other,,noexec,max_read=4096");
    CHECK(split.flags == (MS_RDONLY | MS_NOEXEC));
    CHECK(split.data == "allow_other,max_read=4096");
    CHECK(split_mount_options("").data.empty());
}
