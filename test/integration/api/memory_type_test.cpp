// Buffers in memory that the library cannot access. Each call refuses them.

#include "test/integration/api/memory.hpp"

using namespace api;

namespace {

constexpr int device_types[] = {UCS_MEMORY_TYPE_CUDA,      UCS_MEMORY_TYPE_CUDA_MANAGED,
                                UCS_MEMORY_TYPE_ROCM,      UCS_MEMORY_TYPE_ROCM_MANAGED,
                                UCS_MEMORY_TYPE_ZE_DEVICE, UCS_MEMORY_TYPE_ZE_MANAGED};

params in_memory(ucs_memory_type_t type) {
    params given;
    given.memory_type = type;
    given.flag(UCP_OP_ATTR_FIELD_MEMORY_TYPE);
    return given;
}

// Runs the call with each type that must be refused, and checks that a log line names the call.
template<class Call>
void check_refuses_devices(const std::string& name, Call&& call) {
    for (const int number : device_types) {
        const auto type = static_cast<ucs_memory_type_t>(number);
        captured_output log;
        const ucs_status_ptr_t result = call(in_memory(type));
        const std::string text = log.text();
        INFO(name << " with type " << number << ", log: " << text);
        CHECK(UCS_PTR_RAW_STATUS(result) == UCS_ERR_UNSUPPORTED);
        CHECK(text.find(name) != std::string::npos);
        CHECK(text.find("memory of type " + std::to_string(number)) != std::string::npos);
    }
}

world_options all_features() {
    world_options all;
    all.features = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM | UCP_FEATURE_RMA |
                   UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64;
    return all;
}

}  // namespace

TEST_CASE("messages in memory of a device are refused") {
    const world in(all_features());
    char byte = 0;
    std::size_t length = 0;
    check_refuses_devices("ucp_tag_send_nbx", [&](const params& p) {
        return ucp_tag_send_nbx(in.ep, &byte, 1, 1, &p);
    });
    check_refuses_devices("ucp_tag_send_sync_nbx", [&](const params& p) {
        return ucp_tag_send_sync_nbx(in.ep, &byte, 1, 1, &p);
    });
    check_refuses_devices("ucp_tag_recv_nbx", [&](const params& p) {
        return ucp_tag_recv_nbx(in.receiver, &byte, 1, 1, 1, &p);
    });
    check_refuses_devices("ucp_am_send_nbx", [&](const params& p) {
        return ucp_am_send_nbx(in.ep, 1, nullptr, 0, &byte, 1, &p);
    });
    check_refuses_devices("ucp_stream_send_nbx", [&](const params& p) {
        return ucp_stream_send_nbx(in.ep, &byte, 1, &p);
    });
    check_refuses_devices("ucp_stream_recv_nbx", [&](const params& p) {
        return ucp_stream_recv_nbx(in.ep, &byte, 1, &length, &p);
    });
}

TEST_CASE(
    "a probed message is not received into memory of a device, and can be received afterwards") {
    const world in(all_features());
    char sent = 'x';
    const ucs_status_ptr_t sending = ucp_tag_send_nbx(in.ep, &sent, 1, 7, &none);
    in.await_unexpected(7);
    ucp_tag_recv_info_t info{};
    const ucp_tag_message_h message = ucp_tag_probe_nb(in.receiver, 7, all_bits, 1, &info);
    REQUIRE(message != nullptr);
    char received = 0;
    check_refuses_devices("ucp_tag_msg_recv_nbx", [&](const params& p) {
        return ucp_tag_msg_recv_nbx(in.receiver, &received, 1, message, &p);
    });
    CHECK(in.finish(ucp_tag_msg_recv_nbx(in.receiver, &received, 1, message, &none)) == UCS_OK);
    CHECK(received == 'x');
    CHECK(in.finish(sending) == UCS_OK);
}

