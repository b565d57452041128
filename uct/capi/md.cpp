// Memory domains: options, opening, and the transports found with them.
#include <cstdlib>
#include <memory>

#include "uct/capi/handles.hpp"

namespace {

uct_device_type_t to_c(uct::device_type type) noexcept {
    switch (type) {
        case uct::device_type::self:
            return UCT_DEVICE_TYPE_SELF;
        case uct::device_type::shared_memory:
            return UCT_DEVICE_TYPE_SHM;
        case uct::device_type::accelerator:
            return UCT_DEVICE_TYPE_ACC;
        case uct::device_type::network:
        case uct::device_type::simulated:
            break;
    }
    return UCT_DEVICE_TYPE_NET;
}

uct_tl_resource_desc_t to_c(const uct::resource& found) noexcept {
    uct_tl_resource_desc_t desc{};
    uct::capi::copy_name(desc.tl_name, found.transport);
    uct::capi::copy_name(desc.dev_name, found.device);
    desc.dev_type = to_c(found.type);
    desc.sys_device = UCS_SYS_DEVICE_ID_UNKNOWN;
    return desc;
}

}  // namespace

ucs_status_t uct_md_config_read(uct_component_h component, const char* env_prefix,
                                const char* filename, uct_md_config_t** config_p) {
    if (component == nullptr || config_p == nullptr) return UCS_ERR_INVALID_PARAM;
    return ucs::boundary(uct::capi_log, "uct_md_config_read", [&] {
        auto values = ucs::config::source::read(env_prefix == nullptr ? "" : env_prefix,
                                                filename == nullptr ? "" : filename);
        if (!values) return values.status();
        *config_p = new uct_md_config{*std::move(values)};
        return UCS_OK;
    });
}

void uct_config_release(void* config) {
    delete static_cast<uct_md_config*>(config);
}

ucs_status_t uct_md_open(uct_component_h component, const char* md_name,
                         const uct_md_config_t* config, uct_md_h* md_p) {
    if (component == nullptr || md_name == nullptr || config == nullptr || md_p == nullptr) {
        return UCS_ERR_INVALID_PARAM;
    }
    const uct::component& object = uct::capi::from_handle(component);
    if (std::string_view(md_name) != object.name()) return UCS_ERR_NO_DEVICE;
    return ucs::boundary(uct::capi_log, "uct_md_open", [&] {
        *md_p = new uct_md{object, config->values};
        return UCS_OK;
    });
}

void uct_md_close(uct_md_h md) {
    delete md;
}

ucs_status_t uct_md_query_tl_resources(uct_md_h md, uct_tl_resource_desc_t** resources_p,
                                       unsigned* num_resources_p) {
    if (md == nullptr || resources_p == nullptr || num_resources_p == nullptr) {
        return UCS_ERR_INVALID_PARAM;
    }
    return ucs::boundary(uct::capi_log, "uct_md_query_tl_resources", [&] {
        const auto found = md->component.query(md->values).usable;
        uct_tl_resource_desc_t* list = nullptr;
        if (!found.empty()) {
            list = static_cast<uct_tl_resource_desc_t*>(std::calloc(found.size(), sizeof(*list)));
            if (list == nullptr) return UCS_ERR_NO_MEMORY;
            for (std::size_t i = 0; i < found.size(); ++i)
                list[i] = to_c(found[i]);
        }
        *resources_p = list;
        *num_resources_p = static_cast<unsigned>(found.size());
        return UCS_OK;
    });
}

void uct_release_tl_resource_list(uct_tl_resource_desc_t* resources) {
    std::free(resources);
}
