#include "tools/vfs/daemon.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "tools/common/failure.hpp"
#include "ucs/descriptor/close_in_background.hpp"
#include "ucs/descriptor/peer_credentials.hpp"
#include "ucs/vfs/names.hpp"
#include "ucs/vfs/wire.hpp"

namespace tools::vfs {
namespace {

namespace names = ucs::vfs;
namespace wire = ucs::vfs::wire;

constexpr int poll_interval_ms = 500;
constexpr int stop_limit_ms = 30'000;

std::string text_of(const char* path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

ucs::unique_fd watch_process(pid_t pid) {
    return ucs::unique_fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

// Binds the name of the daemon, which also serves as the lock for a single daemon.
ucs::unique_fd take_name(const std::string& key) {
    const std::string name = names::daemon_name(::geteuid(), key);
    ucs::unique_fd made = names::listen_at(name);
    if (made) return made;
    const int error = errno;
    if (error != EADDRINUSE) {
        throw failure(
            fmt::format("the socket for commands cannot be made: {}", std::strerror(error)));
    }
    ucs::unique_fd other = names::connect_to(name);
    const auto peer = other ? ucs::sys::read_peer_credentials(other.get()) : std::nullopt;
    if (peer && !peer->is_own_user()) {
        ucs::sys::close_in_background(std::move(other));
        throw failure(
            fmt::format("user {} has taken the name of this user's ucx_vfs; choose "
                        "another by UCX_VFS_SOCK_PATH, here and for the processes",
                        peer->uid));
    }
    throw failure(fmt::format("ucx_vfs runs already, as process {}", peer ? peer->pid : 0));
}

ucs::unique_fd take_signals() {
    sigset_t ending;
    sigemptyset(&ending);
    for (const int each : {SIGTERM, SIGINT, SIGHUP})
        sigaddset(&ending, each);
    ::sigprocmask(SIG_BLOCK, &ending, nullptr);
    return ucs::unique_fd(::signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace

mount_daemon::mount_daemon(settings new_settings)
    : settings_(std::move(new_settings)),
      commands_(take_name(settings_.key)),
      signals_(take_signals()),
      folder_(settings_.folder, settings_.mount_options) {}

void mount_daemon::report(const std::string& line) const {
    if (!settings_.reports) return;
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

void mount_daemon::run() {
    report(fmt::format("looking for processes of user {}; they appear in {}", ::geteuid(),
                       folder_.path()));
    while (!ending_) {
        find_processes();
        wait();
    }
    for (process& each : processes_)
        drop(each);
    processes_.clear();
}

bool mount_daemon::is_mounted(pid_t pid) const {
    return std::any_of(processes_.begin(), processes_.end(),
                       [&](const process& each) { return each.mounted && each.pid == pid; });
}

void mount_daemon::find_processes() {
    const std::string prefix = names::name_prefix(::geteuid(), settings_.key);
    std::vector<std::string> connected;
    for (const process& each : processes_)
        connected.push_back(each.listener);
    for (const std::string& listener :
         known_.choose(listening_names(text_of("/proc/net/unix"), prefix), std::move(connected))) {
        if (ucs::sys::has_too_many_pending_closes()) return;  // retry later
        connect(listener);
    }
}

void mount_daemon::connect(const std::string& listener) {
    process called{listener, 0, names::connect_to(listener), {}};
    if (!called.connection) return;  // its queue is full, or it has gone; retry later
    const auto peer = ucs::sys::read_peer_credentials(called.connection.get());
    if (!peer || !peer->is_own_user() || peer->pid == 0) {
        known_.add_foreign(listener);
        const char* const reason =
            peer && peer->pid == 0
                ? "its process is not visible from here, it runs in another pid namespace"
                : "it belongs to another user";
        if (settings_.verbose) report(fmt::format("{}: {}", listener, reason));
        ucs::sys::close_in_background(std::move(called.connection));
        return;
    }
    called.pid = peer->pid;
    called.pidfd = watch_process(peer->pid);
    if (is_mounted(peer->pid) || !called.pidfd) {
        known_.add_own(
            listener,
            peer->pid);  // another worker of the same process, or the child of a dead process
        return;
    }
    processes_.push_back(std::move(called));
}

void mount_daemon::wait() {
    // Skip the socket once if a connection could not be accepted, because it would keep poll() from
    // waiting.
    const int commands = std::exchange(accepts_nothing_, false) ? -1 : commands_.get();
    std::vector<pollfd> watched{{commands, POLLIN, 0}, {signals_.get(), POLLIN, 0}};
    for (const process& each : processes_) {
        watched.push_back({each.connection.get(), POLLIN, 0});
        watched.push_back({each.pidfd.get(), POLLIN, 0});
    }
    if (::poll(watched.data(), watched.size(), poll_interval_ms) <= 0) return;
    if (watched[0].revents != 0) accept_command();
    if (watched[1].revents != 0) ending_ = true;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
        if (watched[2 * i + 3].revents != 0) {
            drop(processes_[i]);
        } else if (watched[2 * i + 2].revents != 0) {
            read_from(processes_[i]);
        }
    }
    std::erase_if(processes_, [](const process& each) { return !each.connection; });
}

void mount_daemon::read_from(process& sender) {
    bool over = false;
    const auto message = wire::receive(sender.connection.get(), over);
    if (over) {
        drop(sender);
    } else if (message && message->type == wire::kind::ready && !sender.mounted) {
        mount_for(sender, message->text);
    } else if (message && message->type == wire::kind::refused) {
        report(fmt::format("{}: cannot be shown: {}", sender.pid, message->text));
        known_.add_own(sender.listener, sender.pid);
        drop(sender);
    }
}

void mount_daemon::mount_for(process& ready, const std::string& program) {
    std::string reason;
    const std::string name = std::to_string(ready.pid);
    ucs::unique_fd device;
    if (is_mounted(ready.pid)) {
        reason = "it is mounted already";
    } else {
        device = folder_.mount(name, reason);
    }
    if (!device) {
        report(fmt::format("{}: cannot be shown: {}", ready.pid, reason));
        known_.add_own(ready.listener, ready.pid);
        drop(ready);
        return;
    }
    ready.mounted = true;
    // The daemon's copy of the descriptor closes at the end of this function, so that readers get
    // an error when the process dies.
    if (wire::send(ready.connection.get(), wire::kind::mounted, {}, device.get()) != 0) {
        drop(ready);
        return;
    }
    report(fmt::format("{}: {} appears in {}/{}", ready.pid, program, folder_.path(), ready.pid));
}

void mount_daemon::drop(process& ended) {
    ended.connection.reset();
    ended.pidfd.reset();
    if (!std::exchange(ended.mounted, false)) return;
    folder_.unmount(std::to_string(ended.pid));
    report(fmt::format("{}: is gone", ended.pid));
    // The daemon may now connect to another worker of the process.
    known_.forget(ended.pid);
}

void mount_daemon::accept_command() {
    ucs::unique_fd caller;
    if (!ucs::sys::has_too_many_pending_closes()) {
        caller.reset(::accept4(commands_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    }
    accepts_nothing_ = !caller;
    if (!caller) return;
    const auto peer = ucs::sys::read_peer_credentials(caller.get());
    if (!peer || !peer->is_own_user()) {
        ucs::sys::close_in_background(std::move(caller));
        return;
    }
    pollfd waiting{caller.get(), POLLIN, 0};
    if (::poll(&waiting, 1, poll_interval_ms) <= 0) return;
    bool over = false;
    const auto message = wire::receive(caller.get(), over);
    if (!message || message->type != wire::kind::stop) return;
    ending_ = true;
    stop_requester_ = std::move(caller);
}

void stop_daemon(const std::string& key) {
    ucs::unique_fd connection = names::connect_to(names::daemon_name(::geteuid(), key));
    const auto peer = connection ? ucs::sys::read_peer_credentials(connection.get()) : std::nullopt;
    if (!peer || !peer->is_own_user()) {
        if (peer) ucs::sys::close_in_background(std::move(connection));
        throw failure("no ucx_vfs of this user runs");
    }
    (void)wire::send(connection.get(), wire::kind::stop);
    pollfd ends{connection.get(), POLLIN, 0};
    if (::poll(&ends, 1, stop_limit_ms) <= 0) {
        throw failure(fmt::format("process {} does not end", peer->pid));
    }
}

}  // namespace tools::vfs
