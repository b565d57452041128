// Properties of request handles and return values on which programs rely.
#include <catch2/catch.hpp>
#include <cstring>
#include <set>

#include "test/integration/api/world.hpp"

using namespace api;

namespace {

constexpr std::size_t large = 1 << 20;

struct area {
    std::uint64_t magic;
    char rest[56];
};

std::set<void*> made;
int made_twice = 0;
std::size_t cleaned = 0;

void init_area(void* request) {
    if (!made.insert(request).second) ++made_twice;
    static_cast<area*>(request)->magic = 0x1234;
    std::memset(static_cast<area*>(request)->rest, 7, sizeof area::rest);
}

void cleanup_area(void*) {
    ++cleaned;
}

world_options with_area() {
    made.clear();
    made_twice = 0;
    cleaned = 0;
    world_options options;
    options.request_size = sizeof(area);
    options.init = init_area;
    options.cleanup = cleanup_area;
    return options;
}

ucs_status_ptr_t post(const world& in, void* data, std::size_t length, ucp_tag_t tag,
                      const params& options) {
    return ucp_tag_recv_nbx(in.receiver, data, length, tag, all_bits, &options);
}

}  // namespace

TEST_CASE("a request handle points at the user's area, which was initialised") {
    world in(with_area());
    char byte = 0;
    void* request = post(in, &byte, 1, 1, params());
    REQUIRE(UCS_PTR_IS_PTR(request));
    CHECK(made.count(request) == 1);
    CHECK(static_cast<area*>(request)->magic == 0x1234);
    ucp_request_cancel(in.receiver, request);
    CHECK(in.finish(request) == UCS_ERR_CANCELED);
}

TEST_CASE("the size of the library's part is small and a multiple of the alignment") {
    const world in;
    CHECK(request_bytes(in.context) >= 64);
    CHECK(request_bytes(in.context) <= 280);
    CHECK(request_bytes(in.context) % 16 == 0);
}

TEST_CASE("the user's area is initialised once, cleaned up once, and survives reuse") {
    world in(with_area());
    char data = 1;
    void* first = post(in, &data, 1, 1, params());
    REQUIRE(UCS_PTR_IS_PTR(first));
    std::memset(static_cast<area*>(first)->rest, 42, sizeof area::rest);
    in.send("x", 1, 1);
    CHECK(in.finish(first) == UCS_OK);
    const std::size_t count = made.size();
    bool seen = false;
    for (int i = 0; i < 2000; ++i) {
        void* request = post(in, &data, 1, 1, params());
        REQUIRE(UCS_PTR_IS_PTR(request));
        if (request == first) {
            seen = true;
            area wanted{0x1234, {}};
            std::memset(wanted.rest, 42, sizeof wanted.rest);
            REQUIRE(std::memcmp(request, &wanted, sizeof wanted) == 0);
        }
        in.send("x", 1, 1);
        REQUIRE(in.finish(request) == UCS_OK);
    }
    CHECK(seen);
    CHECK(made.size() == count);
    CHECK(made_twice == 0);
    in.destroy();
    CHECK(cleaned == made.size());
}

TEST_CASE("an operation that completes immediately returns NULL and calls no callback") {
    world in;
    outcome sent, got;
    const char text[] = "hello";
    const params send = params().on_send(sent);
    REQUIRE(ucp_tag_send_nbx(in.ep, text, sizeof text, 5, &send) == nullptr);
    in.await_unexpected(5);
    char into[sizeof text] = {};
    ucp_tag_recv_info_t info{};
    const params recv = params().on_recv(got).info_to(info);
    REQUIRE(post(in, into, sizeof into, 5, recv) == nullptr);
    in.progress();
    CHECK(sent.calls == 0);
    CHECK(got.calls == 0);
    CHECK(info.length == sizeof text);
    CHECK(info.sender_tag == 5);
    CHECK(std::strcmp(into, text) == 0);
}

