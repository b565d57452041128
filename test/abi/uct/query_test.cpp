// libuct.so.0 through its C interface: query of transports, as programs do it.
#include <uct/api/uct.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

namespace {

std::vector<uct_component_h> all_components() {
    uct_component_h* list = nullptr;
    unsigned count = 0;
    REQUIRE(uct_query_components(&list, &count) == UCS_OK);
    std::vector<uct_component_h> found(list, list + count);
    uct_release_component_list(list);
    return found;
}

std::string name_of(uct_component_h component) {
    uct_component_attr_t attr{};
    attr.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME;
    REQUIRE(uct_component_query(component, &attr) == UCS_OK);
    return attr.name;
}

uct_component_h component_named(const std::string& name) {
    for (uct_component_h component : all_components()) {
        if (name_of(component) == name) return component;
    }
    FAIL("no component " << name);
    return nullptr;
}

}  // namespace

TEST_CASE("every component has a name of its own") {
    std::vector<std::string> names;
    for (uct_component_h component : all_components()) {
        names.push_back(name_of(component));
        CHECK_FALSE(names.back().empty());
        CHECK(std::count(names.begin(), names.end(), names.back()) == 1);
    }
    CHECK(std::count(names.begin(), names.end(), "self") == 1);
}

TEST_CASE("only the wanted members of an attribute are written") {
    uct_component_attr_t attr;
    std::memset(&attr, 0x5a, sizeof(attr));
    attr.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT;
    REQUIRE(uct_component_query(component_named("self"), &attr) == UCS_OK);
    CHECK(attr.md_resource_count == 1);
    CHECK(attr.name[0] == 0x5a);
    CHECK(attr.flags == 0x5a5a5a5a5a5a5a5aULL);
}

TEST_CASE("the transport to the own process is found by component, domain and resource") {
    uct_component_h component = component_named("self");
    uct_md_resource_desc_t domain{};
    uct_component_attr_t attr{};
    attr.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
    attr.md_resources = &domain;
    REQUIRE(uct_component_query(component, &attr) == UCS_OK);

    uct_md_config_t* config = nullptr;
    REQUIRE(uct_md_config_read(component, nullptr, nullptr, &config) == UCS_OK);
    uct_md_h md = nullptr;
    REQUIRE(uct_md_open(component, domain.md_name, config, &md) == UCS_OK);
    uct_config_release(config);

    uct_tl_resource_desc_t* resources = nullptr;
    unsigned count = 0;
    REQUIRE(uct_md_query_tl_resources(md, &resources, &count) == UCS_OK);
    REQUIRE(count == 1);
    CHECK(std::string(resources[0].tl_name) == "self");
    CHECK(resources[0].dev_type == UCT_DEVICE_TYPE_SELF);
    CHECK(resources[0].sys_device == UCS_SYS_DEVICE_ID_UNKNOWN);
    uct_release_tl_resource_list(resources);
    uct_md_close(md);
}

TEST_CASE("wrong arguments of libuct are refused") {
    uct_component_h component = component_named("self");
    uct_component_attr_t attr{};
    attr.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
    CHECK(uct_component_query(component, &attr) == UCS_ERR_INVALID_PARAM);
    CHECK(uct_component_query(component, nullptr) == UCS_ERR_INVALID_PARAM);
    CHECK(uct_query_components(nullptr, nullptr) == UCS_ERR_INVALID_PARAM);

    uct_md_config_t* config = nullptr;
    REQUIRE(uct_md_config_read(component, nullptr, nullptr, &config) == UCS_OK);
    uct_md_h md = nullptr;
    CHECK(uct_md_open(component, "no such domain", config, &md) == UCS_ERR_NO_DEVICE);
    CHECK(uct_md_open(component, "self", nullptr, &md) == UCS_ERR_INVALID_PARAM);
    uct_config_release(config);
    CHECK(uct_md_config_read(component, nullptr, "/no/such/file", &config) != UCS_OK);
}

TEST_CASE("communication functions of libuct return that they are not supported") {
    uct_worker_h worker = nullptr;
    CHECK(uct_worker_create(nullptr, UCS_THREAD_MODE_SINGLE, &worker) == UCS_ERR_UNSUPPORTED);
    CHECK(worker == nullptr);
    CHECK(uct_md_query(nullptr, nullptr) == UCS_ERR_UNSUPPORTED);
    CHECK(uct_md_mem_reg(nullptr, nullptr, 0, 0, nullptr) == UCS_ERR_UNSUPPORTED);
    CHECK(uct_md_mem_dereg(nullptr, nullptr) == UCS_ERR_UNSUPPORTED);
    CHECK(uct_md_mkey_pack(nullptr, nullptr, nullptr) == UCS_ERR_UNSUPPORTED);
    CHECK(uct_rkey_unpack(nullptr, nullptr, nullptr) == UCS_ERR_UNSUPPORTED);
    CHECK(uct_rkey_release(nullptr, nullptr) == UCS_ERR_UNSUPPORTED);
    CHECK(uct_md_iface_config_read(nullptr, "tcp", nullptr, nullptr, nullptr) ==
          UCS_ERR_UNSUPPORTED);
    CHECK(uct_iface_open(nullptr, nullptr, nullptr, nullptr, nullptr) == UCS_ERR_UNSUPPORTED);
    CHECK(uct_iface_query(nullptr, nullptr) == UCS_ERR_UNSUPPORTED);
    CHECK(uct_iface_get_device_address(nullptr, nullptr) == UCS_ERR_UNSUPPORTED);
    CHECK(uct_iface_get_address(nullptr, nullptr) == UCS_ERR_UNSUPPORTED);
    CHECK(uct_iface_set_am_handler(nullptr, 0, nullptr, nullptr, 0) == UCS_ERR_UNSUPPORTED);
    uct_ep_h ep = nullptr;
    CHECK(uct_ep_create(nullptr, &ep) == UCS_ERR_UNSUPPORTED);
    CHECK(ep == nullptr);
    CHECK(uct_ep_get_address(nullptr, nullptr) == UCS_ERR_UNSUPPORTED);
    CHECK(uct_ep_connect_to_ep(nullptr, nullptr, nullptr) == UCS_ERR_UNSUPPORTED);
    uct_ep_destroy(ep);
    uct_iface_close(nullptr);
    uct_worker_destroy(worker);
}
