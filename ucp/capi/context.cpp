// ucp_context_h: creation, attributes, text.
#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>

#include "ucp/capi/check.hpp"
#include "ucp/capi/handles.hpp"
#include "uct/components/components.hpp"

namespace {

using namespace ucp;
using namespace ucp::capi;

context_params read(const ucp_params_t& from) {
    const auto has = [&from](std::uint64_t bit) { return (from.field_mask & bit) != 0; };
    context_params params;
    if (has(UCP_PARAM_FIELD_FEATURES)) params.features = from.features;
    if (has(UCP_PARAM_FIELD_REQUEST_SIZE)) params.request_area.size = from.request_size;
    if (has(UCP_PARAM_FIELD_REQUEST_INIT)) params.request_area.init = from.request_init;
    if (has(UCP_PARAM_FIELD_REQUEST_CLEANUP)) params.request_area.cleanup = from.request_cleanup;
    if (has(UCP_PARAM_FIELD_TAG_SENDER_MASK)) params.tag_sender_mask = from.tag_sender_mask;
    if (has(UCP_PARAM_FIELD_MT_WORKERS_SHARED)) {
        params.workers_shared = from.mt_workers_shared != 0;
    }
    if (has(UCP_PARAM_FIELD_ESTIMATED_NUM_EPS)) params.estimated_eps = from.estimated_num_eps;
    if (has(UCP_PARAM_FIELD_ESTIMATED_NUM_PPN)) params.estimated_ppn = from.estimated_num_ppn;
    if (has(UCP_PARAM_FIELD_NAME) && from.name != nullptr) params.name = from.name;
    return params;
}

void check_version(unsigned major, unsigned minor) {
    if (major == UCP_API_MAJOR && minor <= UCP_API_MINOR) return;
    ucs::log::warn(core_log,
                   "the program was compiled for version {}.{} of the interface, this library "
                   "serves {}.{}: what is newer is missing",
                   major, minor, UCP_API_MAJOR, UCP_API_MINOR);
}

// Returns the path of the file that contains this function.
const char* own_path() noexcept {
    Dl_info info{};
    const bool found = ::dladdr(reinterpret_cast<const void*>(&own_path), &info) != 0;
    return found && info.dli_fname != nullptr ? info.dli_fname : "an unknown file";
}

// Logs at level info, once per process, the version and the file from which the library was loaded,
// because several versions may be installed.
void log_library() noexcept {
    static std::atomic_flag done;
    if (!core_log.enabled(ucs::log::level::info) || done.test_and_set()) return;
    ucs::log::info(core_log, "Hawser {}, loaded from {}", ucp_get_version_string(), own_path());
}

ucs_status_t create(const ucp_params_t& params, const ucp_config_t* config,
                    ucp_context_h* context_p) {
    auto source = config != nullptr ? ucs::result<ucs::config::source>(config->source)
                                    : ucs::config::source::read({}, {});
    if (!source) return source.status();
    const auto tables = option_tables();
    log_library();
    source->warn_unknown(tables);
    auto made = context::create(read(params), std::move(*source), uct::builtin_components());
    if (!made) return made.status();
    *context_p = handle(*made->release());
    return UCS_OK;
}

constexpr std::uint64_t known_features =
    UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64 | UCP_FEATURE_WAKEUP |
    UCP_FEATURE_STREAM | UCP_FEATURE_AM | UCP_FEATURE_EXPORTED_MEMH;

ucs_status_t check_features(const ucp_params_t& params) {
    if ((params.field_mask & UCP_PARAM_FIELD_FEATURES) == 0 || params.features == 0) {
        return refuse("ucp_init", "params.features must name what the program uses");
    }
    const std::uint64_t missing = params.features & ~known_features;
    if (missing != 0) {
        ucs::log::debug(core_log, "ucp_init: features {:#x} have no functions in this version",
                        missing);
    }
    return UCS_OK;
}

}  // namespace

extern "C" {

void ucp_get_version(unsigned* major_version, unsigned* minor_version, unsigned* release_number) {
    if (major_version != nullptr) *major_version = UCP_API_MAJOR;
    if (minor_version != nullptr) *minor_version = UCP_API_MINOR;
    if (release_number != nullptr) *release_number = 0;
}

const char* ucp_get_version_string(void) {
    return "1.20.0";
}

ucs_status_t ucp_lib_query(ucp_lib_attr_t* attr) {
    if (attr == nullptr) return refuse("ucp_lib_query", "attr is NULL");
    if ((attr->field_mask & UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL) != 0) {
        attr->max_thread_level = UCS_THREAD_MODE_MULTI;
    }
    return UCS_OK;
}

ucs_status_t ucp_init_version(unsigned api_major_version, unsigned api_minor_version,
                              const ucp_params_t* params, const ucp_config_t* config,
                              ucp_context_h* context_p) {
    if (params == nullptr || context_p == nullptr) {
        return refuse("ucp_init", "params or context_p is NULL");
    }
    if (const ucs_status_t status = check_features(*params); status != UCS_OK) return status;
    check_version(api_major_version, api_minor_version);
    return ucs::boundary(core_log, "ucp_init", [&] { return create(*params, config, context_p); });
}

void ucp_cleanup(ucp_context_h context_p) {
    if (context_p != nullptr) delete &from(context_p);
}

ucs_status_t ucp_context_query(ucp_context_h context_p, ucp_context_attr_t* attr) {
    if (context_p == nullptr || attr == nullptr) {
        return refuse("ucp_context_query", "context or attr is NULL");
    }
    const context& object = from(context_p);
    const auto wants = [attr](std::uint64_t bit) { return (attr->field_mask & bit) != 0; };
    if (wants(UCP_ATTR_FIELD_REQUEST_SIZE)) attr->request_size = sizeof(request);
    if (wants(UCP_ATTR_FIELD_THREAD_MODE)) {
        attr->thread_mode =
            object.params().workers_shared ? UCS_THREAD_MODE_MULTI : UCS_THREAD_MODE_SINGLE;
    }
    if (wants(UCP_ATTR_FIELD_MEMORY_TYPES)) {
        attr->memory_types = UCS_BIT(UCS_MEMORY_TYPE_HOST);
        if (ucs::cuda::loaded_driver() != nullptr)
            attr->memory_types |=
                UCS_BIT(UCS_MEMORY_TYPE_CUDA) | UCS_BIT(UCS_MEMORY_TYPE_CUDA_MANAGED);
    }
    if (wants(UCP_ATTR_FIELD_NAME)) copy_name(attr->name, object.name());
    return UCS_OK;
}

void ucp_context_print_info(const ucp_context_h context_p, FILE* stream) {
    if (context_p == nullptr || stream == nullptr) return;
    ucs::boundary(core_log, "ucp_context_print_info",
                  [&] { std::fputs(from(context_p).info().c_str(), stream); });
}

}  // extern "C"
