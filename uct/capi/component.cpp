// Listing and describing components.
#include <cstdlib>

#include "uct/capi/handles.hpp"
#include "uct/components/components.hpp"

namespace {

// Options for a query without a memory domain: those of the environment.
bool works_here(const uct::component& component) {
    const auto values = ucs::config::source::read({}, {});
    return values.ok() && !component.query(*values).usable.empty();
}

void fill_domains(const uct::component& component, uct_component_attr_t& attr) {
    const bool count_wanted = (attr.field_mask & UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT) != 0;
    const bool list_wanted = (attr.field_mask & UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES) != 0;
    if (!count_wanted && !list_wanted) return;

    // Each component has one domain of the same name.
    const bool any = works_here(component);
    if (count_wanted) attr.md_resource_count = any ? 1 : 0;
    if (list_wanted && any) uct::capi::copy_name(attr.md_resources[0].md_name, component.name());
}

}  // namespace

ucs_status_t uct_query_components(uct_component_h** components_p, unsigned* num_components_p) {
    if (components_p == nullptr || num_components_p == nullptr) return UCS_ERR_INVALID_PARAM;
    const auto components = uct::builtin_components();
    auto* list =
        static_cast<uct_component_h*>(std::calloc(components.size(), sizeof(uct_component_h)));
    if (list == nullptr) return UCS_ERR_NO_MEMORY;
    for (std::size_t i = 0; i < components.size(); ++i)
        list[i] = uct::capi::to_handle(components[i]);
    *components_p = list;
    *num_components_p = static_cast<unsigned>(components.size());
    return UCS_OK;
}

void uct_release_component_list(uct_component_h* components) {
    std::free(components);
}

ucs_status_t uct_component_query(uct_component_h component, uct_component_attr_t* component_attr) {
    if (component == nullptr || component_attr == nullptr) return UCS_ERR_INVALID_PARAM;
    const std::uint64_t mask = component_attr->field_mask;
    const bool list_wanted = (mask & UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES) != 0;
    if (list_wanted && component_attr->md_resources == nullptr) return UCS_ERR_INVALID_PARAM;

    const uct::component& object = uct::capi::from_handle(component);
    if ((mask & UCT_COMPONENT_ATTR_FIELD_NAME) != 0) {
        uct::capi::copy_name(component_attr->name, object.name());
    }
    if ((mask & UCT_COMPONENT_ATTR_FIELD_FLAGS) != 0) component_attr->flags = 0;
    return ucs::boundary(uct::capi_log, "uct_component_query", [&] {
        fill_domains(object, *component_attr);
        return UCS_OK;
    });
}
