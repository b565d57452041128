#include "tools/vfs/options.hpp"

#include "tools/common/failure.hpp"

namespace tools::vfs {
namespace {

std::vector<option_row> rows_of(options& into) {
    return {
        help_line(R"(usage: ucx_vfs [-d DIR] [-o OPTIONS] [-f] [-v] start
       ucx_vfs stop

Shows the objects of running processes as files: contexts, workers, endpoints, transports, with
their state, traffic and choices. Each process of this user that has a worker gets a folder
DIR/PID, within a second after it has begun or after ucx_vfs was started, and loses it when it ends.

  start        run in the background until stopped
  stop         unmount all folders and end the running ucx_vfs
)"),
        value("-d DIR", into.folder, any_text{},
              "where the folders appear; created if it does not exist [/tmp/ucx]"),
        value("-o OPTIONS", into.mount_options, any_text{},
              "mount options, as for mount(8): allow_other gives other users access"),
        flag("-f", into.foreground,
             "stay in the foreground, and report processes that come and go"),
        flag("-v", into.verbose, "report also processes that cannot be shown, and why"),
        help_option(into.standard),
        version_option(into.standard, "the version of this program"),
        help_line(R"(
Reading never stops a process: the thread that owns a worker answers for its objects between two
messages. A worker that is not being progressed cannot answer: its files show how old they are,
and worker/NAME/owner shows since when.

  cat DIR/PID/ucp/context/*/worker/*/ep/*/info      lanes, reasons, protocols
  echo debug > DIR/PID/ucs/global_opts/log_level    change the level of messages

Environment: UCX_VFS_SOCK_PATH, the name under which processes and ucx_vfs find each other, must
be the same for both. Processes with UCX_VFS_ENABLE=n are not shown.
Needed: /dev/fuse; fusermount3 (package fuse3) for users other than root.)"),
    };
}

}  // namespace

options parse_options(std::span<const std::string> words) {
    options opts;
    const std::vector<std::string> operands = parse(rows_of(opts), words);
    if (opts.standard.only_text()) return opts;
    if (operands.size() != 1) throw usage_error("the command is missing: start or stop");
    opts.command = static_cast<action>(one_of{{"start", "stop"}}(operands.front()));
    if (opts.folder.empty()) throw usage_error("-d: the folder has no name");
    return opts;
}

std::string help_text() {
    options none;
    return help(rows_of(none));
}

}  // namespace tools::vfs
