// ucp_config_*: options that programs set, print and parse.
#include <catch2/catch.hpp>
#include <cstring>
#include <map>

#include "test/integration/api/world.hpp"
#include "test/support/environment.hpp"
#include "test/support/temp_dir.hpp"

using namespace api;

namespace {

class config {
public:
    explicit config(const char* prefix = nullptr, const char* file = nullptr) {
        REQUIRE(ucp_config_read(prefix, file, &handle_) == UCS_OK);
    }
    ~config() { ucp_config_release(handle_); }
    config(const config&) = delete;
    config& operator=(const config&) = delete;

    ucs_status_t set(const char* name, const char* value) {
        return ucp_config_modify(handle_, name, value);
    }
    [[nodiscard]] std::string print(int flags = UCS_CONFIG_PRINT_CONFIG) const {
        return printed([&](FILE* to) {
            ucp_config_print(handle_, to, "title", static_cast<ucs_config_print_flags_t>(flags));
        });
    }
    // Parses the text like ucxx and ucx-py: removes four characters, and splits at the first '='.
    [[nodiscard]] std::map<std::string, std::string> values() const {
        std::map<std::string, std::string> all;
        std::istringstream text(print());
        for (std::string line; std::getline(text, line);) {
            INFO(line);
            const std::size_t equals = line.find('=');
            REQUIRE(line.rfind("UCX_", 0) == 0);
            REQUIRE(equals != std::string::npos);
            all[line.substr(4, equals - 4)] = line.substr(equals + 1);
        }
        return all;
    }

private:
    ucp_config_t* handle_ = nullptr;
};

}  // namespace

TEST_CASE("the printed configuration consists of UCX_NAME=value lines") {
    const auto values = config().values();
    CHECK(values.size() >= 10);
    for (const char* name :
         {"TLS", "NET_DEVICES", "RNDV_THRESH", "RNDV_SCHEME", "ZCOPY_THRESH", "LOG_LEVEL"})
        CHECK(values.count(name) == 1);
}

TEST_CASE("a modified value is printed, and the flags select the other output") {
    config some;
    CHECK(some.set("RNDV_THRESH", "12345") == UCS_OK);
    CHECK(some.values()["RNDV_THRESH"] == "12345");
    CHECK(some.print(UCS_CONFIG_PRINT_HEADER).find("title") != std::string::npos);
    CHECK(some.print(UCS_CONFIG_PRINT_HEADER).find("UCX_TLS=") == std::string::npos);
    CHECK(some.print().find("title") == std::string::npos);
    const std::string documented = some.print(UCS_CONFIG_PRINT_CONFIG | UCS_CONFIG_PRINT_DOC);
    CHECK(documented.find("\n# ") != std::string::npos);
}

TEST_CASE("invalid values are refused with a log line that names them") {
    config some;
    captured_output log;
    const ucs_status_t malformed = some.set("RNDV_THRESH", "many");
    const ucs_status_t scheme = some.set("RNDV_SCHEME", "carrier_pigeon");
    const std::string text = log.text();
    INFO(text);
    CHECK(malformed == UCS_ERR_INVALID_PARAM);
    CHECK(scheme == UCS_ERR_INVALID_PARAM);
    CHECK(text.find("many") != std::string::npos);
    CHECK(text.find("get_zcopy") != std::string::npos);
    CHECK(some.values()["RNDV_SCHEME"] == config().values()["RNDV_SCHEME"]);
}

TEST_CASE("an unknown name is kept, with one log line that names the nearest option") {
    config some;
    captured_output log;
    const ucs_status_t first = some.set("RNDV_TRESH", "1");
    const ucs_status_t second = some.set("RNDV_TRESH", "2");
    const std::string text = log.text();
    INFO(text);
    CHECK(first == UCS_OK);
    CHECK(second == UCS_OK);
    const std::size_t line = text.find("UCX_RNDV_TRESH is not an option");
    REQUIRE(line != std::string::npos);
    CHECK(text.find("did you mean UCX_RNDV_THRESH?", line) != std::string::npos);
    CHECK(text.find("UCX_RNDV_TRESH is not an option", line + 1) == std::string::npos);
}

