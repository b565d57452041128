#include <fmt/format.h>

#include <algorithm>

#include "tools/common/failure.hpp"
#include "tools/info/options.hpp"
#include "ucs/config/source.hpp"
#include "ucs/security/job_key.hpp"
#include "uct/components/components.hpp"

namespace tools::info {
namespace {

std::string_view type_name(uct::device_type type) {
    switch (type) {
        case uct::device_type::self:
            return "loopback";
        case uct::device_type::shared_memory:
            return "intra-node";
        case uct::device_type::network:
            return "network";
        case uct::device_type::accelerator:
            return "accelerator";
        case uct::device_type::simulated:
            return "simulated";
    }
    return "unknown";
}

std::string_view reach_name(uct::scope reach) {
    switch (reach) {
        case uct::scope::process:
            return "this process";
        case uct::scope::host:
            return "this host";
        case uct::scope::network:
            return "the network";
    }
    return "unknown";
}

// "8K", "1M", "unlimited".
std::string size_text(std::size_t size) {
    if (size >= (std::size_t{1} << 62)) return "unlimited";
    if (size != 0 && size % (1 << 20) == 0) return fmt::format("<= {}M", size >> 20);
    if (size != 0 && size % 1024 == 0) return fmt::format("<= {}K", size >> 10);
    return fmt::format("<= {}", size);
}

void print_line(std::string_view key, const std::string& value) {
    fmt::print("# {:>20}: {}\n", key, value);
}

std::string atomics_text(const uct::atomic_kinds_of_size& kinds) {
    return fmt::format("post {}; fetch {}", names_of(kinds.posted), names_of(kinds.fetching));
}

void print_operations(const uct::iface_attr& attr) {
    const std::string pieces = fmt::format(", up to {} iov", attr.max_iov);
    const auto print = [&](uct::op operation, std::string_view name, std::size_t most,
                           const std::string& more = {}) {
        if (attr.ops.has(operation)) print_line(name, size_text(most) + more);
    };
    print(uct::op::put_short, "put_short", attr.max_put_short);
    print(uct::op::put_bcopy, "put_bcopy", attr.max_put_bcopy);
    print(uct::op::put_zcopy, "put_zcopy", attr.max_rma, pieces);
    print(uct::op::get_bcopy, "get_bcopy", attr.max_get_bcopy);
    print(uct::op::get_zcopy, "get_zcopy", attr.max_rma, pieces);
    if (attr.ops.has(uct::op::atomic)) {
        print_line("atomic 32 bit", atomics_text(attr.atomics.words32));
        print_line("atomic 64 bit", atomics_text(attr.atomics.words64));
    }
    print(uct::op::am_short, "am_short", attr.max_short);
    print(uct::op::am_bcopy, "am_bcopy", attr.max_bcopy);
    print(uct::op::am_zcopy, "am_zcopy", attr.max_zcopy, pieces);
    print(uct::op::am_zcopy, "am header", attr.max_zcopy_header);
}

void print_capabilities(const uct::iface_attr& attr) {
    fmt::print("#\n#      capabilities:\n");
    print_line("bandwidth", fmt::format("{:.2f}/ppn + 0.00 MB/sec", attr.bandwidth / 1048576));
    print_line("latency", fmt::format("{:.0f} nsec", attr.latency * 1e9));
    print_line("overhead", fmt::format("{:.0f} nsec", attr.overhead * 1e9));
    print_operations(attr);
    print_line("reaches", std::string(reach_name(attr.reach)));
    print_line("connection", attr.connection_length > 0 ? "to ep" : "to iface");
    print_line("progress", attr.cost == uct::poll_cost::memory ? "by memory" : "by system call");
    if (attr.supports_landing) print_line("receives", "straight into the posted buffer");
    fmt::print("# {:>21} {} bytes\n", "iface address:", attr.address_length);
    if (attr.connection_length > 0) {
        fmt::print("# {:>21} {} bytes\n", "ep address:", attr.connection_length);
    }
    fmt::print("# {:>21} {}\n", "error handling:", "peer failure");
}

// Prints the properties of an RDMA port other than its costs and limits.
void print_port(const uct::iface& on) {
    constexpr std::string_view shown_files[] = {"link", "gid", "lid", "pkey", "path_mtu"};
    ucs::vfs::directory files;
    on.describe(files);
    for (const ucs::vfs::directory::entry& each : files.entries()) {
        if (std::ranges::find(shown_files, each.name) != std::end(shown_files))
            print_line(each.name, each.read());
    }
}

void print_resource(const uct::component& from, const uct::resource& where,
                    const uct::iface_params& params) {
    fmt::print("#\n#      Transport: {}\n", where.transport);
    fmt::print("#         Device: {}\n", where.device);
    fmt::print("#           Type: {}\n", type_name(where.type));
    fmt::print("#  System device: {}\n", where.location.text());
    const auto opened = from.open(where, params);
    if (opened.ok()) {
        print_capabilities((*opened)->attr());
        if (where.rdma) print_port(**opened);
    } else {
        fmt::print("#\n#      cannot be opened: {}\n", ucs_status_string(opened.status()));
    }
    fmt::print("#\n");
}

void print_left_out(const uct::unusable_resource& without) {
    fmt::print("#      Left out: {}{}{}: {}\n", without.transport,
               without.device.empty() ? "" : "/", without.device, without.reason);
    fmt::print("#\n");
}

// Prints a component. Returns whether it has a matching transport.
bool print_component(const uct::component& shown, const options& opts,
                     const uct::iface_params& params) {
    const auto matches = [&](const std::string& transport) {
        return opts.transport.empty() || transport == opts.transport;
    };
    const uct::listing found = shown.query(params.config);
    bool began = false;
    const auto begin = [&] {
        if (!began) fmt::print("#\n# Memory domain: {0}\n#     Component: {0}\n", shown.name());
        began = true;
    };
    for (const uct::resource& one : found.usable) {
        if (!matches(one.transport)) continue;
        begin();
        print_resource(shown, one, params);
    }
    for (const uct::unusable_resource& one : found.unusable) {
        if (!matches(one.transport)) continue;
        begin();
        print_left_out(one);
    }
    return began;
}

}  // namespace

void print_devices(const options& opts) {
    auto config = ucs::config::source::read("", "");
    require_ok(config.status(), "configuration");
    const auto events = ucs::async::event_loop::create();
    require_ok(events.status(), "event loop");
    const auto job_key = ucs::security::load_job_key(*config);
    config->erase_secret("JOB_KEY");
    if (!job_key) throw failure("the job key cannot be used");
    const uct::iface_params params{.events = **events,
                                   .config = *config,
                                   .worker_uid = 1,
                                   .job_key = job_key->has_value() ? &**job_key : nullptr};
    bool any = false;
    for (const uct::component* one : uct::builtin_components()) {
        any = print_component(*one, opts, params) || any;
    }
    if (!any) {
        throw failure(fmt::format("no transport \"{}\"; -d without -t shows all", opts.transport));
    }
}

}  // namespace tools::info
