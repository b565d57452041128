#include "ucp/core/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "ucp/core/worker_list.hpp"
#include "ucp/log/log.hpp"
#include "ucs/config/general.hpp"
#include "ucs/memory/event_settings.hpp"
#include "ucs/security/job_key.hpp"
#include "ucs/vfs/tree.hpp"
#include "uct/components/components.hpp"

namespace ucp {

namespace {

// Names that stand for several transports in UCX_TLS.
bool stands_for(std::string_view listed, std::string_view transport) {
    struct group {
        std::string_view name;
        std::string_view has;
    };
    static constexpr group groups[] = {
        {"sm", "posix"},      {"sm", "cma"},      {"shm", "posix"},     {"shm", "cma"},
        {"mm", "posix"},      {"rc", "rc_verbs"}, {"rc_v", "rc_verbs"}, {"ud", "ud_verbs"},
        {"ud_v", "ud_verbs"}, {"ib", "rc_verbs"}, {"ib", "ud_verbs"},   {"cuda", "cuda_ipc"},
    };
    return std::ranges::any_of(
        groups, [&](const group& each) { return each.name == listed && each.has == transport; });
}

// Copies within the process are no way to a peer: memory of devices can be used whatever transports
// are chosen.
constexpr std::string_view always_used = "cuda_copy";

bool listed(const ucs::config::allow_list& list, std::string_view transport) {
    if (transport == always_used) return true;
    const bool found =
        std::any_of(list.names.begin(), list.names.end(), [&](const std::string& name) {
            return name == "all" || name == transport || stands_for(name, transport);
        });
    return found != list.negated;
}

// Transports of the UCX family that are not in this build: naming them is no typing error.
bool known_elsewhere(std::string_view name) {
    static constexpr std::string_view names[] = {
        "all",      "sm",      "shm",       "mm",       "sysv",    "xpmem", "knem",      "ib",
        "rc",       "rc_v",    "rc_x",      "rc_verbs", "rc_mlx5", "ud",    "ud_v",      "ud_x",
        "ud_verbs", "ud_mlx5", "dc",        "dc_x",     "dc_mlx5", "cuda",  "cuda_copy", "cuda_ipc",
        "gdr_copy", "rocm",    "rocm_copy", "rocm_ipc", "rdmacm",  "tcp",   "self",      "cma",
        "posix",    "ugni",    "ze",        "ze_copy",  "ze_ipc",  "srd",   "gga",       "aux"};
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

using name_set = std::set<std::string, std::less<>>;

void warn_of_unknown(const ucs::config::allow_list& list, const char* option,
                     const name_set& known) {
    for (const std::string& name : list.names) {
        if (known.contains(name) || known_elsewhere(name)) continue;
        if (name.starts_with('^')) {
            ucs::log::warn(core_log,
                           "{} names '{}': '^' counts only in front of the whole list, which then "
                           "names what is not used",
                           option, name);
            continue;
        }
        std::string have;
        for (const std::string& each : known)
            have += (have.empty() ? "" : ", ") + each;
        ucs::log::warn(core_log, "{} names '{}', which does not exist here; there is: {}", option,
                       name, have);
    }
}

// If the program names a device that is present and does not work, the log says so.
void warn_of_left_out(const ucs::config::allow_list& list,
                      const std::vector<refused_resource>& refused) {
    if (list.negated) return;
    for (const refused_resource& each : refused) {
        if (std::find(list.names.begin(), list.names.end(), each.device) == list.names.end())
            continue;
        ucs::log::warn(core_log, "UCX_NET_DEVICES names '{}', which is left out: {}", each.device,
                       each.reason);
    }
}

std::string default_name() {
    static std::atomic<unsigned> count{0};
    return fmt::format("context_{}", count.fetch_add(1));
}

}  // namespace

context::context(const context_params& params, ucs::config::source source, config options)
    : params_(params),
      source_(std::move(source)),
      config_(std::move(options)),
      costs_(measure_host(config_.probe_host)),
      workers_(std::make_unique<worker_list>()),
      devices_(std::make_unique<mem::device_domains>(source_)) {
    if (params_.name.empty()) params_.name = default_name();
}

context::~context() {
    ucs::vfs::remove_root(*this);
}

ucs::result<std::unique_ptr<context>> context::create(
    const context_params& params, ucs::config::source source,
    std::span<const uct::component* const> components) {
    auto options = ucs::config::load<config>(source);
    if (!options) return options.status();
    if (const ucs_status_t status = ucs::memory::configure_events(source); status != UCS_OK) {
        return status;
    }
    auto job_key = ucs::security::load_job_key(source);
    if (!job_key) return job_key.status();
    source.erase_secret("JOB_KEY");
    std::unique_ptr<context> made(new context(params, std::move(source), std::move(*options)));
    made->job_key_ = *job_key;
    if (const ucs_status_t status = made->find_resources(components); status != UCS_OK) {
        return status;
    }
    const bool shares_memory =
        std::any_of(made->resources_.begin(), made->resources_.end(),
                    [](const auto& each) { return each.where.transport == "posix"; });
    made->memories_ = std::make_unique<mem::memory_table>(shares_memory, made->devices_.get());
    ucs::vfs::show_global_options();
    made->path_ = ucs::vfs::add_root("ucp/context/" + ucs::vfs::file_name(made->name()), *made);
    // This is also the first log message of a program without problems: a wrong UCX_LOG_LEVEL or
    // UCX_LOG_FILE is reported now and not with the first trouble.
    ucs::log::debug(core_log, "context {} has {} resources, {} were left out", made->name(),
                    made->resources_.size(), made->refused_.size());
    return made;
}

ucs_status_t context::find_resources(std::span<const uct::component* const> components) {
    const ucs::config::text_value* given = source_.find("TLS");
    const char* by_transports = given != nullptr && given->from == ucs::config::origin::program
                                    ? "excluded by UCX_TLS, which the program set"
                                    : "excluded by UCX_TLS";
    name_set transports;
    name_set devices;  // network devices, including those that are left out
    for (const uct::component* component : components) {
        transports.insert(component->name());
        if (!listed(config_.transports, component->name())) {
            refused_.push_back({component->name(), "*", by_transports});
            continue;
        }
        // A transport with a wrong option would not work as the user meant it, so nothing starts.
        for (const ucs::config::table* options : component->options()) {
            const ucs_status_t status = ucs::config::check(*options, source_);
            if (status != UCS_OK) return status;
        }
        uct::listing found = component->query(source_);
        for (uct::unusable_resource& each : found.unusable) {
            if (each.type == uct::device_type::network) devices.insert(each.device);
            refused_.push_back(
                {std::move(each.transport), std::move(each.device), std::move(each.reason)});
        }
        for (uct::resource& each : found.usable) {
            const bool network = each.type == uct::device_type::network;
            if (network) devices.insert(each.device);
            if (network && !config_.devices.allows(each.device)) {
                refused_.push_back({each.transport, each.device, "excluded by UCX_NET_DEVICES"});
                continue;
            }
            const std::uint8_t memory = devices_->add(*component, each);
            resources_.push_back({component, std::move(each), false, memory});
        }
    }
    warn_of_unknown(config_.transports, "UCX_TLS", transports);
    // If no network transport was queried, the device names are unknown.
    if (!devices.empty()) warn_of_unknown(config_.devices, "UCX_NET_DEVICES", devices);
    const bool any = std::any_of(resources_.begin(), resources_.end(), [](const auto& each) {
        return each.where.transport != "cma" && each.where.type != uct::device_type::accelerator;
    });
    if (any) {
        warn_of_left_out(config_.devices, refused_);
        add_bootstrap(components);
        return UCS_OK;
    }
    // A user who lists only cma sees nothing wrong with the list.
    std::string why =
        resources_.empty()
            ? ""
            : "cma carries no messages by itself; it copies for connections over posix";
    for (const refused_resource& each : refused_)
        why += fmt::format("{}{}/{}: {}", why.empty() ? "" : "; ", each.transport, each.device,
                           each.reason);
    ucs::log::error(core_log, "no transport is usable: {}", why);
    return UCS_ERR_NO_DEVICE;
}

void context::add_bootstrap(std::span<const uct::component* const> components) {
    const auto has_paired = std::any_of(resources_.begin(), resources_.end(),
                                        [](const auto& each) { return each.where.paired; });
    const auto reaches_all = [](const uct::resource& where) {
        return !where.paired && where.type == uct::device_type::network;
    };
    const auto has_other = std::any_of(resources_.begin(), resources_.end(),
                                       [&](const auto& each) { return reaches_all(each.where); });
    if (!has_paired || has_other) return;
    for (const uct::component* component : components) {
        for (uct::resource& each : component->query(source_).usable) {
            if (reaches_all(each)) resources_.push_back({component, std::move(each), true});
        }
    }
}

bool context::has_rdma_devices() const noexcept {
    return std::any_of(resources_.begin(), resources_.end(), [](const usable_resource& each) {
        return !each.only_connects && each.where.rdma;
    });
}

std::string context::info() const {
    // One memory domain per component; device numbers count the distinct names.
    std::vector<std::string> domains;
    std::vector<std::string> devices;
    const auto number_of = [](std::vector<std::string>& names, const std::string& name) {
        const auto place = std::find(names.begin(), names.end(), name);
        const auto index = static_cast<std::size_t>(place - names.begin());
        if (place == names.end()) names.push_back(name);
        return index;
    };
    std::string list;
    for (std::size_t i = 0; i < resources_.size(); ++i) {
        if (resources_[i].only_connects) continue;
        const uct::resource& where = resources_[i].where;
        list += fmt::format("#  resource {:<2} : md {:<2} dev {:<2} flags -- {}/{}\n", i,
                            number_of(domains, where.transport), number_of(devices, where.device),
                            where.transport, where.device);
    }
    std::string text = "#\n# UCP context\n#\n";
    for (std::size_t i = 0; i < domains.size(); ++i)
        text += fmt::format("#     component {:<2} : {}\n", i, domains[i]);
    for (std::size_t i = 0; i < domains.size(); ++i)
        text += fmt::format("#            md {:<2} : component {} {}\n", i, i, domains[i]);
    text += "#\n" + list + "#\n";
    for (const usable_resource& each : resources_) {
        if (!each.only_connects) continue;
        text += fmt::format("#  connects    : {}/{}, for connection data only\n",
                            each.where.transport, each.where.device);
    }
    for (const refused_resource& each : refused_)
        text +=
            fmt::format("#  left out    : {}/{}: {}\n", each.transport, each.device, each.reason);
    text += fmt::format(
        "#  host costs  : copy {:.1f} GB/s in cache, {:.1f} GB/s beyond, single copy {} ({})\n#\n",
        costs_.copy_cached * 1e-9, costs_.copy_memory * 1e-9,
        costs_.single_copy_works ? fmt::format("{:.1f} GB/s + {:.2f} us", costs_.single_copy * 1e-9,
                                               costs_.single_copy_overhead * 1e6)
                                 : "refused by the system",
        costs_.origin);
    return text;
}

std::vector<const ucs::config::table*> option_tables() {
    std::vector<const ucs::config::table*> tables{&config::options()};
    for (const uct::component* component : uct::builtin_components()) {
        for (const ucs::config::table* options : component->options()) {
            if (std::find(tables.begin(), tables.end(), options) == tables.end()) {
                tables.push_back(options);
            }
        }
    }
    for (const ucs::config::table* general : ucs::config::general_tables())
        tables.push_back(general);
    return tables;
}

}  // namespace ucp
