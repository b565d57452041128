#include "ucg/core/context.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <new>
#include <span>
#include <string>

#include "ucg/core/group.hpp"
#include "ucg/node/patterns/numa_domains.hpp"
#include "ucg/schedule/log.hpp"
#include "ucs/config/source.hpp"
#include "ucs/random/random_bytes.hpp"
#include "ucs/random/seeded.hpp"
#include "ucs/security/job_key.hpp"
#include "ucs/sys/process.hpp"
#include "ucs/time/clock.hpp"
#include "ucs/topology/machine.hpp"

namespace ucg {
namespace {

// Processes that do not see each other's pids cannot share memory by pid.
std::uint64_t node_of(const config& options) {
    namespace sys = ucs::sys;
    if (!options.node_engine) return sys::random_id();
    const std::uint64_t host = sys::mix(sys::host_id() ^ sys::mix(sys::pid_namespace()));
    const std::uint64_t within =
        options.node_id.empty() ? sys::net_namespace() : sys::hash_text(options.node_id);
    return sys::mix(host ^ within);
}

// A process that may run on several NUMA nodes belongs to none.
std::uint32_t numa_of(const config& options) {
    std::string name = options.numa_id;
    if (name == "auto") {
        const int only = ucs::topology::home_node();
        name = only < 0 ? "" : fmt::to_string(only);
    }
    if (name.empty()) return node::numa_domains::unknown;
    return static_cast<std::uint32_t>(ucs::sys::hash_text(name)) >> 1;  // never `unknown`
}

// Returns whether the user has given a job key.
ucs::result<bool> has_job_key() {
    auto source = ucs::config::source::read({}, {});
    if (!source) return source.status();
    auto given = ucs::config::load<ucs::security::job_key_settings>(*source);
    if (!given) return given.status();
    const bool is_set = !given->text.text.empty() || !given->file.empty();
    ucs::security::erase(std::as_writable_bytes(std::span(given->text.text)));
    source->erase_secret("JOB_KEY");
    return is_set;
}

}  // namespace

ucs::result<std::unique_ptr<context>> context::make(const ucg_context_params_t& params) {
    auto options = config::read();
    if (!options) return options.status();
    if (options->slot_size.bytes % 4096 != 0) {
        ucs::log::error(core_log, "UCG_NODE_SLOT_SIZE={} is no multiple of 4k",
                        options->slot_size.bytes);
        return UCS_ERR_INVALID_PARAM;
    }
    auto chooses = select::selector::make(options->algorithms);
    if (!chooses) return chooses.status();
    bool is_key_fixed = true;
    if (params.worker == nullptr && options->random_job_key != ucs::config::ternary::no) {
        const auto is_set = has_job_key();
        if (!is_set) return is_set.status();
        is_key_fixed = *is_set;
    }
    return std::unique_ptr<context>(
        new context(std::move(*options), std::move(*chooses), params, is_key_fixed));
}

context::context(config options, select::selector chooses, const ucg_context_params_t& params,
                 bool is_key_fixed)
    : options_(std::move(options)),
      selector_(std::move(chooses)),
      lock_(params.thread_mode == UCS_THREAD_MODE_MULTI),
      thread_mode_(params.thread_mode),
      node_(node_of(options_)),
      numa_(numa_of(options_)),
      is_key_fixed_(is_key_fixed),
      worker_(params.worker) {}

context::~context() {
    constexpr ucs::time::nanoseconds timeout = 5 * ucs::time::second;
    const ucs::time::nanoseconds until = ucs::time::now() + timeout;
    for (close_books(); !left_.empty() && ucs::time::now() < until; close_books()) {
        ::sched_yield();
        ucs::time::simulation_yield();
    }
    if (listens_) net::control_messages::stop_listening(worker_);
    if (ucp_ == nullptr) return;
    if (worker_ != nullptr) ucp_worker_destroy(worker_);
    ucp_cleanup(ucp_);
}

ucs::result<ucp_worker_h> context::worker() {
    if (worker_ == nullptr) {
        if (const ucs_status_t status = make_worker(); status != UCS_OK) return status;
    }
    if (!listens_) {
        if (const ucs_status_t status = control_messages_.listen(worker_); status != UCS_OK)
            return status;
        control_messages_.set_group_check(
            [](void* self, std::uint32_t group) {
                return static_cast<context*>(self)->ids_.is_used(group);
            },
            this);
        listens_ = true;
    }
    return worker_;
}

// A random key is passed by a configuration of this context alone, because child processes inherit
// the environment.
ucs_status_t context::open_ucp() {
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME;
    params.features = UCP_FEATURE_TAG | UCP_FEATURE_AM;
    params.name = "ucg";
    if (!job_key_) return ucp_init(&params, nullptr, &ucp_);
    ucp_config_t* made = nullptr;
    ucs_status_t status = ucp_config_read(nullptr, nullptr, &made);
    if (status != UCS_OK) return status;
    const std::unique_ptr<ucp_config_t, decltype(&ucp_config_release)> config(made,
                                                                              &ucp_config_release);
    std::string text = job_key_->text();
    status = ucp_config_modify(config.get(), "JOB_KEY", text.c_str());
    ucs::security::erase(std::as_writable_bytes(std::span(text)));
    return status == UCS_OK ? ucp_init(&params, config.get(), &ucp_) : status;
}

key_offer context::offer_key(bool is_private, bool proposes) const noexcept {
    const bool is_decided = is_key_fixed_ || (worker_ != nullptr && !job_key_);
    key_offer made;
    made.insists = options_.random_job_key == ucs::config::ternary::yes && !is_key_fixed_ ? 1 : 0;
    made.origin = static_cast<std::uint32_t>(is_decided ? key_origin::fixed
                                             : job_key_ ? key_origin::random
                                                        : key_origin::open);
    if (is_decided || (!job_key_ && !(is_private && proposes))) return made;
    const random_job_key offered = job_key_ ? *job_key_ : random_job_key::make();
    made.id = offered.id();
    if (is_private) made.key = offered.data();
    return made;
}

ucs_status_t context::make_worker() {
    if (ucp_ == nullptr) {
        const ucs_status_t status = open_ucp();
        if (status != UCS_OK) return status;
    }
    ucp_worker_params_t params{};
    params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    // The lock of this context serializes the calls of several threads.
    params.thread_mode = thread_mode_ == UCS_THREAD_MODE_SINGLE ? UCS_THREAD_MODE_SINGLE
                                                                : UCS_THREAD_MODE_SERIALIZED;
    return ucp_worker_create(ucp_, &params, &worker_);
}

ucs::result<std::vector<std::byte>> context::address() {
    const auto ucp_worker = worker();
    if (!ucp_worker) return ucp_worker.status();
    ucp_address_t* packed = nullptr;
    std::size_t length = 0;
    if (const ucs_status_t status = ucp_worker_get_address(*ucp_worker, &packed, &length);
        status != UCS_OK)
        return status;
    const auto release = [&](ucp_address_t* each) {
        ucp_worker_release_address(*ucp_worker, each);
    };
    const std::unique_ptr<ucp_address_t, decltype(release)> address(packed, release);
    const auto* const first = reinterpret_cast<const std::byte*>(packed);
    return std::vector<std::byte>(first, first + length);
}

void context::serve(std::shared_ptr<net::address_book> left) noexcept {
    try {
        left_.push_back(std::move(left));
    } catch (const std::bad_alloc&) {
        // Ranks that still look up addresses get no answer until their time limit.
    }
}

void context::close_books() noexcept {
    std::erase_if(left_, [](const auto& each) { return each->close(); });
}

// Groups may be added and removed in callbacks, so the list is iterated over by index.
unsigned context::progress() noexcept {
    unsigned done = worker_ != nullptr ? ucp_worker_progress(worker_) : 0;
    if (listens_)
        done += control_messages_.late().progress(
            worker_, [this](std::uint32_t group) { return ids_.is_used(group); });
    for (std::size_t i = 0; i < groups_.size(); ++i)
        done += groups_[i]->progress();
    constexpr unsigned polls_per_check = 64;
    if (!left_.empty() && ++looks_ % polls_per_check == 0) close_books();
    return done;
}

}  // namespace ucg
