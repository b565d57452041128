// Requests in memory of the program, and the older functions that use them.
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>

#include "test/integration/api/world.hpp"

using namespace api;

namespace {

// Memory of a request with guards before and behind it, filled with `garbage`.
class own_request {
public:
    own_request(const world& in, int garbage) : size_(request_bytes(in.context)) {
        bytes_.resize(guard + size_ + area + guard);
        std::memset(bytes_.data(), garbage, bytes_.size());
        std::memset(bytes_.data(), canary, guard);
        std::memset(bytes_.data() + guard + size_, canary, area + guard);
    }
    ~own_request() {
        CHECK(count(0, guard) == guard);
        CHECK(count(guard + size_, area + guard) == area + guard);
    }
    own_request(const own_request&) = delete;
    own_request& operator=(const own_request&) = delete;
    void* get() { return bytes_.data() + guard + size_; }

private:
    [[nodiscard]] std::size_t count(std::size_t from, std::size_t length) const {
        std::size_t found = 0;
        for (std::size_t i = from; i < from + length; ++i)
            found += bytes_[i] == canary ? 1U : 0U;
        return found;
    }
    static constexpr std::size_t guard = 64;
    static constexpr std::size_t area = 16;
    static constexpr unsigned char canary = 0xC7;
    const std::size_t size_;
    std::vector<unsigned char> bytes_;
};

ucs_status_t wait(const world& in, void* request, ucp_tag_recv_info_t* info = nullptr) {
    REQUIRE(in.progress_until([&] { return ucp_request_test(request, info) != UCS_INPROGRESS; }));
    return ucp_request_test(request, info);
}

}  // namespace

TEST_CASE("operations use a request of the program, with any previous contents of its memory") {
    const int garbage = GENERATE(0x00, 0xFF, 0xA5, 0x5A, 0x01);
    const std::size_t length = GENERATE(as<std::size_t>(), 0, 1, 200, 5000, 100000, 1 << 20);
    const bool expected = GENERATE(false, true);
    const bool sync = GENERATE(false, true);
    CAPTURE(garbage, length, expected, sync);
    const world in;
    own_request send_request(in, garbage);
    own_request recv_request(in, garbage);
    const auto data = pattern(length, 1);
    std::vector<std::byte> into(length);
    const params send = params().request_memory(send_request.get());
    const params recv = params().request_memory(recv_request.get());
    ucs_status_ptr_t receiving = nullptr;
    if (expected) {
        receiving = ucp_tag_recv_nbx(in.receiver, into.data(), length, 1, all_bits, &recv);
        REQUIRE(receiving == recv_request.get());
    }
    const auto start = sync ? ucp_tag_send_sync_nbx : ucp_tag_send_nbx;
    const ucs_status_ptr_t sending = start(in.ep, data.data(), length, 1, &send);
    REQUIRE((sending == nullptr || sending == send_request.get()));
    if (!expected) {
        in.await_unexpected(1);
        receiving = ucp_tag_recv_nbx(in.receiver, into.data(), length, 1, all_bits, &recv);
        REQUIRE((receiving == nullptr || receiving == recv_request.get()));
    }
    // Also if the call completed immediately: programs ignore that and check the request.
    ucp_tag_recv_info_t info{};
    CHECK(wait(in, recv_request.get(), &info) == UCS_OK);
    CHECK(info.sender_tag == 1);
    CHECK(info.length == length);
    info = {77, 77};
    CHECK(wait(in, send_request.get(), &info) == UCS_OK);
    CHECK(info.length == 77);  // a send does not fill the receive info
    CHECK(into == data);
}

TEST_CASE("a request of the program can be read after an immediate error") {
    world in;
    own_request request(in, 0xA5);
    in.send("abcd", 4, 2);
    in.await_unexpected(2);
    char byte = 0;
    const params options = params().request_memory(request.get());
    const auto result = ucp_tag_recv_nbx(in.receiver, &byte, 1, 2, all_bits, &options);
    CHECK(UCS_PTR_RAW_STATUS(result) == UCS_ERR_MESSAGE_TRUNCATED);
    ucp_tag_recv_info_t info{};
    CHECK(ucp_request_test(request.get(), &info) == UCS_ERR_MESSAGE_TRUNCATED);
    CHECK(ucp_request_check_status(request.get()) == UCS_ERR_MESSAGE_TRUNCATED);

    captured_output quiet;
    own_request refused(in, 0xA5);
    const params wrong = params().request_memory(refused.get()).type(1);
    const auto error = ucp_tag_recv_nbx(in.receiver, &byte, 1, 2, all_bits, &wrong);
    quiet.text();
    CHECK(UCS_PTR_RAW_STATUS(error) == UCS_ERR_INVALID_PARAM);
    CHECK(ucp_request_check_status(refused.get()) == UCS_ERR_INVALID_PARAM);
}