TEST_CASE(
    "an active message is not received into memory of a device, and can be received afterwards") {
    const world in(all_features());
    struct descriptor {
        void* data = nullptr;
        std::size_t length = 0;
    } arrived;
    const auto keep = [](void* arg, const void*, std::size_t, void* data, std::size_t length,
                         const ucp_am_recv_param_t*) {
        *static_cast<descriptor*>(arg) = {data, length};
        return UCS_INPROGRESS;
    };
    set_am_handler(in.receiver, 3, keep, &arrived);
    const auto sent = pattern(1000, 5);
    const params rendezvous = params().flags_of_call(UCP_AM_SEND_FLAG_RNDV);
    const ucs_status_ptr_t sending =
        ucp_am_send_nbx(in.ep, 3, nullptr, 0, sent.data(), sent.size(), &rendezvous);
    REQUIRE(in.progress_until([&] { return arrived.data != nullptr; }));
    std::vector<std::byte> received(sent.size());
    check_refuses_devices("ucp_am_recv_data_nbx", [&](const params& p) {
        return ucp_am_recv_data_nbx(in.receiver, arrived.data, received.data(), received.size(),
                                    &p);
    });
    CHECK(in.finish(ucp_am_recv_data_nbx(in.receiver, arrived.data, received.data(),
                                         received.size(), &none)) == UCS_OK);
    CHECK(received == sent);
    CHECK(in.finish(sending) == UCS_OK);
}

TEST_CASE("remote memory is not accessed from memory of a device") {
    const world in(all_features());
    std::uint64_t target = 0;
    std::uint64_t own = 1;
    std::uint64_t reply = 0;
    const auto address = reinterpret_cast<std::uint64_t>(&target);
    const registered memory(in.context, &target, sizeof target);
    const packed_rkey packed(in.context, memory);
    const unpacked_rkey key(in.ep, packed);
    check_refuses_devices("ucp_put_nbx", [&](const params& p) {
        return ucp_put_nbx(in.ep, &own, sizeof own, address, key, &p);
    });
    check_refuses_devices("ucp_get_nbx", [&](const params& p) {
        return ucp_get_nbx(in.ep, &own, sizeof own, address, key, &p);
    });
    check_refuses_devices("ucp_atomic_op_nbx", [&](params p) {
        p.type(ucp_dt_make_contig(8));
        p.reply_buffer = &reply;
        p.flag(UCP_OP_ATTR_FIELD_REPLY_BUFFER);
        return ucp_atomic_op_nbx(in.ep, UCP_ATOMIC_OP_ADD, &own, 1, address, key, &p);
    });
    CHECK(target == 0);
}

TEST_CASE("memory of a device is not mapped") {
    const world in(all_features());
    char byte = 0;
    check_refuses_devices("ucp_mem_map", [&](const params& p) {
        ucp_mem_map_params_t map{};
        map.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                         UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE;
        map.address = &byte;
        map.length = 1;
        map.memory_type = p.memory_type;
        ucp_mem_h memory = nullptr;
        return UCS_STATUS_PTR(ucp_mem_map(in.context, &map, &memory));
    });
}

TEST_CASE(
    "memory of the host is accepted, with each number that a version has for the unknown type") {
    const world in(all_features());
    for (const int number : {0, 5, 6, 9, 10}) {
        CAPTURE(number);
        const params given = in_memory(static_cast<ucs_memory_type_t>(number));
        char sent = 'y';
        char received = 0;
        const ucs_status_ptr_t receiving =
            ucp_tag_recv_nbx(in.receiver, &received, 1, 9, all_bits, &given);
        CHECK(in.finish(ucp_tag_send_nbx(in.ep, &sent, 1, 9, &given)) == UCS_OK);
        CHECK(in.finish(receiving) == UCS_OK);
        CHECK(received == 'y');
    }
}

TEST_CASE("operations without a buffer ignore the memory type") {
    const world in(all_features());
    const params given = in_memory(UCS_MEMORY_TYPE_CUDA);
    CHECK(in.finish(ucp_ep_flush_nbx(in.ep, &given)) == UCS_OK);
    CHECK(in.finish(ucp_worker_flush_nbx(in.sender, &given)) == UCS_OK);
}
