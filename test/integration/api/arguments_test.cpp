// Missing and impossible arguments give a status and a log line, and never a crash.
#include <catch2/catch.hpp>

#include "test/integration/api/world.hpp"

using namespace api;

namespace {

// Calls a function that must refuse its arguments, and checks that a log line names it.
template<class Result, class... Parameter>
void check_refused(const char* name, Result (*function)(Parameter...),
                   std::type_identity_t<Parameter>... argument) {
    captured_output log;
    const Result result = function(argument...);
    const std::string text = log.text();
    ucs_status_t status = UCS_OK;
    if constexpr (std::is_same_v<Result, ucs_status_t>) {
        status = result;
    } else {
        status = UCS_PTR_RAW_STATUS(result);
    }
    INFO(name << " -> " << static_cast<int>(status) << ", log: " << text);
    CHECK(status == UCS_ERR_INVALID_PARAM);
    CHECK(text.find(name) != std::string::npos);
}

}  // namespace

TEST_CASE("missing arguments are refused: contexts, configurations, workers") {
    const world in;
    ucp_params_t options = tag_params();
    ucp_context_h context = nullptr;
    check_refused("ucp_init", ucp_init, nullptr, nullptr, &context);
    check_refused("ucp_init", ucp_init, &options, nullptr, nullptr);
    options.features = 0;
    check_refused("ucp_init", ucp_init, &options, nullptr, &context);
    check_refused("ucp_config_read", ucp_config_read, nullptr, nullptr, nullptr);
    check_refused("ucp_config_modify", ucp_config_modify, nullptr, "TLS", "all");
    ucp_config_t* config = nullptr;
    REQUIRE(ucp_config_read(nullptr, nullptr, &config) == UCS_OK);
    check_refused("ucp_config_modify", ucp_config_modify, config, nullptr, "all");
    check_refused("ucp_config_modify", ucp_config_modify, config, "TLS", nullptr);
    ucp_config_print(config, nullptr, nullptr, UCS_CONFIG_PRINT_CONFIG);
    ucp_config_print(nullptr, stdout, nullptr, UCS_CONFIG_PRINT_CONFIG);
    ucp_config_release(config);
    ucp_config_release(nullptr);
    ucp_context_attr_t context_attr{};
    check_refused("ucp_context_query", ucp_context_query, nullptr, &context_attr);
    check_refused("ucp_context_query", ucp_context_query, in.context, nullptr);
    check_refused("ucp_lib_query", ucp_lib_query, nullptr);
    ucp_get_version(nullptr, nullptr, nullptr);
    ucp_context_print_info(nullptr, stdout);
    ucp_context_print_info(in.context, nullptr);
    ucp_cleanup(nullptr);
    ucp_worker_params_t worker_params{};
    ucp_worker_h worker = nullptr;
    check_refused("ucp_worker_create", ucp_worker_create, nullptr, &worker_params, &worker);
    check_refused("ucp_worker_create", ucp_worker_create, in.context, nullptr, &worker);
    check_refused("ucp_worker_create", ucp_worker_create, in.context, &worker_params, nullptr);
    worker_params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    worker_params.thread_mode = UCS_THREAD_MODE_LAST;
    check_refused("ucp_worker_create", ucp_worker_create, in.context, &worker_params, &worker);
    ucp_worker_destroy(nullptr);
    ucp_worker_attr_t attr{};
    check_refused("ucp_worker_query", ucp_worker_query, nullptr, &attr);
    check_refused("ucp_worker_query", ucp_worker_query, in.sender, nullptr);
    ucp_address_t* address = nullptr;
    std::size_t length = 0;
    check_refused("ucp_worker_get_address", ucp_worker_get_address, nullptr, &address, &length);
    check_refused("ucp_worker_get_address", ucp_worker_get_address, in.sender, nullptr, &length);
    check_refused("ucp_worker_get_address", ucp_worker_get_address, in.sender, &address, nullptr);
    ucp_worker_release_address(in.sender, nullptr);
    ucp_worker_address_attr_t address_attr{};
    check_refused("ucp_worker_address_query", ucp_worker_address_query, nullptr, &address_attr);
    ucp_worker_print_info(nullptr, stdout);
    ucp_worker_print_info(in.sender, nullptr);
    CHECK(ucp_worker_progress(nullptr) == 0);
}