TEST_CASE("a request of the program may be freed in its callback") {
    world in;
    struct job {
        std::unique_ptr<unsigned char[]> memory;
        bool done = false;
    };
    job request;
    const std::size_t size = request_bytes(in.context);
    request.memory.reset(new unsigned char[size]);
    params options = params().request_memory(request.memory.get() + size);
    options.flag(UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA);
    options.user_data = &request;
    options.cb.recv = [](void*, ucs_status_t, const ucp_tag_recv_info_t*, void* arg) {
        auto& self = *static_cast<job*>(arg);
        self.memory.reset();
        self.done = true;
    };
    char byte = 0;
    REQUIRE(UCS_PTR_IS_PTR(ucp_tag_recv_nbx(in.receiver, &byte, 1, 3, all_bits, &options)));
    in.send("x", 1, 3);
    CHECK(in.progress_until([&] { return request.done; }));
}

TEST_CASE("a request of the program may start its next operation in its callback") {
    world in;
    own_request request(in, 0xFF);
    struct job {
        const world* world_in;
        params options;
        char bytes[2] = {0, 0};
        int calls = 0;
    };
    job again{&in, params().request_memory(request.get())};
    again.options.flag(UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA);
    again.options.user_data = &again;
    again.options.cb.recv = [](void*, ucs_status_t, const ucp_tag_recv_info_t*, void* arg) {
        auto& self = *static_cast<job*>(arg);
        if (++self.calls == 1) {
            ucp_tag_recv_nbx(self.world_in->receiver, &self.bytes[1], 1, 4, all_bits,
                             &self.options);
        }
    };
    REQUIRE(UCS_PTR_IS_PTR(
        ucp_tag_recv_nbx(in.receiver, &again.bytes[0], 1, 4, all_bits, &again.options)));
    in.send("a", 1, 4);
    REQUIRE(in.progress_until([&] { return again.calls == 1; }));
    CHECK(ucp_request_check_status(request.get()) == UCS_INPROGRESS);
    in.send("b", 1, 4);
    REQUIRE(in.progress_until([&] { return again.calls == 2; }));
    CHECK(ucp_request_check_status(request.get()) == UCS_OK);
    CHECK(std::memcmp(again.bytes, "ab", 2) == 0);
}

TEST_CASE("ucp_request_alloc returns a request that is used like the program's own and is freed") {
    world in;
    outcome got;
    for (int i = 0; i < 3000; ++i) {
        void* request = ucp_request_alloc(in.receiver);
        REQUIRE(request != nullptr);
        char byte = 0;
        const params options = params().request_memory(request).on_recv(got);
        REQUIRE(ucp_tag_recv_nbx(in.receiver, &byte, 1, 5, all_bits, &options) == request);
        in.send("x", 1, 5);
        REQUIRE(wait(in, request) == UCS_OK);
        REQUIRE(got.calls == i + 1);
        // It is used for a second operation before it is freed.
        void* send_request = ucp_request_alloc(in.sender);
        const params send = params().request_memory(send_request);
        const auto sending = ucp_tag_send_nbx(in.ep, "y", 1, 5, &send);
        REQUIRE((sending == nullptr || sending == send_request));
        REQUIRE(wait(in, send_request) == UCS_OK);
        ucp_request_free(send_request);
        in.await_unexpected(5);
        const params again = params().request_memory(request);
        REQUIRE(!UCS_PTR_IS_ERR(ucp_tag_recv_nbx(in.receiver, &byte, 1, 5, all_bits, &again)));
        REQUIRE(wait(in, request) == UCS_OK);
        REQUIRE(byte == 'y');
        ucp_request_free(request);
    }
    ucp_request_free(ucp_request_alloc(in.receiver));  // never used
    captured_output log;
    in.destroy();
    CHECK(log.text() == "");
}

TEST_CASE("an allocated request that is freed while it runs is released when it ends") {
    world in;
    char byte = 0;
    outcome got;
    void* request = ucp_request_alloc(in.receiver);
    const params options = params().request_memory(request).on_recv(got);
    REQUIRE(ucp_tag_recv_nbx(in.receiver, &byte, 1, 5, all_bits, &options) == request);
    ucp_request_free(request);
    in.send("x", 1, 5);
    REQUIRE(in.progress_until([&] { return byte == 'x'; }));
    CHECK(got.calls == 0);
    captured_output log;
    in.destroy();
    CHECK(log.text() == "");
}

namespace {

struct legacy_outcome {
    int calls;
    ucs_status_t status;
    std::size_t length;
};
legacy_outcome legacy;

void legacy_recv(void*, ucs_status_t status, ucp_tag_recv_info_t* info) {
    legacy = {legacy.calls + 1, status, info->length};
}
void legacy_send(void*, ucs_status_t status) {
    legacy = {legacy.calls + 1, status, 0};
}
constexpr ucp_datatype_t bytes = ucp_dt_make_contig(1);

}  // namespace

