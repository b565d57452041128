// Active messages: all protocols, the arguments of handlers, and data that programs keep.
#include <catch2/catch.hpp>
#include <cstring>

#include "test/integration/api/world.hpp"

using namespace api;

namespace {

constexpr unsigned id = 300;

using sizes = std::initializer_list<std::size_t>;

world_options for_messages(settings config = {}) {
    world_options options = configured(std::move(config));
    options.features = UCP_FEATURE_TAG | UCP_FEATURE_AM;
    return options;
}

// Records the arguments of a handler. The handler returns `result`.
struct handler {
    ucs_status_t result = UCS_OK;
    bool receive_inside = false;  // receives rendezvous data inside the handler

    int calls = 0;
    std::vector<std::byte> header;
    std::vector<std::byte> data;
    void* kept = nullptr;
    std::size_t length = 0;
    std::uint64_t attributes = 0;
    ucp_ep_h reply_ep = nullptr;
    std::uintptr_t address = 0;

    ucp_worker_h worker = nullptr;
    outcome received;
    ucs_status_ptr_t receiving = nullptr;

    static ucs_status_t call(void* arg, const void* header, std::size_t header_length, void* data,
                             std::size_t length, const ucp_am_recv_param_t* param) {
        auto& self = *static_cast<handler*>(arg);
        ++self.calls;
        self.attributes = param->recv_attr;
        self.reply_ep = param->reply_ep;
        self.length = length;
        self.address = reinterpret_cast<std::uintptr_t>(data);
        self.header.clear();
        if (header_length > 0) {
            const auto* from = static_cast<const std::byte*>(header);
            self.header.assign(from, from + header_length);
        } else {
            CHECK(header == nullptr);
        }
        if (self.is_rendezvous()) {
            self.data.assign(length, std::byte{0});
            if (self.receive_inside) {
                self.receive(data);
                return UCS_INPROGRESS;
            }
        } else if (length > 0) {
            const auto* from = static_cast<const std::byte*>(data);
            self.data.assign(from, from + length);
        } else {
            self.data.clear();
        }
        if (self.result == UCS_INPROGRESS) self.kept = data;
        return self.result;
    }
    [[nodiscard]] bool is_rendezvous() const {
        return (attributes & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
    }
    [[nodiscard]] bool may_keep() const { return (attributes & UCP_AM_RECV_ATTR_FLAG_DATA) != 0; }

    static void on_received(void* request, ucs_status_t status, std::size_t length, void* arg) {
        auto& into = *static_cast<outcome*>(arg);
        record_send(request, status, arg);
        into.info.length = length;
    }
    void receive(void* descriptor) {
        params options;
        options.cb.recv_am = on_received;
        options.user_data = &received;
        options.flag(UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA);
        receiving = ucp_am_recv_data_nbx(worker, descriptor, data.data(), data.size(), &options);
    }

    void install(ucp_worker_h target, unsigned handler_id = id, std::uint32_t flags = 0) {
        worker = target;
        set_am_handler(target, handler_id, call, this, flags);
    }
};

ucs_status_ptr_t send_am(ucp_ep_h ep, const std::vector<std::byte>& header,
                         const std::vector<std::byte>& data, std::uint32_t flags = 0,
                         unsigned handler_id = id) {
    const params options = params().flags_of_call(flags);
    return ucp_am_send_nbx(ep, handler_id, header.data(), header.size(), data.data(), data.size(),
                           &options);
}

// Two workers, and a handler of messages at the receiver.
struct am_world : world {
    explicit am_world(const world_options& options = for_messages(), std::uint32_t flags = 0)
        : world(options) {
        got.install(receiver, id, flags);
    }
    // Sends a message and waits until the handler has been called for it.
    [[nodiscard]] ucs_status_ptr_t deliver(const std::vector<std::byte>& header,
                                           const std::vector<std::byte>& data,
                                           std::uint32_t flags = 0) const {
        const int before = got.calls;
        const ucs_status_ptr_t sending = send_am(ep, header, data, flags);
        REQUIRE(progress_until([&] { return got.calls > before; }));
        CHECK(got.calls == before + 1);
        return sending;
    }

