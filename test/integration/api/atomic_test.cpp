// Atomic operations, and the order of operations on remote memory.
#include <atomic>
#include <thread>

#include "test/integration/api/remote.hpp"

using namespace api;

namespace {

template<class Number>
Number read(const remote_memory& from, std::size_t offset = 0) {
    Number number;
    std::memcpy(&number, from.base() + offset, sizeof number);
    return number;
}

template<class Number>
void write(const remote_memory& to, Number number, std::size_t offset = 0) {
    std::memcpy(to.base() + offset, &number, sizeof number);
}

template<class Number>
struct step {
    ucp_atomic_op_t operation;
    Number operand;
    Number swap;
    Number after;
};

// Operations that are applied in sequence, beginning with the value 0x0ff0.
template<class Number>
std::vector<step<Number>> steps() {
    const auto high = static_cast<Number>(Number{1} << (8 * sizeof(Number) - 1));
    return {{UCP_ATOMIC_OP_ADD, high, 0, static_cast<Number>(0x0ff0 + high)},
            {UCP_ATOMIC_OP_ADD, high, 0, 0x0ff0},
            {UCP_ATOMIC_OP_AND, 0x00ff, 0, 0x00f0},
            {UCP_ATOMIC_OP_OR, 0x1200, 0, 0x12f0},
            {UCP_ATOMIC_OP_XOR, 0x0230, 0, 0x10c0},
            {UCP_ATOMIC_OP_SWAP, 0x7777, 0, 0x7777},
            {UCP_ATOMIC_OP_CSWAP, 0x7777, 0x1111, 0x1111},
            {UCP_ATOMIC_OP_CSWAP, 0x7777, 0x2222, 0x1111}};
}

template<class Number>
void check_all_operations(const remote_world& in, const remote_memory& remote) {
    write<Number>(remote, 0x0ff0, 8);
    write<Number>(remote, 0x5a5a, 8 - sizeof(Number));
    write<Number>(remote, 0x5a5a, 8 + sizeof(Number));
    Number before = 0x0ff0;
    for (const step<Number>& each : steps<Number>()) {
        Number reply = each.swap;
        params options = params().type(ucp_dt_make_contig(sizeof(Number)));
        options.flag(UCP_OP_ATTR_FIELD_REPLY_BUFFER).reply_buffer = &reply;
        REQUIRE(in.finish(ucp_atomic_op_nbx(in.ep, each.operation, &each.operand, 1,
                                            remote.address(8), remote.key(), &options)) == UCS_OK);
        CHECK(reply == before);
        CHECK(read<Number>(remote, 8) == each.after);
        before = each.after;
    }
    CHECK(read<Number>(remote, 8 - sizeof(Number)) == 0x5a5a);
    CHECK(read<Number>(remote, 8 + sizeof(Number)) == 0x5a5a);
}

// Makes progress for the owner of the memory in another thread, until the end of its scope.
class helping_owner {
public:
    explicit helping_owner(const remote_world& in) {
        if (in.target == in.worker) return;
        thread_ = std::thread([this, target = in.target] {
            while (!stop_) {
                if (ucp_worker_progress(target) == 0) std::this_thread::yield();
            }
        });
    }
    ~helping_owner() {
        stop_ = true;
        if (thread_.joinable()) thread_.join();
    }

private:
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

template<class Number>
using blocking_add = ucs_status_t (*)(ucp_ep_h, Number, std::uint64_t, ucp_rkey_h);
template<class Number>
using blocking_fetch = ucs_status_t (*)(ucp_ep_h, Number, std::uint64_t, ucp_rkey_h, Number*);
template<class Number>
using blocking_cswap = ucs_status_t (*)(ucp_ep_h, Number, Number, std::uint64_t, ucp_rkey_h,
                                        Number*);

// The last operation reads the value, because the owner of the memory writes in its own thread.
template<class Number>
void check_blocking(const remote_world& in, const remote_memory& remote, blocking_add<Number> add,
                    blocking_fetch<Number> fadd, blocking_fetch<Number> swap,
                    blocking_cswap<Number> cswap) {
    const std::uint64_t address = remote.address(8);
    const ucp_rkey_h key = remote.key();
    const auto high = static_cast<Number>(Number{1} << (8 * sizeof(Number) - 1));
    Number before = 0;
    REQUIRE(swap(in.ep, 100, address, key, &before) == UCS_OK);
    CHECK(add(in.ep, high, address, key) == UCS_OK);
    CHECK(fadd(in.ep, high, address, key, &before) == UCS_OK);
    CHECK(before == static_cast<Number>(100 + high));
    CHECK(swap(in.ep, 7, address, key, &before) == UCS_OK);
    CHECK(before == 100);
    CHECK(cswap(in.ep, 8, 9, address, key, &before) == UCS_OK);  // comparand and new value
    CHECK(before == 7);
    CHECK(cswap(in.ep, 7, 8, address, key, &before) == UCS_OK);
    CHECK(before == 7);
    CHECK(fadd(in.ep, 0, address, key, &before) == UCS_OK);
    CHECK(before == 8);

    const captured_output log;
    before = 55;
    for (const std::uint64_t unaligned : {address + 1, address + sizeof(Number) / 2}) {
        CHECK(add(in.ep, 1, unaligned, key) == UCS_ERR_INVALID_PARAM);
        CHECK(fadd(in.ep, 1, unaligned, key, &before) == UCS_ERR_INVALID_PARAM);
        CHECK(swap(in.ep, 1, unaligned, key, &before) == UCS_ERR_INVALID_PARAM);
        CHECK(cswap(in.ep, 1, 2, unaligned, key, &before) == UCS_ERR_INVALID_PARAM);
    }
    CHECK(fadd(in.ep, 1, address, key, nullptr) == UCS_ERR_INVALID_PARAM);
    CHECK(before == 55);
    CHECK(fadd(in.ep, 0, address, key, &before) == UCS_OK);
    CHECK(before == 8);
}

}  // namespace

TEST_CASE("atomic operations change a number and fetch the previous value") {
    const remote_world in;
    const remote_memory remote(in, 64, GENERATE(false, true));
    check_all_operations<std::uint32_t>(in, remote);
    check_all_operations<std::uint64_t>(in, remote);
}

TEST_CASE("the older forms of atomic operations") {
    const remote_world in;
    const remote_memory remote(in, 64, GENERATE(false, true));
    write<std::uint64_t>(remote, 100);
    const std::uint64_t address = remote.address();
    const ucp_rkey_h key = remote.key();
    // The first operation finds no connection yet.
    const auto posted = [&](ucp_atomic_post_op_t operation, std::uint64_t value, std::size_t size) {
        CHECK(ucp_atomic_post(in.ep, operation, value, size, address, key) == UCS_OK);
        REQUIRE(in.flush() == UCS_OK);
        return read<std::uint64_t>(remote);
    };
    CHECK(posted(UCP_ATOMIC_POST_OP_ADD, 28, 8) == 128);
    CHECK(posted(UCP_ATOMIC_POST_OP_OR, 3, 4) == 131);
    CHECK(posted(UCP_ATOMIC_POST_OP_AND, 0xfe, 8) == 130);
    CHECK(posted(UCP_ATOMIC_POST_OP_XOR, 2, 4) == 128);

    std::uint64_t result = 0;
    const auto fetched = [&](ucp_atomic_fetch_op_t operation, std::uint64_t value) {
        REQUIRE(in.finish(ucp_atomic_fetch_nb(in.ep, operation, value, &result, 8, address, key,
                                              nullptr)) == UCS_OK);
        return result;
    };
    CHECK(fetched(UCP_ATOMIC_FETCH_OP_FADD, 1) == 128);
    CHECK(fetched(UCP_ATOMIC_FETCH_OP_FOR, 2) == 129);
    CHECK(fetched(UCP_ATOMIC_FETCH_OP_FXOR, 1) == 131);
    CHECK(fetched(UCP_ATOMIC_FETCH_OP_FAND, 0xff) == 130);
    CHECK(fetched(UCP_ATOMIC_FETCH_OP_SWAP, 7) == 130);
    result = 99;
    CHECK(fetched(UCP_ATOMIC_FETCH_OP_CSWAP, 7) == 7);
    CHECK(read<std::uint64_t>(remote) == 99);
}

TEST_CASE("the blocking forms of atomic operations") {
    const remote_world in;
    const remote_memory remote(in, 64, GENERATE(false, true));
    {
        // They make progress only for their own worker, so the owner of the memory may have to
        // help.
        const helping_owner helper(in);
        check_blocking<std::uint32_t>(in, remote, ucp_atomic_add32, ucp_atomic_fadd32,
                                      ucp_atomic_swap32, ucp_atomic_cswap32);
        check_blocking<std::uint64_t>(in, remote, ucp_atomic_add64, ucp_atomic_fadd64,
                                      ucp_atomic_swap64, ucp_atomic_cswap64);
    }
    REQUIRE(in.flush() == UCS_OK);
}

TEST_CASE("many additions through several endpoints are all counted") {
    const remote_world in;
    const remote_memory remote(in, 64, GENERATE(false, true));
    const ucp_ep_h second = make_ep(in.worker, in.target);
    const unpacked_rkey key(second, remote.packed());
    std::vector<std::uint64_t> seen(1000);
    for (std::size_t i = 0; i < seen.size(); ++i) {
        REQUIRE(ucp_atomic_post(i % 2 == 0 ? in.ep : second, UCP_ATOMIC_POST_OP_ADD, 1, 8,
                                remote.address(), i % 2 == 0 ? remote.key() : key) >= UCS_OK);
        params options = params().type(ucp_dt_make_contig(8));
        options.flag(UCP_OP_ATTR_FIELD_REPLY_BUFFER).reply_buffer = &seen[i];
        const std::uint64_t one = 1;
        const ucs_status_ptr_t started =
            ucp_atomic_op_nbx(second, UCP_ATOMIC_OP_ADD, &one, 1, remote.address(8), key, &options);
        REQUIRE(!UCS_PTR_IS_ERR(started));
        if (started != nullptr) ucp_request_free(started);
    }
    REQUIRE(in.flush_worker() == UCS_OK);
    CHECK(read<std::uint64_t>(remote) == seen.size());
    CHECK(read<std::uint64_t>(remote, 8) == seen.size());
    for (std::size_t i = 0; i < seen.size(); ++i)
        REQUIRE(seen[i] == i);  // one endpoint, so in order
    REQUIRE(in.finish(ucp_ep_close_nb(second, UCP_EP_CLOSE_MODE_FLUSH)) == UCS_OK);
}

TEST_CASE("impossible atomic operations are refused") {
    const remote_world in;
    const remote_memory remote(in, 64, GENERATE(false, true));
    const std::uint64_t one = 1;
    std::uint64_t reply = 0;
    const auto op = [&](ucp_atomic_op_t operation, std::size_t size, std::size_t count,
                        std::size_t offset, bool fetch) {
        params options = params().type(ucp_dt_make_contig(size));
        if (fetch) options.flag(UCP_OP_ATTR_FIELD_REPLY_BUFFER).reply_buffer = &reply;
        captured_output log;
        return in.finish(ucp_atomic_op_nbx(in.ep, operation, &one, count, remote.address(offset),
                                           remote.key(), &options));
    };
    CHECK(op(UCP_ATOMIC_OP_ADD, 8, 1, 0, false) == UCS_OK);
    CHECK(op(UCP_ATOMIC_OP_ADD, 8, 1, 4, false) == UCS_ERR_INVALID_PARAM);
    CHECK(op(UCP_ATOMIC_OP_ADD, 4, 1, 2, true) == UCS_ERR_INVALID_PARAM);
    CHECK(op(UCP_ATOMIC_OP_ADD, 2, 1, 0, false) == UCS_ERR_INVALID_PARAM);
    CHECK(op(UCP_ATOMIC_OP_ADD, 8, 2, 0, false) == UCS_ERR_INVALID_PARAM);
    CHECK(op(UCP_ATOMIC_OP_LAST, 8, 1, 0, true) == UCS_ERR_INVALID_PARAM);
    CHECK(op(UCP_ATOMIC_OP_SWAP, 8, 1, 0, false) == UCS_ERR_INVALID_PARAM);
    CHECK(op(UCP_ATOMIC_OP_CSWAP, 8, 1, 0, false) == UCS_ERR_INVALID_PARAM);
    CHECK(op(UCP_ATOMIC_OP_ADD, 8, 1, 64, false) == UCS_ERR_INVALID_ADDR);
    captured_output log;
    CHECK(ucp_atomic_post(in.ep, UCP_ATOMIC_POST_OP_ADD, 1, 8, remote.address(4), remote.key()) ==
          UCS_ERR_INVALID_PARAM);
    CHECK(ucp_atomic_post(in.ep, UCP_ATOMIC_POST_OP_LAST, 1, 8, remote.address(), remote.key()) ==
          UCS_ERR_INVALID_PARAM);
    const remote_memory readable(in, 64, false, UCP_MEM_MAP_PROT_REMOTE_READ);
    CHECK(ucp_atomic_post(in.ep, UCP_ATOMIC_POST_OP_ADD, 1, 8, readable.address(),
                          readable.key()) == UCS_ERR_REJECTED);
    CHECK(in.flush() == UCS_OK);
}

// The data takes a different path from the flag, if there is one.
TEST_CASE("an operation after a fence is not visible before the operations in front of it") {
    const remote_world in;
    const bool flag_allocated = GENERATE(false, true);
    constexpr std::size_t length = 200000;
    const remote_memory remote(in, length, false);
    const remote_memory flag(in, 64, flag_allocated);
    for (std::uint64_t round = 1; round <= 20; ++round) {
        const auto data = pattern(length, static_cast<unsigned>(round));
        REQUIRE(ucp_put_nbi(in.ep, data.data(), length, remote.address(), remote.key()) >= UCS_OK);
        REQUIRE(ucp_atomic_post(in.ep, UCP_ATOMIC_POST_OP_ADD, 1, 8, flag.address(8), flag.key()) >=
                UCS_OK);
        REQUIRE(ucp_worker_fence(in.worker) == UCS_OK);
        const ucs_status_t put = ucp_put_nbi(in.ep, &round, 8, flag.address(), flag.key());
        REQUIRE(put >= UCS_OK);
        REQUIRE(in.progress_until([&] { return read<std::uint64_t>(flag) == round; }));
        REQUIRE(std::memcmp(remote.base(), data.data(), length) == 0);
        REQUIRE(read<std::uint64_t>(flag, 8) == round);
    }
    REQUIRE(in.flush() == UCS_OK);
}

TEST_CASE("several fences in a row keep their order") {
    const remote_world in;
    const remote_memory remote(in, 4096, false);
    const remote_memory mapped(in, 4096, true);
    std::vector<std::uint64_t> got(50);
    for (std::uint64_t i = 0; i < got.size(); ++i) {
        // The get reads the value that the operations before the last fence left.
        const remote_memory& target = i % 3 == 0 ? mapped : remote;
        REQUIRE(ucp_put_nbi(in.ep, &i, 0, target.address(), target.key()) >= UCS_OK);
        REQUIRE(ucp_atomic_post(in.ep, UCP_ATOMIC_POST_OP_ADD, 1, 8, remote.address(),
                                remote.key()) >= UCS_OK);
        REQUIRE(ucp_worker_fence(in.worker) == UCS_OK);
        REQUIRE(ucp_get_nbi(in.ep, &got[i], 8, remote.address(), remote.key()) >= UCS_OK);
        REQUIRE(ucp_worker_fence(in.worker) == UCS_OK);
        REQUIRE(ucp_atomic_post(in.ep, UCP_ATOMIC_POST_OP_ADD, 1, 8, mapped.address(),
                                mapped.key()) >= UCS_OK);
        REQUIRE(ucp_worker_fence(in.worker) == UCS_OK);
    }
    REQUIRE(in.flush_worker() == UCS_OK);
    for (std::uint64_t i = 0; i < got.size(); ++i)
        CHECK(got[i] == i + 1);
    CHECK(read<std::uint64_t>(mapped) == got.size());
}

TEST_CASE("an endpoint is closed while operations are in flight") {
    remote_world in;
    const remote_memory remote(in, 300000, GENERATE(false, true));
    const auto data = pattern(300000, 9);
    REQUIRE(ucp_put_nbi(in.ep, data.data(), data.size(), remote.address(), remote.key()) >= UCS_OK);
    REQUIRE(in.finish(ucp_ep_close_nb(std::exchange(in.ep, nullptr), UCP_EP_CLOSE_MODE_FLUSH)) ==
            UCS_OK);
    CHECK(std::memcmp(remote.base(), data.data(), data.size()) == 0);
}
