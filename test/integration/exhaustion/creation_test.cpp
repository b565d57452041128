// Memory runs out while objects are created, queried and destroyed.
#include <cstdio>

#include "test/integration/exhaustion/allocations.hpp"
#include "test/integration/exhaustion/context.hpp"

namespace {

using namespace exhaustion;

// The first error of all calls during one life of the objects.
struct life {
    ucs_status_t status = UCS_OK;
    bool did(ucs_status_t result) {
        if (status == UCS_OK) status = result;
        return result == UCS_OK;
    }
};

ucs_status_t read_config(ucp_config_t** config) {
    return ucp_config_read("NO_SUCH_PREFIX", nullptr, config);
}

void configure(life& tested, std::FILE* nowhere) {
    ucp_config_t* config = nullptr;
    if (!tested.did(read_config(&config))) return;
    tested.did(ucp_config_modify(config, "RNDV_THRESH", "100000"));
    ucp_config_print(config, nowhere, "a title that does not fit into the string itself",
                     UCS_CONFIG_PRINT_CONFIG);
    ucp_config_release(config);
}

void ask(life& tested, ucp_worker_h worker, std::FILE* nowhere) {
    ucp_worker_attr_t attr{};
    attr.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_NAME;
    if (!tested.did(ucp_worker_query(worker, &attr))) return;
    ucp_worker_address_attr_t about{};
    about.field_mask = UCP_WORKER_ADDRESS_ATTR_FIELD_UID;
    tested.did(ucp_worker_address_query(attr.address, &about));
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address = attr.address;
    ucp_ep_h ep = nullptr;
    if (tested.did(ucp_ep_create(worker, &params, &ep))) {
        ucp_transport_entry_t entries[4];
        ucp_ep_attr_t of_ep{};
        of_ep.field_mask = UCP_EP_ATTR_FIELD_TRANSPORTS;
        of_ep.transports.entries = entries;
        of_ep.transports.num_entries = 4;
        of_ep.transports.entry_size = sizeof *entries;
        tested.did(ucp_ep_query(ep, &of_ep));
        ucp_ep_print_info(ep, nowhere);
        ucp_request_param_t force{};
        force.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
        force.flags = UCP_EP_CLOSE_FLAG_FORCE;
        ucp_ep_close_nbx(ep, &force);
    }
    void* request = ucp_request_alloc(worker);
    tested.did(request != nullptr ? UCS_OK : UCS_ERR_NO_MEMORY);
    ucp_request_free(request);
    ucp_worker_print_info(worker, nowhere);
    ucp_worker_release_address(worker, attr.address);
}

void create_worker(life& tested, ucp_context_h context, std::FILE* nowhere) {
    ucp_worker_params_t params{};
    ucp_worker_h worker = nullptr;
    if (!tested.did(ucp_worker_create(context, &params, &worker))) return;
    ask(tested, worker, nowhere);
    ucp_worker_destroy(worker);
}

void create_context(life& tested, std::FILE* nowhere) {
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_TAG;
    ucp_context_h context = nullptr;
    if (!tested.did(ucp_init(&params, nullptr, &context))) return;
    ucp_context_print_info(context, nowhere);
    ucp_cleanup(context);
}

// Runs `one` repeatedly, each time with a later failing allocation.
template<class One>
void check(One one) {
    log_file::instance();
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> nowhere(std::fopen("/dev/null", "w"),
                                                                  std::fclose);
    for (const failing fails : {failing::once, failing::from_then_on}) {
        for (std::size_t nth = ~std::size_t{0};; ++nth) {
            log_file::instance().clear();
            const std::size_t before = exhaustion::live();
            const int next = exhaustion::next_descriptor();
            life tested;
            exhaustion::arm(fails, nth);
            one(tested, nowhere.get());
            const std::size_t allocations = exhaustion::disarm();
            const std::size_t leaked = exhaustion::live() - before;
            INFO("allocation " << nth << (fails == failing::once ? " fails" : " and all later fail")
                               << ", log:\n"
                               << log_file::instance().text());
            const bool known = tested.status == UCS_OK || tested.status == UCS_ERR_NO_MEMORY;
            CHECK(known);
            if (tested.status != UCS_OK) CHECK_FALSE(log_file::instance().empty());
            if (nth == ~std::size_t{0}) {  // creates the objects that a process creates once
                nth = 0;
                continue;
            }
            CHECK(leaked == 0);
            CHECK(exhaustion::next_descriptor() == next);
            if (allocations < nth) break;
        }
    }
}

}  // namespace

TEST_CASE("configurations without memory are refused") {
    check(configure);
}

TEST_CASE("contexts without memory are refused") {
    check(create_context);
}

TEST_CASE("workers without memory are refused, and their queries return no wrong values") {
    const owned_context context = make_context(UCP_FEATURE_TAG);
    check([&](life& tested, std::FILE* nowhere) { create_worker(tested, context.get(), nowhere); });
}