    handler got;
};

std::size_t max_header(ucp_worker_h worker) {
    return attributes_of(worker, UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER).max_am_header;
}

}  // namespace

TEST_CASE("an active message delivers its complete header and data with every protocol") {
    const settings config = GENERATE(
        settings{}, settings{{"RNDV_THRESH", "0"}}, settings{{"RNDV_THRESH", "inf"}},
        settings{{"RNDV_THRESH", "0"}, {"RNDV_SCHEME", "am"}},
        settings{{"ZCOPY_THRESH", "0"}, {"RNDV_THRESH", "64k"}}, settings{{"BCOPY_THRESH", "0"}});
    am_world in(for_messages(config));
    handler& got = in.got;
    got.receive_inside = true;
    const std::size_t longest = max_header(in.sender);
    REQUIRE(longest >= 1024);
    int expected = 0;
    for (const std::size_t header_length : {std::size_t{0}, std::size_t{1}, std::size_t{8},
                                            std::size_t{13}, std::size_t{500}, longest}) {
        for (const std::size_t length :
             sizes{0, 1, 7, 8, 63, 64, 1000, 8100, 8192, 9000, 70'000, 1'000'003}) {
            for (const std::uint32_t flags : {0U, static_cast<unsigned>(UCP_AM_SEND_FLAG_REPLY),
                                              static_cast<unsigned>(UCP_AM_SEND_FLAG_EAGER),
                                              static_cast<unsigned>(UCP_AM_SEND_FLAG_RNDV)}) {
                INFO("header " << header_length << ", data " << length << ", flags " << flags);
                const auto header = pattern(header_length, 2);
                const auto data = pattern(length, 3);
                got.received = {};
                const ucs_status_ptr_t sending = in.deliver(header, data, flags);
                ++expected;
                CHECK(got.header == header);
                CHECK(got.length == length);
                CHECK((got.reply_ep != nullptr) == ((flags & UCP_AM_SEND_FLAG_REPLY) != 0));
                CHECK(((got.attributes & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) != 0) ==
                      (got.reply_ep != nullptr));
                if ((flags & UCP_AM_SEND_FLAG_RNDV) != 0 && length > 0) CHECK(got.is_rendezvous());
                if ((flags & UCP_AM_SEND_FLAG_EAGER) != 0) CHECK(!got.is_rendezvous());
                if (got.is_rendezvous()) {
                    const bool immediate = got.receiving == nullptr;
                    CHECK(in.finish(got.receiving) == UCS_OK);
                    if (!immediate) CHECK(got.received.info.length == length);
                } else if (length > 0) {
                    CHECK(got.address % 8 == 0);
                }
                CHECK(got.data == data);
                CHECK(in.finish(sending) == UCS_OK);
            }
        }
    }
    CHECK(got.calls == expected);
}

TEST_CASE("messages of one endpoint reach their handlers in order") {
    const world in(for_messages());
    std::vector<unsigned> seen;
    const auto note_number = [](void* arg, const void* header, std::size_t, void*, std::size_t,
                                const ucp_am_recv_param_t*) {
        unsigned number;
        std::memcpy(&number, header, sizeof number);
        static_cast<std::vector<unsigned>*>(arg)->push_back(number);
        return UCS_OK;
    };
    set_am_handler(in.receiver, id, note_number, &seen);
    constexpr unsigned count = 2000;
    std::vector<unsigned> headers(count);
    std::vector<ucs_status_ptr_t> sending;
    const auto data = pattern(300);
    const params options = params().flags_of_call(UCP_AM_SEND_FLAG_EAGER);
    for (unsigned i = 0; i < count; ++i) {
        headers[i] = i;
        sending.push_back(ucp_am_send_nbx(in.ep, id, &headers[i], sizeof headers[i], data.data(),
                                          i % 3 == 0 ? 0 : data.size(), &options));
    }
    REQUIRE(in.progress_until([&] { return seen.size() == count; }));
    CHECK(seen == headers);
    for (ucs_status_ptr_t each : sending)
        CHECK(in.finish(each) == UCS_OK);
}

TEST_CASE("a handler keeps data if the flag permits it") {
    am_world in(for_messages(), UCP_AM_FLAG_PERSISTENT_DATA);
    in.got.result = UCS_INPROGRESS;
    std::vector<std::pair<void*, std::size_t>> kept;
    for (const std::size_t length : sizes{1, 100, 5000, 100'000}) {
        const auto data = pattern(length, static_cast<unsigned>(length));
        const ucs_status_ptr_t sending = in.deliver({}, data, UCP_AM_SEND_FLAG_EAGER);
        CHECK(in.got.may_keep());
        kept.emplace_back(in.got.kept, length);
        CHECK(in.finish(sending) == UCS_OK);
    }
    // All data is still valid. One block is received into a buffer, and the others are released.
    for (std::size_t i = 0; i < kept.size(); ++i) {
        const auto expected = pattern(kept[i].second, static_cast<unsigned>(kept[i].second));
        CHECK(std::memcmp(kept[i].first, expected.data(), expected.size()) == 0);
        if (i == 2) {
            std::vector<std::byte> copy(expected.size());
            std::size_t length = 0;
            params options;
            options.recv_info.length = &length;
            options.flag(UCP_OP_ATTR_FIELD_RECV_INFO);
            CHECK(ucp_am_recv_data_nbx(in.receiver, kept[i].first, copy.data(), copy.size(),
                                       &options) == nullptr);
            CHECK(copy == expected);
            CHECK(length == expected.size());
        } else {
            ucp_am_data_release(in.receiver, kept[i].first);
        }
    }
}

TEST_CASE("data that a program has kept is freed with its worker") {
    am_world in(for_messages(), UCP_AM_FLAG_PERSISTENT_DATA);
    in.got.result = UCS_INPROGRESS;
    CHECK(in.finish(in.deliver({}, pattern(50), UCP_AM_SEND_FLAG_EAGER)) == UCS_OK);
    in.destroy();  // the leak check of the sanitizers reports data that is not freed
}

TEST_CASE("data has the alignment that was requested for the worker") {
    world_options options = for_messages();
    options.am_alignment = 64;
    am_world in(options);
    for (const std::size_t length : sizes{1, 64, 1000, 20'000}) {
        const ucs_status_ptr_t sending =
            in.deliver(pattern(3), pattern(length), UCP_AM_SEND_FLAG_EAGER);
        CHECK(in.got.address % 64 == 0);
        CHECK(in.got.data == pattern(length));
        CHECK(in.finish(sending) == UCS_OK);
    }
}

TEST_CASE("rendezvous data is received later, dropped, or refused with a status") {
    am_world in;
    handler& got = in.got;
    const auto data = pattern(200'000);
    SECTION("later") {
        got.result = UCS_INPROGRESS;
        const ucs_status_ptr_t sending = in.deliver(pattern(4), data, UCP_AM_SEND_FLAG_RNDV);
        in.progress_often(1000);
        REQUIRE(UCS_PTR_IS_PTR(sending));
        CHECK(ucp_request_check_status(sending) == UCS_INPROGRESS);
        got.receive(got.kept);
        CHECK(in.finish(got.receiving) == UCS_OK);
        CHECK(got.data == data);
        CHECK(in.finish(sending) == UCS_OK);
    }
    SECTION("into a buffer that is too small") {
        got.result = UCS_INPROGRESS;
        const ucs_status_ptr_t sending = in.deliver({}, data, UCP_AM_SEND_FLAG_RNDV);
        got.data.resize(100);
        got.receive(got.kept);
        CHECK(in.finish(got.receiving) == UCS_ERR_MESSAGE_TRUNCATED);
        CHECK(in.finish(sending) == UCS_OK);
    }
    SECTION("dropped") {
        got.result = UCS_OK;
        CHECK(in.finish(send_am(in.ep, {}, data, UCP_AM_SEND_FLAG_RNDV)) == UCS_OK);
        CHECK(got.calls == 1);
    }
    SECTION("released without a receive") {
        got.result = UCS_INPROGRESS;
        const ucs_status_ptr_t sending = in.deliver({}, data, UCP_AM_SEND_FLAG_RNDV);
        ucp_am_data_release(in.receiver, got.kept);
        CHECK(in.finish(sending) == UCS_OK);
    }
    SECTION("refused") {
        got.result = UCS_ERR_NO_RESOURCE;
        CHECK(in.finish(send_am(in.ep, {}, data, UCP_AM_SEND_FLAG_RNDV)) == UCS_ERR_NO_RESOURCE);
    }
    // The endpoint still works.
    got.result = UCS_OK;
    CHECK(in.finish(in.deliver({}, pattern(10))) == UCS_OK);
}

TEST_CASE("rendezvous data of a closed sender cannot be received, and nothing hangs") {
    am_world in;
    if (in.loopback()) return;
    in.got.result = UCS_INPROGRESS;
    const auto data = pattern(200'000);
    const ucs_status_ptr_t sending = in.deliver({}, data, UCP_AM_SEND_FLAG_RNDV);
    in.close(in.ep, true);
    in.ep = nullptr;
    CHECK(in.finish(sending) == UCS_ERR_CANCELED);
    in.progress_often(10'000);
    in.got.receive(in.got.kept);
    CHECK(in.finish(in.got.receiving) == UCS_ERR_CONNECTION_RESET);
}

TEST_CASE(
    "a handler for whole messages is called when all data of a rendezvous message has arrived") {
    am_world in(for_messages(), UCP_AM_FLAG_WHOLE_MSG);
    const handler& got = in.got;
    const auto header = pattern(21);
    const auto data = pattern(300'001);
    const ucs_status_ptr_t sending = in.deliver(header, data, UCP_AM_SEND_FLAG_RNDV);
    CHECK(!got.is_rendezvous());
    CHECK(got.may_keep());
    CHECK(got.header == header);
    CHECK(got.data == data);
    CHECK(in.finish(sending) == UCS_OK);
}

TEST_CASE("the program may change a copied header when the call returns") {
    const settings config = GENERATE(settings{}, settings{{"RNDV_THRESH", "0"}});
    world_options options = for_messages(config);
    options.connect = GENERATE(true, false);  // false: the send waits for the connection
    am_world in(options);
    handler& got = in.got;
    got.receive_inside = true;
    std::vector<std::byte> header = pattern(40, 9);
    const auto data = pattern(GENERATE(as<std::size_t>(), 0, 100, 50'000));
    const ucs_status_ptr_t sending = send_am(in.ep, header, data, UCP_AM_SEND_FLAG_COPY_HEADER);
    std::fill(header.begin(), header.end(), std::byte{0xee});
    REQUIRE(in.progress_until([&] { return got.calls == 1; }));
    CHECK(got.header == pattern(40, 9));
    if (got.is_rendezvous()) CHECK(in.finish(got.receiving) == UCS_OK);
    CHECK(got.data == data);
    CHECK(in.finish(sending) == UCS_OK);
}

TEST_CASE("a reply is sent through the reply endpoint of a message") {
    am_world in;
    handler reply_handler;
    reply_handler.install(in.sender, id + 1);
    const ucs_status_ptr_t request = in.deliver(pattern(5), pattern(10), UCP_AM_SEND_FLAG_REPLY);
    REQUIRE(in.got.reply_ep != nullptr);
    const ucs_status_ptr_t reply = send_am(in.got.reply_ep, pattern(6), pattern(11), 0, id + 1);
    REQUIRE(in.progress_until([&] { return reply_handler.calls == 1; }));
    CHECK(reply_handler.data == pattern(11));
    CHECK(in.finish(request) == UCS_OK);
    CHECK(in.finish(reply) == UCS_OK);
}

TEST_CASE(
    "handlers are set, replaced and removed; a message without a handler is dropped with a log "
    "line") {
    const world in(for_messages());
    handler first;
    handler second;
    first.install(in.receiver, 65535);
    CHECK(in.finish(send_am(in.ep, {}, pattern(8), 0, 65535)) == UCS_OK);
    REQUIRE(in.progress_until([&] { return first.calls == 1; }));
    second.install(in.receiver, 65535);
    CHECK(in.finish(send_am(in.ep, {}, pattern(8), 0, 65535)) == UCS_OK);
    REQUIRE(in.progress_until([&] { return second.calls == 1; }));
    CHECK(first.calls == 1);
    captured_output output;
    set_am_handler(in.receiver, 65535, nullptr, nullptr);
    set_am_handler(in.receiver, 7, nullptr, nullptr);  // was never set
    CHECK(in.finish(send_am(in.ep, {}, pattern(8), 0, 65535)) == UCS_OK);
    CHECK(in.finish(send_am(in.ep, {}, pattern(80'000), UCP_AM_SEND_FLAG_EAGER, 7)) == UCS_OK);
    // A rendezvous sender receives the error.
    CHECK(in.finish(send_am(in.ep, {}, pattern(80'000), UCP_AM_SEND_FLAG_RNDV, 7)) ==
          UCS_ERR_INVALID_PARAM);
    second.install(in.receiver, 7);
    CHECK(in.finish(send_am(in.ep, {}, pattern(8), 0, 7)) == UCS_OK);
    CHECK(in.progress_until([&] { return second.calls == 2; }));
    CHECK(output.text().find("no handler is set") != std::string::npos);
}

TEST_CASE("the older send functions deliver data to the older handlers") {
    const world in(for_messages());
    struct seen {
        int calls = 0;
        std::vector<std::byte> data;
        ucp_ep_h reply_ep = nullptr;
        unsigned flags = 0;
    } got;
    REQUIRE(ucp_worker_set_am_handler(
                in.receiver, 12,
                [](void* arg, void* data, std::size_t length, ucp_ep_h reply_ep, unsigned flags) {
                    auto& self = *static_cast<seen*>(arg);
                    ++self.calls;
                    const auto* from = static_cast<const std::byte*>(data);
                    self.data.assign(from, from + length);
                    self.reply_ep = reply_ep;
                    self.flags = flags;
                    return UCS_OK;
                },
                &got, UCP_AM_FLAG_WHOLE_MSG) == UCS_OK);
    for (const std::size_t length : sizes{1, 8, 3000, 500'000}) {
        const auto data = pattern(length);
        const int before = got.calls;
        const ucs_status_ptr_t sending = ucp_am_send_nb(
            in.ep, 12, data.data(), length, ucp_dt_make_contig(1), [](void*, ucs_status_t) {},
            UCP_AM_SEND_REPLY);
        REQUIRE(in.progress_until([&] { return got.calls > before; }));
        CHECK(got.data == data);
        CHECK(got.reply_ep != nullptr);
        CHECK(in.finish(sending) == UCS_OK);
    }
    // A message of the newer send function may use rendezvous. The library then receives the data
    // before it calls the older handler.
    const auto data = pattern(100'000);
    const int before = got.calls;
    const ucs_status_ptr_t sending = send_am(in.ep, {}, data, UCP_AM_SEND_FLAG_RNDV, 12);
    REQUIRE(in.progress_until([&] { return got.calls > before; }));
    CHECK(got.data == data);
    CHECK((got.flags & UCP_CB_PARAM_FLAG_DATA) != 0);
    CHECK(in.finish(sending) == UCS_OK);
}

TEST_CASE("invalid parameters of active messages are refused with a log line") {
    const world in(for_messages());
    captured_output output;
    const std::vector<std::byte> longer(max_header(in.sender) + 1);
    CHECK(UCS_PTR_RAW_STATUS(ucp_am_send_nbx(in.ep, id, longer.data(), longer.size(), nullptr, 0,
                                             &none)) == UCS_ERR_INVALID_PARAM);
    CHECK(UCS_PTR_RAW_STATUS(ucp_am_send_nbx(in.ep, 65536, nullptr, 0, nullptr, 0, &none)) ==
          UCS_ERR_INVALID_PARAM);
    CHECK(UCS_PTR_RAW_STATUS(ucp_am_send_nbx(in.ep, id, nullptr, 4, nullptr, 0, &none)) ==
          UCS_ERR_INVALID_PARAM);
    CHECK(UCS_PTR_RAW_STATUS(
              send_am(in.ep, {}, pattern(4), UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_RNDV)) ==
          UCS_ERR_INVALID_PARAM);
    ucp_am_handler_param_t param{};
    CHECK(ucp_worker_set_am_recv_handler(in.receiver, &param) == UCS_ERR_INVALID_PARAM);
    param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID;
    param.id = id;
    CHECK(ucp_worker_set_am_recv_handler(in.receiver, &param) == UCS_ERR_INVALID_PARAM);
    param.field_mask |= UCP_AM_HANDLER_PARAM_FIELD_CB;
    CHECK(ucp_worker_set_am_recv_handler(in.receiver, &param) == UCS_OK);
    param.id = 70'000;
    CHECK(ucp_worker_set_am_recv_handler(in.receiver, &param) == UCS_ERR_INVALID_PARAM);
    CHECK(ucp_worker_set_am_recv_handler(nullptr, &param) == UCS_ERR_INVALID_PARAM);
    CHECK(output.text().find("max_am_header") != std::string::npos);
}