TEST_CASE("the older receive functions never return NULL") {
    legacy = {};
    world in;
    char text[4] = {};
    const bool truncated = GENERATE(false, true);
    const bool probed = GENERATE(false, true);
    CAPTURE(truncated, probed);
    in.send("abcd", 4, 6);
    in.await_unexpected(6);
    const std::size_t capacity = truncated ? 2 : 4;
    ucs_status_ptr_t request;
    if (probed) {
        ucp_tag_recv_info_t info{};
        ucp_tag_message_h message = ucp_tag_probe_nb(in.receiver, 6, all_bits, 1, &info);
        REQUIRE(message != nullptr);
        request = ucp_tag_msg_recv_nb(in.receiver, text, capacity, bytes, message, legacy_recv);
    } else {
        request = ucp_tag_recv_nb(in.receiver, text, capacity, bytes, 6, all_bits, legacy_recv);
    }
    REQUIRE(UCS_PTR_IS_PTR(request));
    const ucs_status_t wanted = truncated ? UCS_ERR_MESSAGE_TRUNCATED : UCS_OK;
    CHECK(ucp_request_check_status(request) == wanted);
    CHECK(legacy.calls == 1);
    CHECK(legacy.status == wanted);
    if (!truncated) CHECK(legacy.length == 4);
    if (!truncated) CHECK(std::memcmp(text, "abcd", 4) == 0);
    ucp_request_free(request);
}

TEST_CASE("the older functions work without a callback") {
    world in;
    char byte = 0;
    void* receiving = ucp_tag_recv_nb(in.receiver, &byte, 1, bytes, 7, all_bits, nullptr);
    REQUIRE(UCS_PTR_IS_PTR(receiving));
    CHECK(in.finish(ucp_tag_send_nb(in.ep, "x", 1, bytes, 7, nullptr)) == UCS_OK);
    CHECK(in.finish(receiving) == UCS_OK);
    CHECK(byte == 'x');
}

TEST_CASE(
    "the older send functions complete, with a callback if they did not complete immediately") {
    const std::size_t length = GENERATE(as<std::size_t>(), 1, 1 << 20);
    const bool sync = GENERATE(false, true);
    CAPTURE(length, sync);
    legacy = {};
    world in;
    const auto data = pattern(length, 9);
    std::vector<std::byte> into(length);
    void* receiving =
        ucp_tag_recv_nb(in.receiver, into.data(), length, bytes, 8, all_bits, nullptr);
    const auto start = sync ? ucp_tag_send_sync_nb : ucp_tag_send_nb;
    const auto sending = start(in.ep, data.data(), length, bytes, 8, legacy_send);
    REQUIRE(!UCS_PTR_IS_ERR(sending));
    if (sync) CHECK(sending != nullptr);
    CHECK(in.finish(sending) == UCS_OK);
    CHECK(legacy.calls == (sending == nullptr ? 0 : 1));
    CHECK(in.finish(receiving) == UCS_OK);
    CHECK(into == data);
}

TEST_CASE("ucp_tag_send_nbr and recv_nbr run in the program's memory and return a status") {
    const std::size_t length = GENERATE(as<std::size_t>(), 1, 1 << 20);
    const bool expected = GENERATE(false, true);
    CAPTURE(length, expected);
    world in;
    own_request send_request(in, 0xA5);
    own_request recv_request(in, 0x5A);
    const auto data = pattern(length, 9);
    std::vector<std::byte> into(length);
    const auto receive = [&] {
        const ucs_status_t posted = ucp_tag_recv_nbr(in.receiver, into.data(), length, bytes, 9,
                                                     all_bits, recv_request.get());
        CHECK(posted == UCS_OK);
    };
    if (expected) receive();
    const ucs_status_t started =
        ucp_tag_send_nbr(in.ep, data.data(), length, bytes, 9, send_request.get());
    CHECK((started == UCS_OK || started == UCS_INPROGRESS));
    if (!expected) {
        in.await_unexpected(9);
        receive();
    }
    ucp_tag_recv_info_t info{};
    CHECK(wait(in, recv_request.get(), &info) == UCS_OK);
    CHECK(info.length == length);
    if (started == UCS_INPROGRESS) CHECK(wait(in, send_request.get()) == UCS_OK);
    CHECK(into == data);
}

TEST_CASE("a truncated ucp_tag_recv_nbr is reported in its request") {
    world in;
    own_request request(in, 0xA5);
    in.send("abcd", 4, 9);
    in.await_unexpected(9);
    char byte = 0;
    const ucs_status_t posted =
        ucp_tag_recv_nbr(in.receiver, &byte, 1, bytes, 9, all_bits, request.get());
    CHECK(posted == UCS_OK);
    CHECK(ucp_request_test(request.get(), nullptr) == UCS_ERR_MESSAGE_TRUNCATED);
}
