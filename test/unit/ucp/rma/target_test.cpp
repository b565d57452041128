// Peers that access memory without a key, send unrequested replies, or go away.
#include "ucp/rma/target.hpp"

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/rma/fixture.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/rma/wire.hpp"
#include "ucp/wireup/connection.hpp"

namespace {

using namespace ucp_test;
namespace wire = ucp::wire;
namespace mem = ucp::mem;

raw_world by_messages() {
    return raw_world({}, without_memory_lanes());
}

// Data lands byte by byte, one byte in each turn of the worker, so that a program can look in
// between.
raw_world landing_by_bytes() {
    return raw_world({}, {.supports_landing = true, .landing_piece = 1, .progress_batch = 1});
}

// Memory of the worker, surrounded by other memory.
class shared {
public:
    explicit shared(const raw_world& in, std::uint8_t allowed = mem::all_access)
        : in_(in), bytes_(3 * length, std::byte{1}) {
        const auto made =
            mem::map(in.context->memories(),
                     {.address = bytes_.data() + length, .length = length, .allowed = allowed});
        REQUIRE(made.ok());
        memory_ = *made;
    }
    ~shared() {
        if (memory_ != nullptr) unmap();
    }
    shared(const shared&) = delete;
    shared& operator=(const shared&) = delete;
    void unmap() { in_.context->memories().remove(*std::exchange(memory_, nullptr)); }

    [[nodiscard]] mem::key key() const { return memory_->to_key(); }
    [[nodiscard]] const mem::credentials& owner() const { return memory_->owner(); }
    [[nodiscard]] std::uint64_t address(std::size_t offset = 0) const {
        return memory_->address() + offset;
    }
    [[nodiscard]] std::byte at(std::size_t offset) const { return bytes_[length + offset]; }
    [[nodiscard]] bool untouched() const {
        return bytes_ == std::vector<std::byte>(3 * length, std::byte{1});
    }
    static constexpr std::size_t length = 256;

private:
    const raw_world& in_;
    std::vector<std::byte> bytes_;
    mem::memory* memory_ = nullptr;
};

const std::vector<std::byte> eight(8, std::byte{9});

// Returns the worker's reply to a confirmation request for all messages sent so far.
ucs_status_t confirmed(raw_world& in, std::uint64_t count) {
    in.deliver(wire::rma_confirm, wire::confirm_header{in.ep_id(), count});
    const auto answers = in.peer.received<wire::confirmed_header>(wire::rma_confirmed);
    REQUIRE(!answers.empty());
    CHECK(answers.back().ep == raw_world::peer_ep);
    CHECK(answers.back().count == count);
    return static_cast<ucs_status_t>(answers.back().status);
}

// Returns a key to memory that is mapped here.
std::unique_ptr<mem::rkey> key_to(raw_world& in, const shared& memory) {
    auto made = mem::unpack(in.context->memories(), mem::pack(memory.key()).bytes.data());
    REQUIRE(made.ok());
    return std::move(*made);
}

}  // namespace

TEST_CASE("a peer writes only where its key allows it", "[ucp][rma]") {
    raw_world in = by_messages();
    const shared memory(in);
    const auto put = [&](std::uint64_t id, std::uint64_t secret, std::uint64_t address) {
        in.peer.send(wire::rma_put, wire::put_header{in.ep_id(), id, secret, address}, eight);
    };
    const auto& owner = memory.owner();
    {
        test::log_capture log;
        put(owner.id, owner.secret ^ 1, memory.address());
        CHECK(confirmed(in, 1) == UCS_ERR_INVALID_ADDR);
        put(owner.id + 1, owner.secret, memory.address());
        CHECK(confirmed(in, 2) == UCS_ERR_INVALID_ADDR);
        put(owner.id, owner.secret, memory.address() - 1);
        CHECK(confirmed(in, 3) == UCS_ERR_INVALID_ADDR);
        put(owner.id, owner.secret, memory.address(shared::length - 7));
        CHECK(confirmed(in, 4) == UCS_ERR_INVALID_ADDR);
        put(owner.id, owner.secret, ~std::uint64_t{0});
        CHECK(confirmed(in, 5) == UCS_ERR_INVALID_ADDR);
        CHECK(memory.untouched());
        CHECK(log.count("is refused") == 5);
    }
    // The failure is reported once.
    CHECK(confirmed(in, 6) == UCS_OK);
    put(owner.id, owner.secret, memory.address(shared::length - 8));
    CHECK(confirmed(in, 7) == UCS_OK);
    CHECK(memory.at(shared::length - 8) == std::byte{9});
    CHECK(memory.at(shared::length - 9) == std::byte{1});
    CHECK(memory.at(shared::length) == std::byte{1});
}

