// Requests in memory of the program's, and the older functions, which build on them.
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>

#include "test/integration/api/world.hpp"

using namespace api;

namespace {

// Memory of a request with guards before and behind it, filled with something.
class own_request {
public:
    own_request(const world& in, int garbage) : size_(in.request_bytes()) {
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
    REQUIRE(in.until([&] { return ucp_request_test(request, info) != UCS_INPROGRESS; }));
    return ucp_request_test(request, info);
}

constexpr ucp_tag_t all_bits = ~ucp_tag_t{0};

}  // namespace

TEST_CASE("operations run in a request of the program's, whatever was in its memory") {
    const int garbage = GENERATE(0x00, 0xFF, 0xA5, 0x5A, 0x01);
    const std::size_t length = GENERATE(as<std::size_t>(), 0, 1, 200, 5000, 100000, 1 << 20);
    const bool expected = GENERATE(false, true);
    const bool sync = GENERATE(false, true);
    CAPTURE(garbage, length, expected, sync);
    const world in;
    own_request of_send(in, garbage);
    own_request of_recv(in, garbage);
    const auto data = pattern(length, 1);
    std::vector<std::byte> into(length);
    const params send = params().in(of_send.get());
    const params recv = params().in(of_recv.get());
    ucs_status_ptr_t receiving = nullptr;
    if (expected) {
        receiving = ucp_tag_recv_nbx(in.receiver, into.data(), length, 1, all_bits, &recv);
        REQUIRE(receiving == of_recv.get());
    }
    const auto start = sync ? ucp_tag_send_sync_nbx : ucp_tag_send_nbx;
    const ucs_status_ptr_t sending = start(in.ep, data.data(), length, 1, &send);
    REQUIRE((sending == nullptr || sending == of_send.get()));
    if (!expected) {
        in.await_unexpected(1);
        receiving = ucp_tag_recv_nbx(in.receiver, into.data(), length, 1, all_bits, &recv);
        REQUIRE((receiving == nullptr || receiving == of_recv.get()));
    }
    // Also where the call said that it is done: programs ignore that and look here.
    ucp_tag_recv_info_t info{};
    CHECK(wait(in, of_recv.get(), &info) == UCS_OK);
    CHECK(info.sender_tag == 1);
    CHECK(info.length == length);
    info = {77, 77};
    CHECK(wait(in, of_send.get(), &info) == UCS_OK);
    CHECK(info.length == 77);  // a send tells nothing about a receive
    CHECK(into == data);
}

TEST_CASE("a request of the program's can be read after an immediate error") {
    world in;
    own_request mine(in, 0xA5);
    in.send("abcd", 4, 2);
    in.await_unexpected(2);
    char byte = 0;
    const params how = params().in(mine.get());
    const auto result = ucp_tag_recv_nbx(in.receiver, &byte, 1, 2, all_bits, &how);
    CHECK(UCS_PTR_RAW_STATUS(result) == UCS_ERR_MESSAGE_TRUNCATED);
    ucp_tag_recv_info_t info{};
    CHECK(ucp_request_test(mine.get(), &info) == UCS_ERR_MESSAGE_TRUNCATED);
    CHECK(ucp_request_check_status(mine.get()) == UCS_ERR_MESSAGE_TRUNCATED);

    captured_output quiet;
    own_request refused(in, 0xA5);
    const params wrong = params().in(refused.get()).type(1);
    const auto error = ucp_tag_recv_nbx(in.receiver, &byte, 1, 2, all_bits, &wrong);
    quiet.text();
    CHECK(UCS_PTR_RAW_STATUS(error) == UCS_ERR_INVALID_PARAM);
    CHECK(ucp_request_check_status(refused.get()) == UCS_ERR_INVALID_PARAM);
}

TEST_CASE("a request of the program's may be given back to the heap in its callback") {
    world in;
    struct job {
        std::unique_ptr<unsigned char[]> memory;
        bool done = false;
    };
    job mine;
    const std::size_t size = in.request_bytes();
    mine.memory.reset(new unsigned char[size]);
    params how = params().in(mine.memory.get() + size);
    how.flag(UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA);
    how.user_data = &mine;
    how.cb.recv = [](void*, ucs_status_t, const ucp_tag_recv_info_t*, void* arg) {
        auto& of = *static_cast<job*>(arg);
        of.memory.reset();
        of.done = true;
    };
    char byte = 0;
    REQUIRE(UCS_PTR_IS_PTR(ucp_tag_recv_nbx(in.receiver, &byte, 1, 3, all_bits, &how)));
    in.send("x", 1, 3);
    CHECK(in.until([&] { return mine.done; }));
}

TEST_CASE("a request of the program's may carry the next operation from within its callback") {
    world in;
    own_request mine(in, 0xFF);
    struct job {
        const world* in;
        params how;
        char bytes[2] = {0, 0};
        int calls = 0;
    };
    job again{&in, params().in(mine.get())};
    again.how.flag(UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA);
    again.how.user_data = &again;
    again.how.cb.recv = [](void*, ucs_status_t, const ucp_tag_recv_info_t*, void* arg) {
        auto& of = *static_cast<job*>(arg);
        if (++of.calls == 1) {
            ucp_tag_recv_nbx(of.in->receiver, &of.bytes[1], 1, 4, all_bits, &of.how);
        }
    };
    REQUIRE(
        UCS_PTR_IS_PTR(ucp_tag_recv_nbx(in.receiver, &again.bytes[0], 1, 4, all_bits, &again.how)));
    in.send("a", 1, 4);
    REQUIRE(in.until([&] { return again.calls == 1; }));
    CHECK(ucp_request_check_status(mine.get()) == UCS_INPROGRESS);
    in.send("b", 1, 4);
    REQUIRE(in.until([&] { return again.calls == 2; }));
    CHECK(ucp_request_check_status(mine.get()) == UCS_OK);
    CHECK(std::memcmp(again.bytes, "ab", 2) == 0);
}

TEST_CASE("ucp_request_alloc gives a request that serves as the program's own and is freed") {
    world in;
    outcome got;
    for (int i = 0; i < 3000; ++i) {
        void* mine = ucp_request_alloc(in.receiver);
        REQUIRE(mine != nullptr);
        char byte = 0;
        const params how = params().in(mine).on_recv(got);
        REQUIRE(ucp_tag_recv_nbx(in.receiver, &byte, 1, 5, all_bits, &how) == mine);
        in.send("x", 1, 5);
        REQUIRE(wait(in, mine) == UCS_OK);
        REQUIRE(got.calls == i + 1);
        // Used for a second operation before it goes back.
        void* of_send = ucp_request_alloc(in.sender);
        const params send = params().in(of_send);
        const auto sending = ucp_tag_send_nbx(in.ep, "y", 1, 5, &send);
        REQUIRE((sending == nullptr || sending == of_send));
        REQUIRE(wait(in, of_send) == UCS_OK);
        ucp_request_free(of_send);
        in.await_unexpected(5);
        const params again = params().in(mine);
        REQUIRE(!UCS_PTR_IS_ERR(ucp_tag_recv_nbx(in.receiver, &byte, 1, 5, all_bits, &again)));
        REQUIRE(wait(in, mine) == UCS_OK);
        REQUIRE(byte == 'y');
        ucp_request_free(mine);
    }
    ucp_request_free(ucp_request_alloc(in.receiver));  // never used
    captured_output log;
    in.destroy();
    CHECK(log.text() == "");
}

TEST_CASE("an allocated request that is freed while it runs goes back when it ends") {
    world in;
    char byte = 0;
    outcome got;
    void* mine = ucp_request_alloc(in.receiver);
    const params how = params().in(mine).on_recv(got);
    REQUIRE(ucp_tag_recv_nbx(in.receiver, &byte, 1, 5, all_bits, &how) == mine);
    ucp_request_free(mine);
    in.send("x", 1, 5);
    REQUIRE(in.until([&] { return byte == 'x'; }));
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
    const std::size_t room = truncated ? 2 : 4;
    ucs_status_ptr_t request;
    if (probed) {
        ucp_tag_recv_info_t info{};
        ucp_tag_message_h message = ucp_tag_probe_nb(in.receiver, 6, all_bits, 1, &info);
        REQUIRE(message != nullptr);
        request = ucp_tag_msg_recv_nb(in.receiver, text, room, bytes, message, legacy_recv);
    } else {
        request = ucp_tag_recv_nb(in.receiver, text, room, bytes, 6, all_bits, legacy_recv);
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

TEST_CASE("the older send functions complete, with their callback when they did not at once") {
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
    own_request of_send(in, 0xA5);
    own_request of_recv(in, 0x5A);
    const auto data = pattern(length, 9);
    std::vector<std::byte> into(length);
    const auto receive = [&] {
        const ucs_status_t posted =
            ucp_tag_recv_nbr(in.receiver, into.data(), length, bytes, 9, all_bits, of_recv.get());
        CHECK(posted == UCS_OK);
    };
    if (expected) receive();
    const ucs_status_t started =
        ucp_tag_send_nbr(in.ep, data.data(), length, bytes, 9, of_send.get());
    CHECK((started == UCS_OK || started == UCS_INPROGRESS));
    if (!expected) {
        in.await_unexpected(9);
        receive();
    }
    ucp_tag_recv_info_t info{};
    CHECK(wait(in, of_recv.get(), &info) == UCS_OK);
    CHECK(info.length == length);
    if (started == UCS_INPROGRESS) CHECK(wait(in, of_send.get()) == UCS_OK);
    CHECK(into == data);
}

TEST_CASE("a truncated ucp_tag_recv_nbr is seen in its request") {
    world in;
    own_request mine(in, 0xA5);
    in.send("abcd", 4, 9);
    in.await_unexpected(9);
    char byte = 0;
    const ucs_status_t posted =
        ucp_tag_recv_nbr(in.receiver, &byte, 1, bytes, 9, all_bits, mine.get());
    CHECK(posted == UCS_OK);
    CHECK(ucp_request_test(mine.get(), nullptr) == UCS_ERR_MESSAGE_TRUNCATED);
}
