#include "tools/vfs/options.hpp"

#include <fmt/format.h>

#include "tools/common/failure.hpp"
#include "tools/common/option_scanner.hpp"

namespace tools::vfs {

options parse_options(std::span<const std::string> words) {
    options wanted;
    option_scanner scanner(words, with_standard_options({"fv", "do", {}}));
    while (const auto found = scanner.next()) {
        if (wanted.standard.take(*found)) continue;
        switch (found->letter) {
            case 'd':
                wanted.folder = found->value;
                break;
            case 'o':
                wanted.mount_options = found->value;
                break;
            case 'f':
                wanted.foreground = true;
                break;
            default:
                wanted.verbose = true;
        }
    }
    if (wanted.standard.only_text()) return wanted;
    if (scanner.operands().size() != 1) throw usage_error("say what to do: start or stop");
    const std::string& word = scanner.operands().front();
    if (word != "start" && word != "stop") {
        throw usage_error(fmt::format("\"{}\" is neither start nor stop", word));
    }
    if (wanted.folder.empty()) throw usage_error("-d: the folder has no name");
    wanted.what = word == "start" ? action::start : action::stop;
    return wanted;
}

std::string help_text() {
    return R"(usage: ucx_vfs [-d DIR] [-o OPTIONS] [-f] [-v] start
       ucx_vfs stop

Shows the objects of running processes as files: contexts, workers, endpoints, transports, with
their state, traffic and choices. Each process of this user that has a worker gets a folder
DIR/PID, within a second after it has begun or after ucx_vfs was started, and loses it when it ends.

  start       run in the background until stopped
  stop        end the one that runs, after taking all mounts away

  -d DIR      where the folders appear; made if it is not there [/tmp/ucx]
  -o OPTIONS  for mounting, as for mount(8): allow_other lets other users look
  -f          stay in the foreground, and say which processes come and go
  -v          say more: processes that cannot be shown, and why
  -h, --help  this text
  --version   the version of this program

Reading never stops a process: what only the thread that owns a worker may touch is answered by
that thread between two messages. A worker that is not being progressed cannot answer: its
files say how old they are, and worker/NAME/owner says since when.

  cat DIR/PID/ucp/context/*/worker/*/ep/*/info      lanes, reasons, protocols
  echo debug > DIR/PID/ucs/global_opts/log_level    change the level of messages

Environment: UCX_VFS_SOCK_PATH, the name under which processes and ucx_vfs find each other, must
be the same for both. Processes with UCX_VFS_ENABLE=n are not shown.
Needed: /dev/fuse; fusermount3 (package fuse3) for users other than root.
)";
}

}  // namespace tools::vfs
