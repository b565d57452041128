// ucx_vfs: shows the objects of running processes as files.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "tools/common/failure.hpp"
#include "tools/common/version.hpp"
#include "tools/vfs/daemon.hpp"
#include "tools/vfs/module.hpp"
#include "tools/vfs/options.hpp"

namespace {

using namespace tools::vfs;

std::string key() {
    const char* given = std::getenv("UCX_VFS_SOCK_PATH");
    return given == nullptr ? "" : given;
}

mount_daemon::settings settings_of(const options& wanted) {
    return {wanted.folder, wanted.mount_options, key(), wanted.foreground,
            wanted.verbose && wanted.foreground};
}

// The background process says over a pipe what became of it; nothing means that it runs.
void start_in_background(const options& wanted) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw tools::failure("pipe2() failed");
    const pid_t child = ::fork();
    if (child < 0) throw tools::failure(fmt::format("fork() failed: {}", std::strerror(errno)));
    if (child == 0) {
        ::close(ends[0]);
        int status = EXIT_SUCCESS;
        try {
            ::setsid();
            mount_daemon made(settings_of(wanted));
            const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
            for (const int standard : {0, 1, 2})
                ::dup2(nowhere, standard);
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
    std::string complaint;
    char bytes[256];
    for (ssize_t got = 0; (got = ::read(ends[0], bytes, sizeof bytes)) > 0;)
        complaint.append(bytes, static_cast<std::size_t>(got));
    ::close(ends[0]);
    if (!complaint.empty()) throw tools::failure(complaint);
    fmt::print("ucx_vfs runs as process {}; processes appear in {}\n", child, wanted.folder);
}

void start(const options& wanted) {
    for (const std::string& missing : {why_no_module(), why_no_fuse()})
        if (!missing.empty()) throw tools::failure(missing);
    if (!wanted.foreground) {
        start_in_background(wanted);
        return;
    }
    mount_daemon(settings_of(wanted)).run();
}

void run(const options& wanted) {
    if (wanted.standard.help) {
        fmt::print("{}", help_text());
    } else if (wanted.standard.version) {
        fmt::print("{}", tools::version_text("ucx_vfs", {}));
    } else if (wanted.what == action::start) {
        start(wanted);
    } else {
        stop_daemon(key());
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::vector<std::string> words(argv + 1, argv + argc);
        const options wanted = parse_options(words);
        run(wanted);
    } catch (const tools::usage_error& error) {
        fmt::print(stderr, "ucx_vfs: {} (-h shows the options)\n", error.what());
        return tools::exit_usage;
    } catch (const std::exception& error) {
        fmt::print(stderr, "ucx_vfs: {}\n", error.what());
        return tools::exit_failure;
    }
    return std::fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
