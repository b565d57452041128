#include "ucs/log/log.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <iterator>
#include <mutex>
#include <new>

#include "ucs/log/level.hpp"
#include "ucs/log/output.hpp"
#include "ucs/log/printable.hpp"
#include "ucs/log/repeats.hpp"
#include "ucs/log/settings.hpp"
#include "ucs/sys/process.hpp"
#include "ucs/time/clock.hpp"

namespace ucs::log {
namespace {

constinit component self{"ucs.log"};

// The state of logging. The first message or configure() creates it. It is never destroyed, because
// other objects log from their destructors at the end of the process.
struct engine {
    std::mutex lock;  // guards levels and their text
    level_map levels;
    std::string text = settings{}.levels;
    output out;
};

engine& the_engine() noexcept {
    // Use static memory: the first message may be about a lack of memory.
    alignas(engine) static std::byte storage[sizeof(engine)];
    static engine& instance = *::new (storage) engine;
    return instance;
}

constinit std::once_flag configured;
constinit thread_local bool configuring = false;
constinit std::atomic<sink*> installed_sink{nullptr};

// Counts of warnings and errors by their kind: a program may cause one in each call.
constinit line_counts repeated;
constinit std::atomic<unsigned> first_of_kind{first_lines};

void adopt(level_map levels, std::string_view text) {
    engine& shared = the_engine();
    const std::lock_guard lock(shared.lock);
    shared.text = text;
    shared.levels = std::move(levels);
    // Zero stands for "never resolved" in a component, so it is left out when the count wraps.
    constexpr std::uint32_t last = ~std::uint32_t{0} >> 4;
    const std::uint32_t current = generation.load(std::memory_order_relaxed);
    generation.store(current == last ? 1 : current + 1, std::memory_order_relaxed);
}

ucs_status_t apply(const settings& new_settings) {
    auto levels = level_map::parse(new_settings.levels);
    if (!levels) {
        error(self, "log level \"{}\" is not valid", new_settings.levels);
        return UCS_ERR_INVALID_PARAM;
    }
    adopt(std::move(*levels), new_settings.levels);
    first_of_kind.store(new_settings.repeats, std::memory_order_relaxed);
    const std::string reason =
        the_engine().out.open(new_settings.file, new_settings.file_size, new_settings.backups);
    if (!reason.empty()) {
        error(self, "cannot open the log file \"{}\": {}; messages go to stderr",
              expand_file_name(new_settings.file), reason);
        return UCS_ERR_IO_ERROR;
    }
    return UCS_OK;
}

// Appends "[seconds.microseconds] [host:pid:tid] component LEVEL text\n", one such line for each
// line of `text`. append_printable writes the text, because part of it may come from a peer.
void format_lines(fmt::memory_buffer& into, const component& source, level severity,
                  std::string_view text) {
    const time::nanoseconds wall = time::since_epoch();
    const auto thread = static_cast<long>(::syscall(SYS_gettid));
    while (text.ends_with('\n'))
        text.remove_suffix(1);
    do {
        const std::size_t end = text.find('\n');
        fmt::format_to(std::back_inserter(into), "[{}.{:06}] [{}:{}:{}] {:<12} {:<5} ",
                       wall / 1'000'000'000, wall / 1000 % 1'000'000, sys::host_name(), ::getpid(),
                       thread, source.name(), level_name(severity));
        append_printable(into, text.substr(0, end));
        into.push_back('\n');
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
    } while (!text.empty());
}

// The first message configures logging. Reading the configuration may log in turn: those
// messages see the default settings.
void configure_once() noexcept {
    if (configuring) return;
    configuring = true;
    try {
        std::call_once(configured, [] { (void)apply(read_settings()); });
    } catch (...) {
        // Out of memory: the defaults stay in force.
    }
    configuring = false;
}

}  // namespace

ucs_status_t configure(const settings& new_settings) {
    std::call_once(configured, [] {});
    return apply(new_settings);
}

ucs_status_t set_level(std::string_view text) {
    configure_once();
    auto levels = level_map::parse(text);
    if (!levels) {
        error(self, "set_level(\"{}\"): not a log level", text);
        return UCS_ERR_INVALID_PARAM;
    }
    adopt(std::move(*levels), text);
    return UCS_OK;
}

std::string current_levels() {
    configure_once();
    engine& shared = the_engine();
    const std::lock_guard lock(shared.lock);
    return shared.text;
}

void set_sink(sink* taker) noexcept {
    repeated.reset();
    installed_sink.store(taker, std::memory_order_release);
}

std::uint32_t component::resolve() const noexcept {
    configure_once();
    engine& shared = the_engine();
    const std::lock_guard lock(shared.lock);
    const std::uint32_t value = generation.load(std::memory_order_relaxed) << level_bits |
                                static_cast<std::uint32_t>(shared.levels.of(name_));
    cached_.store(value, std::memory_order_relaxed);
    return value;
}

void write(const component& source, level severity, std::string_view text) noexcept {
    configure_once();
    try {
        if (sink* taker = installed_sink.load(std::memory_order_acquire)) {
            taker->message(source, severity, text);
            return;
        }
        fmt::memory_buffer line;
        format_lines(line, source, severity, text);
        the_engine().out.write({line.data(), line.size()});
    } catch (...) {
        the_engine().out.write("a log message was lost: out of memory\n");
    }
}

void vwrite(const component& source, level severity, fmt::string_view format,
            fmt::format_args args) noexcept {
    std::uint64_t number = 0;
    const std::uint64_t first = first_of_kind.load(std::memory_order_relaxed);
    if (severity <= level::warn) number = repeated.add(kind_of(format, args));
    if (is_written(number, first)) write_numbered(source, severity, format, args, number, first);
}

}  // namespace ucs::log