TEST_CASE("an operation that fails immediately returns the error and calls no callback") {
    world in;
    outcome sent, got;
    char byte = 0;
    const ucp_datatype_t impossible = 1;  // the strided class does not exist
    captured_output quiet;
    const params send = params().on_send(sent).type(impossible);
    const ucs_status_ptr_t no_send = ucp_tag_send_nbx(in.ep, &byte, 1, 5, &send);
    const params recv = params().on_recv(got).type(impossible);
    const ucs_status_ptr_t no_recv = post(in, &byte, 1, 5, recv);
    const std::string text = quiet.text();
    INFO(text);
    CHECK(UCS_PTR_RAW_STATUS(no_send) == UCS_ERR_INVALID_PARAM);
    CHECK(UCS_PTR_RAW_STATUS(no_recv) == UCS_ERR_INVALID_PARAM);
    CHECK(text.find("datatype") != std::string::npos);
    in.progress_often(100);
    CHECK(sent.calls == 0);
    CHECK(got.calls == 0);
}

TEST_CASE("an operation in flight returns its handle and calls its callback once with it") {
    world in;
    outcome sent, got;
    const auto data = pattern(large, 1);
    std::vector<std::byte> into(large);
    const params recv = params().on_recv(got);
    void* receiving = post(in, into.data(), large, 6, recv);
    REQUIRE(UCS_PTR_IS_PTR(receiving));
    CHECK(ucp_request_check_status(receiving) == UCS_INPROGRESS);
    CHECK(ucp_request_is_completed(receiving) == 0);
    const params send = params().on_send(sent);
    void* sending = ucp_tag_send_sync_nbx(in.ep, data.data(), large, 6, &send);
    REQUIRE(UCS_PTR_IS_PTR(sending));
    REQUIRE(in.progress_until([&] { return sent.calls > 0 && got.calls > 0; }));
    in.progress();
    CHECK(sent.calls == 1);
    CHECK(got.calls == 1);
    CHECK(sent.handle == sending);
    CHECK(got.handle == receiving);
    CHECK(got.info.length == large);
    CHECK(into == data);
    CHECK(ucp_request_is_completed(receiving) == 1);
    ucp_tag_recv_info_t info{};
    CHECK(ucp_request_test(receiving, &info) == UCS_OK);
    CHECK(info.length == large);
    CHECK(ucp_tag_recv_request_test(receiving, &info) == UCS_OK);
    CHECK(ucp_request_test(sending, nullptr) == UCS_OK);
    ucp_request_free(sending);
    ucp_request_free(receiving);
}