TEST_CASE("missing arguments are refused: endpoints and flushes") {
    const world in;
    const auto no_send = [](void*, ucs_status_t) {};
    ucp_ep_params_t options{};
    ucp_ep_h ep = nullptr;
    check_refused("ucp_ep_create", ucp_ep_create, in.sender, &options, &ep);
    options.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    check_refused("ucp_ep_create", ucp_ep_create, in.sender, &options, &ep);
    check_refused("ucp_ep_create", ucp_ep_create, nullptr, &options, &ep);
    check_refused("ucp_ep_create", ucp_ep_create, in.sender, nullptr, &ep);
    check_refused("ucp_ep_create", ucp_ep_create, in.sender, &options, nullptr);
    check_refused("ucp_ep_close_nbx", ucp_ep_close_nbx, nullptr, &none);
    check_refused("ucp_ep_close_nbx", ucp_ep_close_nbx, in.ep, nullptr);
    check_refused("ucp_ep_close", ucp_ep_close_nb, nullptr, 0);
    check_refused("ucp_ep_close", ucp_disconnect_nb, nullptr);
    ucp_ep_destroy(nullptr);
    check_refused("ucp_ep_flush_nbx", ucp_ep_flush_nbx, nullptr, &none);
    check_refused("ucp_ep_flush_nbx", ucp_ep_flush_nbx, in.ep, nullptr);
    check_refused("ucp_ep_flush", ucp_ep_flush_nb, nullptr, 0, no_send);
    check_refused("ucp_ep_flush", ucp_ep_flush, nullptr);
    check_refused("ucp_worker_flush_nbx", ucp_worker_flush_nbx, nullptr, &none);
    check_refused("ucp_worker_flush_nbx", ucp_worker_flush_nbx, in.sender, nullptr);
    check_refused("ucp_worker_flush", ucp_worker_flush_nb, nullptr, 0, no_send);
    check_refused("ucp_worker_flush", ucp_worker_flush, nullptr);
    check_refused("ucp_ep_modify_nb", ucp_ep_modify_nb, nullptr, &options);
    check_refused("ucp_ep_modify_nb", ucp_ep_modify_nb, in.ep, nullptr);
    ucp_ep_print_info(nullptr, stdout);
    ucp_ep_print_info(in.ep, nullptr);
    ucp_ep_attr_t attr{};
    check_refused("ucp_ep_query", ucp_ep_query, nullptr, &attr);
    check_refused("ucp_ep_query", ucp_ep_query, in.ep, nullptr);
    attr.field_mask = UCP_EP_ATTR_FIELD_TRANSPORTS;
    attr.transports.num_entries = 4;
    attr.transports.entry_size = sizeof(ucp_transport_entry_t);
    check_refused("ucp_ep_query", ucp_ep_query, in.ep, &attr);
    ucp_transport_entry_t entries[4];
    attr.transports.entries = entries;
    attr.transports.entry_size = sizeof(void*);
    check_refused("ucp_ep_query", ucp_ep_query, in.ep, &attr);
    ucp_ep_evaluate_perf_param_t perf_param{};
    ucp_ep_evaluate_perf_attr_t perf{};
    check_refused("ucp_ep_evaluate_perf", ucp_ep_evaluate_perf, in.ep, &perf_param, &perf);
}