TEST_CASE("names that programs set for missing transports are accepted") {
    config some;
    for (const char* name :
         {"NET_DEVICES", "RNDV_THRESH", "IB_PCI_RELAXED_ORDERING", "RC_FENCE",
          "RC_GDA_NUM_CHANNELS", "MAX_HCA_PER_GPU", "RNDV_PIPELINE_ERROR_HANDLING",
          "ADDRESS_VERSION", "MAX_COMPONENT_MDS", "MEMTYPE_COPY_ENABLE", "TLS",
          "MEMTYPE_REG_WHOLE_ALLOC_TYPES", "ZCOPY_THRESH"}) {
        CAPTURE(name);
        const bool size = std::strstr(name, "THRESH") != nullptr;
        CHECK(some.set(name, size ? "8k" : "all") == UCS_OK);
    }
}

TEST_CASE("variables with a prefix override the common variables") {
    const test::env common("UCX_RNDV_THRESH", "1000");
    const test::env prefixed("MPI_UCX_RNDV_THRESH", "2000");
    CHECK(config().values()["RNDV_THRESH"] == "1000");
    CHECK(config("MPI").values()["RNDV_THRESH"] == "2000");
    CHECK(config("OTHER").values()["RNDV_THRESH"] == "1000");
}

TEST_CASE(
    "ucx.conf is read from UCX_CONFIG_DIR and from the file argument; variables override it") {
    const test::temp_dir folder;
    folder.write("ucx.conf", "# a comment\nUCX_RNDV_THRESH=3000\nUCX_ZCOPY_THRESH=777\n");
    const std::string other = folder.write("other.conf", "UCX_RNDV_THRESH=4000\n");
    const test::env unset("UCX_RNDV_THRESH", nullptr);
    {
        const test::env dir("UCX_CONFIG_DIR", folder.path().c_str());
        CHECK(config().values()["RNDV_THRESH"] == "3000");
        CHECK(config().values()["ZCOPY_THRESH"] == "777");
        const test::env variable("UCX_RNDV_THRESH", "5000");
        CHECK(config().values()["RNDV_THRESH"] == "5000");
    }
    CHECK(config(nullptr, other.c_str()).values()["RNDV_THRESH"] == "4000");
}

TEST_CASE("a missing named file and an invalid variable are errors") {
    ucp_config_t* some = nullptr;
    captured_output log;
    const ucs_status_t missing = ucp_config_read(nullptr, "/nowhere/ucx.conf", &some);
    const test::env wrong("UCX_RNDV_THRESH", "lots");
    const ucs_status_t malformed = ucp_config_read(nullptr, nullptr, &some);
    const ucp_params_t options = tag_params();
    ucp_context_h context = nullptr;
    const ucs_status_t no_context = ucp_init(&options, nullptr, &context);
    const std::string text = log.text();
    INFO(text);
    CHECK(UCS_STATUS_IS_ERR(missing));
    CHECK(malformed == UCS_ERR_INVALID_PARAM);
    CHECK(no_context == UCS_ERR_INVALID_PARAM);
    CHECK(some == nullptr);
    CHECK(context == nullptr);
    CHECK(text.find("/nowhere/ucx.conf") != std::string::npos);
    CHECK(text.find("UCX_RNDV_THRESH") != std::string::npos);
    CHECK(text.find("lots") != std::string::npos);
}

TEST_CASE("unknown transports leave no usable device, and the log gives the reason") {
    config some;
    REQUIRE(some.set("TLS", "pigeon") == UCS_OK);
    ucp_config_t* handle = nullptr;
    const test::env wrong("UCX_TLS", "pigeon");
    REQUIRE(ucp_config_read(nullptr, nullptr, &handle) == UCS_OK);
    const ucp_params_t options = tag_params();
    ucp_context_h context = nullptr;
    captured_output log;
    const ucs_status_t status = ucp_init(&options, handle, &context);
    const std::string text = log.text();
    ucp_config_release(handle);
    INFO(text);
    CHECK(status == UCS_ERR_NO_DEVICE);
    CHECK(context == nullptr);
    CHECK(text.find("pigeon") != std::string::npos);
}
