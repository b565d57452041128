// Memory runs out while memory is being mapped.
#include <fstream>

#include "test/integration/exhaustion/allocations.hpp"
#include "test/integration/exhaustion/context.hpp"

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

}  // namespace

TEST_CASE("memory that could not be registered is not mapped either") {
    const owned_context context = make_context(UCP_FEATURE_RMA);
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
        const ucs_status_t status = ucp_mem_map(context.get(), &params, &memory);
        struck = exhaustion::struck();
        exhaustion::disarm();
        if (status == UCS_OK) {
            CHECK(ucp_mem_unmap(context.get(), memory) == UCS_OK);
        } else {
            CHECK(status == UCS_ERR_NO_MEMORY);
        }
        CHECK(mapped_blocks() == before);
    }
}