TEST_CASE("with NO_IMM_CMPL the callback runs inside the call, with the handle it returns") {
    world in;
    outcome sent, got;
    const params send = params().on_send(sent).flag(UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    void* sending = ucp_tag_send_nbx(in.ep, "x", 1, 7, &send);
    REQUIRE(UCS_PTR_IS_PTR(sending));
    if (ucp_request_check_status(sending) == UCS_OK) CHECK(sent.calls == 1);
    REQUIRE(in.progress_until([&] { return sent.calls == 1; }));
    CHECK(sent.handle == sending);
    ucp_request_free(sending);

    in.await_unexpected(7);
    char byte = 0;
    const params recv = params().on_recv(got).flag(UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    void* receiving = post(in, &byte, 1, 7, recv);
    REQUIRE(UCS_PTR_IS_PTR(receiving));
    CHECK(got.calls == 1);
    CHECK(got.handle == receiving);
    CHECK(got.status == UCS_OK);
    CHECK(got.info.length == 1);
    CHECK(byte == 'x');
    ucp_request_free(receiving);
}

TEST_CASE("FORCE_IMM_CMPL: a receive completes immediately or has no effect") {
    world in;
    outcome got;
    char byte = 0;
    const params recv = params().on_recv(got).flag(UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL);
    CHECK(UCS_PTR_RAW_STATUS(post(in, &byte, 1, 8, recv)) == UCS_ERR_NO_RESOURCE);
    in.send("x", 1, 8);
    in.await_unexpected(8);  // it has not been received
    CHECK(byte == 0);
    CHECK(post(in, &byte, 1, 8, recv) == nullptr);
    CHECK(byte == 'x');
    CHECK(got.calls == 0);
}

TEST_CASE("FORCE_IMM_CMPL: a message is sent immediately or the call has no effect") {
    world in;
    outcome sent;
    const params send = params().on_send(sent).flag(UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL);
    CHECK(ucp_tag_send_nbx(in.ep, "x", 1, 9, &send) == nullptr);
    char byte = 0;
    in.recv(&byte, 1, 9);
    CHECK(byte == 'x');
    const std::vector<std::byte> data(large);
    const auto refused = ucp_tag_send_sync_nbx(in.ep, data.data(), large, 9, &send);
    CHECK(UCS_PTR_RAW_STATUS(refused) == UCS_ERR_NO_RESOURCE);
    const auto also_refused = ucp_tag_send_nbx(in.ep, data.data(), large, 9, &send);
    CHECK(UCS_PTR_RAW_STATUS(also_refused) == UCS_ERR_NO_RESOURCE);
    // A refused message would have arrived before this one.
    in.send("y", 1, 10);
    in.await_unexpected(10);
    ucp_tag_recv_info_t info{};
    CHECK(ucp_tag_probe_nb(in.receiver, 9, all_bits, 0, &info) == nullptr);
    in.recv(&byte, 1, 10);
    CHECK(sent.calls == 0);
}

TEST_CASE("a refused send makes a new endpoint connect, so that a retry succeeds") {
    world_options options;
    options.connect = false;
    world in(options);
    const params send = params().flag(UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL);
    ucs_status_ptr_t result = nullptr;
    REQUIRE(in.progress_until([&] {
        result = ucp_tag_send_nbx(in.ep, "x", 1, 9, &send);
        return UCS_PTR_RAW_STATUS(result) != UCS_ERR_NO_RESOURCE;
    }));
    CHECK(result == nullptr);
    char byte = 0;
    in.recv(&byte, 1, 9);
}

TEST_CASE("freeing a running receive suppresses its callback, releasing it does not") {
    const std::size_t length = GENERATE(as<std::size_t>(), 1, 1 << 20);
    const bool keep = GENERATE(false, true);
    CAPTURE(length, keep);
    world in;
    outcome got;
    const auto data = pattern(length, 3);
    std::vector<std::byte> into(length);
    const params recv = params().on_recv(got);
    void* receiving = post(in, into.data(), length, 11, recv);
    REQUIRE(UCS_PTR_IS_PTR(receiving));
    if (keep) {
        ucp_request_release(receiving);
    } else {
        ucp_request_free(receiving);
    }
    CHECK(in.finish(ucp_tag_send_sync_nbx(in.ep, data.data(), length, 11, &none)) == UCS_OK);
    REQUIRE(in.progress_until([&] { return into == data && got.calls == (keep ? 1 : 0); }));
    in.progress_often(1000);
    CHECK(got.calls == (keep ? 1 : 0));
    if (keep) CHECK(got.handle == receiving);
    captured_output log;
    in.destroy();
    CHECK(log.text() == "");  // no leak is reported
}

TEST_CASE("requests may be freed or released inside their callback, where they are complete") {
    struct seen {
        bool release;
        int calls = 0;
        int completed = -1;
        ucs_status_t status = UCS_INPROGRESS;
    };
    const bool release = GENERATE(false, true);
    const bool unexpected = GENERATE(false, true);
    CAPTURE(release, unexpected);
    seen got{release};
    world in;
    params recv;
    recv.flag(UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
              UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    recv.user_data = &got;
    recv.cb.recv = [](void* request, ucs_status_t, const ucp_tag_recv_info_t*, void* arg) {
        auto& into = *static_cast<seen*>(arg);
        ++into.calls;
        into.completed = ucp_request_is_completed(request);
        into.status = ucp_request_check_status(request);
        into.release ? ucp_request_release(request) : ucp_request_free(request);
    };
    for (int i = 1; i <= 100; ++i) {
        char byte = 0;
        if (unexpected) {
            in.send("x", 1, 12);
            in.await_unexpected(12);
        }
        REQUIRE(UCS_PTR_IS_PTR(post(in, &byte, 1, 12, recv)));
        if (!unexpected) in.send("x", 1, 12);
        REQUIRE(in.progress_until([&] { return got.calls == i; }));
        CHECK(byte == 'x');
        CHECK(got.completed == 1);
        CHECK(got.status == UCS_OK);
    }
    captured_output log;
    in.destroy();
    CHECK(log.text() == "");
}

TEST_CASE("a request that is released in its callback and again afterwards serves one operation") {
    world in;
    params recv;
    recv.flag(UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
              UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    int calls = 0;
    recv.user_data = &calls;
    recv.cb.recv = [](void* request, ucs_status_t, const ucp_tag_recv_info_t*, void* arg) {
        ++*static_cast<int*>(arg);
        ucp_request_release(request);
    };
    char first = 0, second = 0;
    void* const released = post(in, &first, 1, 12, recv);
    REQUIRE(UCS_PTR_IS_PTR(released));
    in.send("x", 1, 12);
    REQUIRE(in.progress_until([&] { return calls == 1; }));
    ucp_request_release(released);
    void* const one = post(in, &first, 1, 13, recv);
    void* const other = post(in, &second, 1, 14, recv);
    REQUIRE(UCS_PTR_IS_PTR(one));
    REQUIRE(UCS_PTR_IS_PTR(other));
    CHECK(one != other);
    in.send("y", 1, 13);
    in.send("z", 1, 14);
    REQUIRE(in.progress_until([&] { return calls == 3; }));
    CHECK(first == 'y');
    CHECK(second == 'z');
    captured_output log;
    in.destroy();
    CHECK(log.text() == "");
}

TEST_CASE("canceling an unmatched receive completes it, and it takes no message") {
    world in;
    outcome got;
    char byte = 0;
    void* receiving = post(in, &byte, 1, 13, params().on_recv(got));
    REQUIRE(UCS_PTR_IS_PTR(receiving));
    ucp_request_cancel(in.receiver, receiving);
    REQUIRE(in.progress_until([&] { return got.calls == 1; }));
    CHECK(got.status == UCS_ERR_CANCELED);
    CHECK(ucp_request_check_status(receiving) == UCS_ERR_CANCELED);
    ucp_request_cancel(in.receiver, receiving);  // the second cancel has no effect
    CHECK(got.calls == 1);
    ucp_request_free(receiving);
    in.send("x", 1, 13);
    in.await_unexpected(13);
    CHECK(byte == 0);
    in.recv(&byte, 1, 13);
}

TEST_CASE("canceling a matched receive or a send changes nothing") {
    world in(configured({{"RNDV_THRESH", "0"}}));
    outcome got, sent;
    const auto data = pattern(large, 5);
    std::vector<std::byte> into(large);
    void* sending = ucp_tag_send_nbx(in.ep, data.data(), large, 14, [&] {
        static params send;
        send = params().on_send(sent);
        return &send;
    }());
    REQUIRE(UCS_PTR_IS_PTR(sending));
    ucp_request_cancel(in.sender, sending);
    in.await_unexpected(14);
    void* receiving = post(in, into.data(), large, 14, params().on_recv(got));
    if (UCS_PTR_IS_PTR(receiving)) ucp_request_cancel(in.receiver, receiving);
    CHECK(in.finish(receiving) == UCS_OK);
    CHECK(in.finish(sending) == UCS_OK);
    CHECK(sent.status == UCS_OK);
    CHECK(into == data);
}

TEST_CASE("a worker that is destroyed with requests in use logs this, unless a flag disables it") {
    const bool ignore = GENERATE(false, true);
    world_options options;
    options.worker_flags = ignore ? UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK : 0;
    static char byte;
    std::string text;
    {
        world in(options);
        REQUIRE(UCS_PTR_IS_PTR(post(in, &byte, 1, 15, params())));
        captured_output log;
        in.destroy();
        text = log.text();
    }
    INFO(text);
    CHECK((text.find("request") == std::string::npos) == ignore);
}

TEST_CASE("ucp_request_query describes a request") {
    world in;
    char byte = 0;
    void* receiving = post(in, &byte, 1, 16, params());
    char text[200];
    std::memset(text, 'x', sizeof text);
    ucp_request_attr_t attr{};
    attr.field_mask = UCP_REQUEST_ATTR_FIELD_STATUS | UCP_REQUEST_ATTR_FIELD_MEM_TYPE |
                      UCP_REQUEST_ATTR_FIELD_INFO_STRING | UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE;
    attr.debug_string = text;
    attr.debug_string_size = 8;
    CHECK(ucp_request_query(receiving, &attr) == UCS_OK);
    CHECK(std::strlen(text) == 7);
    CHECK(text[8] == 'x');
    CHECK(attr.status == UCS_INPROGRESS);
    CHECK(attr.mem_type == UCS_MEMORY_TYPE_HOST);
    ucp_request_cancel(in.receiver, receiving);
    CHECK(in.finish(receiving) == UCS_ERR_CANCELED);
}
