// ucx_vfs: shows the objects of running processes as files.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <exception>

#include "tools/common/failure.hpp"
#include "tools/common/version.hpp"
#include "tools/vfs/daemon.hpp"
#include "tools/vfs/options.hpp"

namespace {

using namespace tools::vfs;

std::string key() {
    const char* given = std::getenv("UCX_VFS_SOCK_PATH");
    return given == nullptr ? "" : given;
}

mount_daemon::settings settings_of(const options& opts) {
    return {opts.folder, opts.mount_options, key(), opts.foreground,
            opts.verbose && opts.foreground};
}

// Starts the daemon in the background. It reports an error over a pipe; an empty pipe means that it
// runs.
void start_in_background(const options& opts) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw tools::failure("pipe2() failed");
    const pid_t child = ::fork();
    if (child < 0) throw tools::failure(fmt::format("fork() failed: {}", std::strerror(errno)));
    if (child == 0) {
        ::close(ends[0]);
        int status = EXIT_SUCCESS;
        try {
            ::setsid();
            mount_daemon made(settings_of(opts));
            const int null_device = ::open("/dev/null", O_RDWR | O_CLOEXEC);
            for (const int standard : {0, 1, 2})
                ::dup2(null_device, standard);
            if (::chdir("/") != 0) status = EXIT_FAILURE;
            ::close(ends[1]);
            made.run();
        } catch (const std::exception& error) {
            (void)!::write(ends[1], error.what(), std::strlen(error.what()));
            status = tools::exit_failure;
        }
        ::_exit(status);
    }
    ::close(ends[1]);
    std::string error_text;
    char bytes[256];
    for (ssize_t got = 0; (got = ::read(ends[0], bytes, sizeof bytes)) > 0;)
        error_text.append(bytes, static_cast<std::size_t>(got));
    ::close(ends[0]);
    if (!error_text.empty()) throw tools::failure(error_text);
    fmt::print("ucx_vfs runs as process {}; processes appear in {}\n", child, opts.folder);
}

void start(const options& opts) {
    for (const std::string& missing : {why_no_module(), why_no_fuse()})
        if (!missing.empty()) throw tools::failure(missing);
    if (!opts.foreground) {
        start_in_background(opts);
        return;
    }
    mount_daemon(settings_of(opts)).run();
}

int run(const options& opts) {
    if (opts.standard.help) {
        fmt::print("{}", help_text());
    } else if (opts.standard.version) {
        fmt::print("{}", tools::version_text("ucx_vfs", {}));
    } else if (opts.command == action::start) {
        start(opts);
    } else {
        stop_daemon(key());
    }
    return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
    return tools::run_tool("ucx_vfs", [&] {
        const std::vector<std::string> words(argv + 1, argv + argc);
        return run(parse_options(words));
    });
}
