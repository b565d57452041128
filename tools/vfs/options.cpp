#include "tools/vfs/options.hpp"

#include <fmt/format.h>

#include "tools/common/failure.hpp"
#include "tools/common/option_scanner.hpp"

namespace tools::vfs {

options parse_options(std::span<const std::string> words) {
    options opts;
    option_scanner scanner(words, with_standard_options({"fv", "do", {}}));
    while (const auto found = scanner.next()) {
        if (opts.standard.take(*found)) continue;
        switch (found->letter) {
            case 'd':
                opts.folder = found->value;
                break;
            case 'o':
                opts.mount_options = found->value;
                break;
            case 'f':
                opts.foreground = true;
                break;
            default:
                opts.verbose = true;
        }
    }
    if (opts.standard.only_text()) return opts;
    if (scanner.operands().size() != 1) throw usage_error("the command is missing: start or stop");
    const std::string& word = scanner.operands().front();
    if (word != "start" && word != "stop") {
        throw usage_error(fmt::format("\"{}\" is neither start nor stop", word));
    }
    if (opts.folder.empty()) throw usage_error("-d: the folder has no name");
    opts.command = word == "start" ? action::start : action::stop;
    return opts;
}

std::string help_text() {
    return R"(usage: ucx_vfs [-d DIR] [-o OPTIONS] [-f] [-v] start
       ucx_vfs stop

Shows the objects of running processes as files: contexts, workers, endpoints, transports, with
their state, traffic and choices. Each process of this user that has a worker gets a folder
DIR/PID, within a second after it has begun or after ucx_vfs was started, and loses it when it ends.

  start       run in the background until stopped
  stop        unmount all folders and end the running ucx_vfs

  -d DIR      where the folders appear; created if it does not exist [/tmp/ucx]
  -o OPTIONS  mount options, as for mount(8): allow_other gives other users access
  -f          stay in the foreground, and report processes that come and go
  -v          report also processes that cannot be shown, and why
  -h, --help  this text
  --version   the version of this program

Reading never stops a process: the thread that owns a worker answers for its objects between two
messages. A worker that is not being progressed cannot answer: its files show how old they are,
and worker/NAME/owner shows since when.

  cat DIR/PID/ucp/context/*/worker/*/ep/*/info      lanes, reasons, protocols
  echo debug > DIR/PID/ucs/global_opts/log_level    change the level of messages

Environment: UCX_VFS_SOCK_PATH, the name under which processes and ucx_vfs find each other, must
be the same for both. Processes with UCX_VFS_ENABLE=n are not shown.
Needed: /dev/fuse; fusermount3 (package fuse3) for users other than root.
)";
}

}  // namespace tools::vfs
