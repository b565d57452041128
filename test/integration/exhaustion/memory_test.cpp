// Memory runs out while memory is being mapped.
#include <catch2/catch.hpp>
#include <fstream>

#include "test/integration/exhaustion/allocations.hpp"
#include "test/integration/exhaustion/log_file.hpp"

namespace {

using namespace exhaustion;

// Number of mappings of blocks in this process.
unsigned mapped_blocks() {
    std::ifstream maps("/proc/self/maps");
    unsigned count = 0;
    for (std::string line; std::getline(maps, line);)
        count += line.find("hawser-memory-") != std::string::npos ? 1U : 0U;
    return count;
}

ucp_context_h make_context() {
    log_file::instance();
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_RMA;
    ucp_context_h context = nullptr;
    REQUIRE(ucp_init(&params, nullptr, &context) == UCS_OK);
    return context;
}

}  // namespace

TEST_CASE("memory that could not be registered is not mapped either") {
    const ucp_context_h context = make_context();
    ucp_mem_map_params_t params{};
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    params.length = 10000;
    params.flags = UCP_MEM_MAP_ALLOCATE;
    const unsigned before = mapped_blocks();
    bool struck = true;
    for (std::size_t nth = 1; struck; ++nth) {
        CAPTURE(nth);
        ucp_mem_h memory = nullptr;
        exhaustion::arm(failing::once, nth);
        const ucs_status_t status = ucp_mem_map(context, &params, &memory);
        struck = exhaustion::struck();
        exhaustion::disarm();
        if (status == UCS_OK) {
            CHECK(ucp_mem_unmap(context, memory) == UCS_OK);
        } else {
            CHECK(status == UCS_ERR_NO_MEMORY);
        }
        CHECK(mapped_blocks() == before);
    }
    ucp_cleanup(context);
}