TEST_CASE("missing arguments are refused: messages and requests") {
    const world in;
    char byte = 0;
    constexpr ucp_datatype_t bytes = ucp_dt_make_contig(1);
    const auto no_recv = [](void*, ucs_status_t, ucp_tag_recv_info_t*) {};
    check_refused("ucp_tag_send_nbx", ucp_tag_send_nbx, nullptr, "x", 1, 1, &none);
    check_refused("ucp_tag_send_nbx", ucp_tag_send_nbx, in.ep, "x", 1, 1, nullptr);
    check_refused("ucp_tag_send_sync_nbx", ucp_tag_send_sync_nbx, nullptr, "x", 1, 1, &none);
    check_refused("ucp_tag_send_sync_nbx", ucp_tag_send_sync_nbx, in.ep, "x", 1, 1, nullptr);
    check_refused("ucp_tag_send", ucp_tag_send_nb, nullptr, "x", 1, bytes, 1, nullptr);
    check_refused("ucp_tag_send", ucp_tag_send_sync_nb, nullptr, "x", 1, bytes, 1, nullptr);
    check_refused("ucp_tag_send", ucp_tag_send_nbr, in.ep, "x", 1, bytes, 1, nullptr);
    check_refused("ucp_tag_recv_nbx", ucp_tag_recv_nbx, nullptr, &byte, 1, 1, all_bits, &none);
    check_refused("ucp_tag_recv_nbx", ucp_tag_recv_nbx, in.receiver, &byte, 1, 1, all_bits,
                  nullptr);
    check_refused("ucp_tag_recv", ucp_tag_recv_nb, nullptr, &byte, 1, bytes, 1, all_bits, no_recv);
    check_refused("ucp_tag_recv", ucp_tag_recv_nbr, in.receiver, &byte, 1, bytes, 1, all_bits,
                  nullptr);
    check_refused("ucp_tag_msg_recv_nbx", ucp_tag_msg_recv_nbx, in.receiver, &byte, 1, nullptr,
                  &none);
    check_refused("ucp_tag_msg_recv", ucp_tag_msg_recv_nb, in.receiver, &byte, 1, bytes, nullptr,
                  no_recv);
    // A missing buffer, an impossible count, pieces without memory.
    check_refused("send", ucp_tag_send_nbx, in.ep, nullptr, 100, 1, &none);
    check_refused("receive", ucp_tag_recv_nbx, in.receiver, nullptr, 100, 1, all_bits, &none);
    const params words = params().type(ucp_dt_make_contig(8));
    check_refused("send", ucp_tag_send_nbx, in.ep, &byte, ~std::size_t{0} / 4, 1, &words);
    const ucp_dt_iov_t holes[] = {{nullptr, 10}, {&byte, 1}};
    const params iov = params().type(UCP_DATATYPE_IOV);
    check_refused("iov", ucp_tag_send_nbx, in.ep, holes, 2, 1, &iov);
    check_refused("iov", ucp_tag_send_nbx, in.ep, nullptr, 2, 1, &iov);
    for (std::uint64_t wrong : std::initializer_list<std::uint64_t>{1, 2 + 8, 3, 4, 5, 6, 7}) {
        const params type = params().type(wrong);
        check_refused("send", ucp_tag_send_nbx, in.ep, &byte, 1, 1, &type);
        ucp_datatype_attr_t attr{UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE, 0, nullptr, 0};
        check_refused("ucp_dt_query", ucp_dt_query, wrong, &attr);
        ucp_dt_destroy(wrong);
    }
    CHECK(ucp_tag_probe_nb(nullptr, 1, all_bits, 0, nullptr) == nullptr);
    in.send("x", 1, 1);
    in.await_unexpected(1);
    CHECK(ucp_tag_probe_nb(in.receiver, 1, all_bits, 0, nullptr) != nullptr);
    in.recv(&byte, 1, 1);

    ucp_request_free(nullptr);
    ucp_request_release(nullptr);
    ucp_request_cancel(in.receiver, nullptr);
    ucp_request_cancel(nullptr, nullptr);
    check_refused("ucp_request_check_status", ucp_request_check_status, nullptr);
    check_refused("ucp_request_test", ucp_request_test, nullptr, nullptr);
    CHECK(ucp_request_is_completed(nullptr) == 1);
    CHECK(ucp_request_alloc(nullptr) == nullptr);
    check_refused("ucp_request_query", ucp_request_query, nullptr, nullptr);
    ucp_request_attr_t attr{};
    void* posted = ucp_tag_recv_nbx(in.receiver, &byte, 1, 1, all_bits, &none);
    check_refused("ucp_request_query", ucp_request_query, posted, nullptr);
    attr.field_mask = UCP_REQUEST_ATTR_FIELD_INFO_STRING;
    check_refused("ucp_request_query", ucp_request_query, posted, &attr);
    ucp_request_cancel(in.receiver, posted);
    CHECK(in.finish(posted) == UCS_ERR_CANCELED);

    ucp_generic_dt_ops_t no_functions{};
    ucp_datatype_t type = 0;
    check_refused("ucp_dt_create_generic", ucp_dt_create_generic, nullptr, nullptr, &type);
    check_refused("ucp_dt_create_generic", ucp_dt_create_generic, &no_functions, nullptr, nullptr);
    REQUIRE(ucp_dt_create_generic(&no_functions, nullptr, &type) == UCS_OK);
    const params generic = params().type(type);
    check_refused("send", ucp_tag_send_nbx, in.ep, &byte, 1, 1, &generic);
    check_refused("receive", ucp_tag_recv_nbx, in.receiver, &byte, 1, 1, all_bits, &generic);
    ucp_dt_destroy(type);
    check_refused("ucp_dt_query", ucp_dt_query, 0, nullptr);
}