TEST_CASE("a number that a peer puts is never visible half written", "[ucp][rma]") {
    raw_world in = landing_by_bytes();
    const shared memory(in);
    const auto& owner = memory.owner();
    in.peer.send(wire::rma_put,
                 wire::put_header{in.ep_id(), owner.id, owner.secret, memory.address()}, eight);
    in.network.advance(100'000);
    while (memory.at(0) != std::byte{9})
        REQUIRE(in.worker->progress() > 0);
    CHECK(memory.at(7) == std::byte{9});
}

TEST_CASE("a put whose memory is unmapped half-way is refused", "[ucp][rma]") {
    raw_world in = landing_by_bytes();
    shared memory(in);
    const mem::credentials owner = memory.owner();
    in.peer.send(wire::rma_put,
                 wire::put_header{in.ep_id(), owner.id, owner.secret, memory.address()},
                 std::vector<std::byte>(shared::length, std::byte{9}));
    in.network.advance(100'000);
    while (memory.at(0) != std::byte{9})
        REQUIRE(in.worker->progress() > 0);
    REQUIRE(memory.at(shared::length - 1) == std::byte{1});
    memory.unmap();
    test::log_capture log;
    CHECK(confirmed(in, 1) == UCS_ERR_INVALID_ADDR);
    CHECK(log.count("is refused") == 1);
    CHECK(memory.at(shared::length - 1) == std::byte{1});
}

TEST_CASE("a peer reads only what its key allows", "[ucp][rma]") {
    raw_world in = by_messages();
    const shared memory(in, mem::may_read);
    const auto& owner = memory.owner();
    in.deliver(wire::rma_get, wire::get_header{in.ep_id(), owner.id, owner.secret, memory.address(),
                                               shared::length, 77});
    const auto data = in.peer.received<wire::get_data_header>(wire::rma_data);
    REQUIRE(!data.empty());
    CHECK(data.front().reply == 77);
    test::log_capture log;
    const auto refused = [&](const wire::get_header& header) {
        const std::size_t before = in.peer.received<wire::result_header>(wire::rma_result).size();
        in.deliver(wire::rma_get, header);
        const auto results = in.peer.received<wire::result_header>(wire::rma_result, before + 1);
        CHECK(results.back().reply == 78);
        return static_cast<ucs_status_t>(results.back().status);
    };
    CHECK(refused({in.ep_id(), owner.id, owner.secret, memory.address(), shared::length + 1, 78}) ==
          UCS_ERR_INVALID_ADDR);
    CHECK(refused({in.ep_id(), owner.id, owner.secret, memory.address(), ~std::uint64_t{0}, 78}) ==
          UCS_ERR_INVALID_ADDR);
    CHECK(refused({in.ep_id(), owner.id, 0, memory.address(), 8, 78}) == UCS_ERR_INVALID_ADDR);
    CHECK(refused({in.ep_id(), owner.id, owner.secret, memory.address(), 0, 78}) ==
          UCS_ERR_INVALID_PARAM);
    CHECK(in.peer.received<wire::get_data_header>(wire::rma_data).size() == data.size());
    // The key does not allow writing.
    in.peer.send(wire::rma_put,
                 wire::put_header{in.ep_id(), owner.id, owner.secret, memory.address()}, eight);
    CHECK(confirmed(in, 1) == UCS_ERR_REJECTED);
    CHECK(memory.untouched());
    CHECK(log.count("is refused") == 5);
}

TEST_CASE("impossible atomic operations of a peer are refused", "[ucp][rma]") {
    raw_world in = by_messages();
    const shared memory(in);
    const auto& owner = memory.owner();
    std::uint64_t reply = 100;
    test::log_capture log;
    const auto operate = [&](std::uint64_t offset, std::uint32_t operation, std::uint32_t size) {
        in.deliver(wire::rma_atomic,
                   wire::atomic_header{in.ep_id(), owner.id, owner.secret, memory.address(offset),
                                       1, 0, ++reply, operation, size});
        const auto results = in.peer.received<wire::result_header>(wire::rma_result);
        REQUIRE(!results.empty());
        CHECK(results.back().reply == reply);
        return static_cast<ucs_status_t>(results.back().status);
    };
    // The memory begins at a multiple of eight, like every vector.
    CHECK(operate(4, UCP_ATOMIC_OP_ADD, 8) == UCS_ERR_INVALID_PARAM);
    CHECK(operate(0, UCP_ATOMIC_OP_LAST, 8) == UCS_ERR_INVALID_PARAM);
    CHECK(operate(0, UCP_ATOMIC_OP_ADD, 0) == UCS_ERR_INVALID_PARAM);
    CHECK(operate(0, UCP_ATOMIC_OP_ADD, 16) == UCS_ERR_INVALID_PARAM);
    CHECK(operate(0, ~0U, 8) == UCS_ERR_INVALID_PARAM);
    CHECK(operate(shared::length, UCP_ATOMIC_OP_ADD, 8) == UCS_ERR_INVALID_ADDR);
    CHECK(memory.untouched());
    CHECK(operate(0, UCP_ATOMIC_OP_ADD, 8) == UCS_OK);
    CHECK(memory.at(0) == std::byte{2});
}

TEST_CASE("messages about remote memory that are too short or name no known object are dropped",
          "[ucp][rma]") {
    raw_world in = by_messages();
    const shared memory(in);
    const std::uint32_t little = 0;
    test::log_capture log;
    for (unsigned id = wire::rma_put; id <= wire::rma_confirmed; ++id)
        in.peer.send(static_cast<uct::am_id>(id), little);
    in.settle();
    CHECK(log.count("malformed") == 7);
    const auto& owner = memory.owner();
    in.peer.send(wire::rma_get,
                 wire::get_header{123, owner.id, owner.secret, memory.address(), 8, 7});
    in.peer.send(wire::rma_confirm, wire::confirm_header{123, 1});
    in.peer.send(wire::rma_data, wire::get_data_header{123, 0}, eight);
    in.peer.send(wire::rma_result, wire::result_header{123, 0, 0});
    in.deliver(wire::rma_confirmed, wire::confirmed_header{123, 1, 0});
    CHECK(in.peer.received<wire::get_data_header>(wire::rma_data).empty());
    CHECK(in.peer.received<wire::confirmed_header>(wire::rma_confirmed).empty());
}

TEST_CASE("a get ends when the memory that it reads is unmapped", "[ucp][rma]") {
    raw_world in = by_messages();
    std::vector<std::byte> bytes(1 << 20);
    const auto made =
        mem::map(in.context->memories(), {.address = bytes.data(), .length = bytes.size()});
    REQUIRE(made.ok());
    const mem::credentials owner = (*made)->owner();
    const wire::get_header ask{in.ep_id(),         owner.id,     owner.secret,
                               (*made)->address(), bytes.size(), 5};
    in.peer.send(wire::rma_get, ask);
    in.handle_arrivals();
    in.context->memories().remove(**made);
    in.settle();
    const auto results = in.peer.received<wire::result_header>(wire::rma_result);
    const auto data = in.peer.received<wire::get_data_header>(wire::rma_data);
    // Either the transport had taken all data before, or the peer gets the reason.
    if (!results.empty()) CHECK(results.back().status == UCS_ERR_INVALID_ADDR);
    CHECK(results.size() + data.size() > 0);
}

TEST_CASE("replies that match no request are dropped", "[ucp][rma]") {
    raw_world in = by_messages();
    const auto key = key_to_peer(in);
    const ucp_rkey_h handle = ucp::capi::handle(*key);
    std::vector<std::byte> into(64);
    completion_record read;
    REQUIRE(UCS_PTR_IS_PTR(
        ucp_get_nbx(in.ep_handle(), into.data(), into.size(), 4096, handle, read.on_send())));
    in.settle();
    const auto requests = in.peer.received<wire::get_header>(wire::rma_get, 1);
    CHECK(requests[0].ep == raw_world::peer_ep);
    CHECK(requests[0].id == 5);
    CHECK(requests[0].secret == 6);
    const std::uint64_t reply = requests[0].reply;
    test::log_capture log;
    in.peer.send(wire::rma_data, wire::get_data_header{reply, 8}, eight);  // not the next piece
    in.peer.send(wire::rma_data, wire::get_data_header{reply, 0},
                 std::vector<std::byte>(65));  // too much
    in.deliver(wire::rma_result, wire::result_header{reply, 0, 0});
    CHECK(read.times == 0);
    CHECK(log.count("came before its data") == 1);
    SECTION("the right data arrives in the end") {
        in.deliver(wire::rma_data, wire::get_data_header{reply, 0},
                   std::vector<std::byte>(64, std::byte{3}));
        CHECK(read.times == 1);
        CHECK(read.status == UCS_OK);
        CHECK(into == std::vector<std::byte>(64, std::byte{3}));
    }
    SECTION("the peer refuses") {
        in.deliver(wire::rma_result, wire::result_header{reply, UCS_ERR_REJECTED, 0});
        CHECK(read.status == UCS_ERR_REJECTED);
    }
    SECTION("the endpoint is closed") {
        in.close_by_force();
        CHECK(read.status == UCS_ERR_CANCELED);
        in.deliver(wire::rma_data, wire::get_data_header{reply, 0}, std::vector<std::byte>(64));
        CHECK(read.times == 1);
    }
}

TEST_CASE("the next flush returns the error of an operation without a request", "[ucp][rma]") {
    raw_world in = by_messages();
    const auto key = key_to_peer(in);
    const bool flush_worker = GENERATE(false, true);
    const auto flush = [&] {
        return flush_worker ? ucp_worker_flush_nbx(in.worker_handle(), &plain)
                            : ucp_ep_flush_nbx(in.ep_handle(), &plain);
    };
    std::uint64_t into = 0;
    REQUIRE(ucp_get_nbi(in.ep_handle(), &into, 8, 4096, ucp::capi::handle(*key)) == UCS_INPROGRESS);
    in.settle();
    const auto requests = in.peer.received<wire::get_header>(wire::rma_get, 1);
    const auto refuse = [&] {
        in.deliver(wire::rma_result, wire::result_header{requests[0].reply, UCS_ERR_REJECTED, 0});
    };
    SECTION("a later flush") {
        refuse();
        CHECK(flush() == UCS_STATUS_PTR(UCS_ERR_REJECTED));
    }
    SECTION("a flush that waits for the operation") {
        const ucs_status_ptr_t waiting = flush();
        REQUIRE(UCS_PTR_IS_PTR(waiting));
        refuse();
        CHECK(ucp_request_check_status(waiting) == UCS_ERR_REJECTED);
        ucp_request_free(waiting);
    }
    // The error is returned once.
    CHECK(flush() == nullptr);
}

TEST_CASE("a flush waits until the peer has confirmed the messages", "[ucp][rma]") {
    completion_record flushed;  // outlives the worker, whose end completes it
    raw_world in = by_messages();
    const auto key = key_to_peer(in);
    const ucp_rkey_h handle = ucp::capi::handle(*key);
    const std::uint64_t number = 1;
    REQUIRE(ucp_put_nbi(in.ep_handle(), &number, 8, 4096, handle) >= UCS_OK);
    REQUIRE(UCS_PTR_IS_PTR(ucp_ep_flush_nbx(in.ep_handle(), flushed.on_send())));
    in.settle();
    CHECK(in.peer.received<wire::put_header>(wire::rma_put).size() == 1);
    const auto requests = in.peer.received<wire::confirm_header>(wire::rma_confirm, 1);
    CHECK(flushed.times == 0);
    test::log_capture log;
    SECTION("a wrong count is ignored") {
        in.deliver(wire::rma_confirmed,
                   wire::confirmed_header{in.ep_id(), requests[0].count + 1, 0});
        CHECK(flushed.times == 0);
        CHECK(log.count("was not asked") == 1);
    }
    SECTION("a failure at the peer fails the flush") {
        in.deliver(wire::rma_confirmed,
                   wire::confirmed_header{in.ep_id(), requests[0].count, UCS_ERR_REJECTED});
        CHECK(flushed.status == UCS_ERR_REJECTED);
    }
    SECTION("a closed endpoint is not waited for, and its late reply is no mistake") {
        in.close_by_force();
        CHECK(flushed.status == UCS_ERR_CANCELED);
        in.deliver(wire::rma_confirmed,
                   wire::confirmed_header{in.ep_id(), requests[0].count, UCS_OK});
        CHECK(log.count("was not asked") == 0);
    }
}

TEST_CASE("repeated tries behind a fence succeed in the end", "[ucp][rma]") {
    raw_world in = by_messages();
    const shared own(in);
    const auto remote = key_to_peer(in);
    const auto mapped = key_to(in, own);
    const std::uint64_t number = 1;
    REQUIRE(ucp_put_nbi(in.ep_handle(), &number, 8, 4096, ucp::capi::handle(*remote)) >= UCS_OK);
    REQUIRE(ucp_worker_fence(in.worker_handle()) == UCS_OK);
    ucp_request_param_t now{};
    now.op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;
    const auto put = [&] {
        return ucp_put_nbx(in.ep_handle(), &number, 8, own.address(), ucp::capi::handle(*mapped),
                           &now);
    };
    CHECK(put() == UCS_STATUS_PTR(UCS_ERR_NO_RESOURCE));
    in.settle();
    const auto requests = in.peer.received<wire::confirm_header>(wire::rma_confirm, 1);
    in.deliver(wire::rma_confirmed, wire::confirmed_header{in.ep_id(), requests[0].count, UCS_OK});
    CHECK(own.untouched());
    CHECK(put() == nullptr);
    CHECK_FALSE(own.untouched());
}

TEST_CASE("a flush after loads and stores does not wait for the connection", "[ucp][rma]") {
    raw_world in = by_messages();
    const shared own(in);
    const auto mapped = key_to(in, own);
    const ucp_ep_h second = in.make_ep();
    REQUIRE(ucp_put_nbi(second, eight.data(), 8, own.address(), ucp::capi::handle(*mapped)) ==
            UCS_OK);
    REQUIRE(ucp::wireup::state_of(ucp::capi::from(second)) == ucp::wireup::state::requested);
    CHECK(ucp_ep_flush_nbx(second, &plain) == nullptr);
    CHECK(ucp_worker_flush_nbx(in.worker_handle(), &plain) == nullptr);
}

TEST_CASE("a peer that waits for data gets an error when the endpoint is closed by force",
          "[ucp][rma]") {
    raw_world in({}, {.tx_window = 1});
    std::vector<std::byte> bytes(1 << 20);
    const auto made =
        mem::map(in.context->memories(), {.address = bytes.data(), .length = bytes.size()});
    REQUIRE(made.ok());
    const mem::credentials owner = (*made)->owner();
    in.peer.send(wire::rma_get, wire::get_header{in.ep_id(), owner.id, owner.secret,
                                                 (*made)->address(), bytes.size(), 5});
    in.handle_arrivals();
    in.close_by_force();
    in.settle();
    const auto results = in.peer.received<wire::result_header>(wire::rma_result, 1);
    CHECK(results[0].reply == 5);
    CHECK(results[0].status == UCS_ERR_CONNECTION_RESET);
}

TEST_CASE("an endpoint that was closed before the peer's reply serves the peer until it closes",
          "[ucp][rma]") {
    raw_world in = by_messages();
    const shared memory(in);
    const ucp_ep_h second = in.make_ep();
    const std::uint64_t id = ucp::capi::from(second).id();
    completion_record sent;
    REQUIRE(UCS_PTR_IS_PTR(ucp_tag_send_nbx(second, eight.data(), 8, 1, sent.on_send())));
    raw_world::close_by_force(second);
    constexpr std::uint64_t other = 78;  // the peer's id of its endpoint
    in.peer.send(wire::wireup_type::reply, other, id);
    in.peer.send(wire::rma_put,
                 wire::put_header{id, memory.owner().id, memory.owner().secret, memory.address()},
                 eight);
    in.peer.send(wire::rma_confirm, wire::confirm_header{id, 1});
    in.deliver(wire::rma_get, wire::get_header{id, memory.owner().id, memory.owner().secret,
                                               memory.address(), 8, 5});
    const auto answers = in.peer.received<wire::confirmed_header>(wire::rma_confirmed, 1);
    CHECK(answers[0].ep == other);
    CHECK(in.peer.received<wire::get_data_header>(wire::rma_data).size() == 1);
}

TEST_CASE("a put is copied where the transport's headers are too short for zero-copy",
          "[ucp][rma]") {
    uct::sim::parameters network;
    network.ops.bits &= ~static_cast<std::uint32_t>(uct::op::get_zcopy);
    network.max_zcopy_header = sizeof(wire::put_header) - 1;
    raw_world in({{"ZCOPY_THRESH", "0"}}, network);
    const auto key = key_to_peer(in);
    completion_record done;
    const std::vector<std::byte> data(4096);
    const ucs_status_ptr_t put = ucp_put_nbx(in.ep_handle(), data.data(), data.size(), 4096,
                                             ucp::capi::handle(*key), done.on_send());
    CHECK_FALSE(UCS_PTR_IS_ERR(put));
    in.settle();
    CHECK((put == nullptr || done.status == UCS_OK));
    CHECK(in.peer.received<wire::put_header>(wire::rma_put).size() == 1);
}
