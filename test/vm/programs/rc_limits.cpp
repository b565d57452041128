// rc_verbs at the limits of its queues and buffers, its settings, and error handling that only this
// transport has. The conformance suite tests what all transports have in common.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/support/log_capture.hpp"
#include "test/vm/programs/limits.hpp"
#include "ucs/memory/dmabuf.hpp"
#include "ucs/memory/mapped.hpp"
#include "ucs/sys/text_file.hpp"
#include "uct/ib/rc/base/ep.hpp"

using namespace conformance;
namespace wire = uct::rc::wire;

namespace {

class rc_verbs final : public on_device {
public:
    explicit rc_verbs(std::initializer_list<setting> settings = {})
        : on_device("rc_verbs", {"RC_VERBS_TIMEOUT", "60ms"}, settings) {}
};

// Logs all failures during its lifetime.
struct talkative {
    talkative() { REQUIRE(ucs::log::set_level("diag") == UCS_OK); }
    ~talkative() { ucs::log::set_level("warn"); }
};

// How often the first device reported that a receiver had no buffer.
long long refusals_for_want_of_buffers() {
    return ucs::sys::read_number("/sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_rnr_err")
        .value_or(0);
}

// Sends until there are no resources, without any progress. Returns the number of messages.
std::uint32_t fill(two_sides<rc_verbs>& in, uct::ep& via, std::uint32_t stream) {
    constexpr std::uint32_t limit = 100'000;
    std::uint32_t sent = 0;
    while (sent < limit && in.try_short(via, {stream, sent}) == UCS_OK)
        ++sent;
    REQUIRE(in.out.last_status() == UCS_ERR_NO_RESOURCE);
    return sent;
}

// A counter of memory that is registered for operations.
std::string registrations(side& side, const std::string& counter) {
    return vfs_text(side.iface(), "memory_domain/registrations/counters/" + counter);
}

std::string received_buffers(side& side, const std::string& which) {
    return vfs_text(side.iface(), "receive_pool/" + which);
}

wire::connection_data data_of(const uct::ep& which) {
    bytes data(wire::connection_data::size);
    which.pack_connection(data);
    return *wire::connection_data::parse(data);
}

std::string number_of_pair(const uct::ep& endpoint) {
    return fmt::format("{:#x}", data_of(endpoint).qp_number);
}

// Makes an endpoint to a queue pair that does not exist at the peer, and destroys it.
void connect_to_nobody(side& from, const side& to) {
    auto made = from.iface().create_ep(to.address());
    REQUIRE(made);
    wire::connection_data nobody = data_of(**made);
    nobody.qp_number = 0xfffffe;
    bytes data(wire::connection_data::size);
    nobody.pack(data);
    REQUIRE((*made)->connect_to(data) == UCS_OK);
}

// The credits that all endpoints of an interface share; devices may grant more than requested.
struct credits_shown {
    explicit credits_shown(side& side) {
        const std::string text = vfs_text(side.iface(), "send_requests");  // "1 of 127"
        used = std::stoul(text);
        all = std::stoul(text.substr(text.rfind(' ')));
    }
    unsigned long used, all;
};

// A queue pair outside of any transport, used by libibverbs' newer functions: soft RoCE's driver
// does not check their requests.
class bare_pair {
public:
    explicit bare_pair(uct::ib::domain& on)
        : done_(ibv_create_cq(&on.context(), 4, nullptr, nullptr, 0)) {
        ibv_qp_init_attr_ex init{};
        init.send_cq = init.recv_cq = done_.get();
        init.cap.max_send_wr = 4;
        init.cap.max_send_sge = init.cap.max_recv_wr = init.cap.max_recv_sge = 1;
        init.qp_type = IBV_QPT_RC;
        init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
        init.pd = &on.pd();
        init.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
        pair_.reset(ibv_create_qp_ex(&on.context(), &init));
        REQUIRE(pair_ != nullptr);
    }
    void connect(uct::ep& to, const bytes& its_address, std::uint8_t gid_index) {
        bytes data(wire::connection_data::size);
        to.pack_connection(data);
        const auto peer_data = wire::connection_data::parse(data);
        wire::connection_data own_data;
        own_data.qp_number = pair_->qp_num;
        own_data.mtu = peer_data->mtu;
        own_data.pack(data);
        REQUIRE(to.connect_to(data) == UCS_OK);
        uct::rc::port_setup port;
        port.gid_index = gid_index;
        port.mtu = static_cast<ibv_mtu>(own_data.mtu);
        const auto options = ucs::config::load<uct::rc::settings>(ucs::config::source::empty());
        const auto peer = uct::ib::address::parse(its_address);
        for (uct::rc::transition each :
             {to_init(port, true), to_receive(port, *options, *peer, *peer_data),
              to_send(port, *options, *peer, own_data)})
            REQUIRE(ibv_modify_qp(pair_.get(), &each.attr, each.mask) == 0);
    }
    // Adds 1 to a word of remote memory at any address; the old value goes to `before`.
    ibv_wc_status add_one(const uct::remote_place& target, const ibv_mr& before) {
        static void* const library = ::dlopen("libibverbs.so.1", RTLD_NOW | RTLD_NOLOAD);
        const auto extended =
            reinterpret_cast<ibv_qp_ex* (*)(ibv_qp*)>(::dlsym(library, "ibv_qp_to_qp_ex"));
        ibv_qp_ex* const post = extended(pair_.get());
        ibv_wr_start(post);
        post->wr_flags = IBV_SEND_SIGNALED;
        const auto& region = static_cast<const uct::ib::remote_region&>(*target.in);
        ibv_wr_atomic_fetch_add(post, region.key(), target.address, 1);
        ibv_wr_set_sge(post, before.lkey, reinterpret_cast<std::uint64_t>(before.addr), 8);
        REQUIRE(ibv_wr_complete(post) == 0);
        ibv_wc end{};
        REQUIRE(becomes_true([&] { return ibv_poll_cq(done_.get(), 1, &end) == 1; }));
        return end.status;
    }

private:
    uct::ib::queue_handle done_;
    uct::ib::pair_handle pair_;
};

// An endpoint, and memory of the peer as the target of its puts.
struct put_scene : two_sides<rc_verbs> {
    using two_sides::two_sides;
    void put(std::span<std::byte> from) {
        const uct::iov piece{from.data(), from.size()};
        finish(net, [&](uct::completion* done) {
            return via->put_zcopy({&piece, 1}, target.at(0), done);
        });
    }

    static constexpr std::size_t length = 20'000;
    const std::unique_ptr<uct::ep> via{a.connect(b)};
    bytes remote = bytes(length);
    const accessible_memory target{b, a, remote};
};

// Connections of which only a goodbye is pending, see uct::rc::iface::leave.
constexpr std::uint32_t most_leaving = 256;

}  // namespace

TEST_CASE("a message that is longer than the receiver's buffers ends its endpoint alone") {
    rc_verbs usual;
    rc_verbs narrow({{"RC_VERBS_SEG_SIZE", "2k"}});
    const test::log_capture log;
    network senders(usual);
    network receivers(narrow);
    side& a = senders.at(0);
    side& b = receivers.at(0);
    const auto both = [&](const std::function<bool()>& done) {
        return senders.run_until([&] { return receivers.progress(), done(); });
    };
    const auto broken = a.connect(b);
    const auto kept = a.connect(b);
    sender out(senders);
    REQUIRE(out.try_send(a, *broken, uct::op::am_bcopy, 1, make_message({1, 0}, 2047)) == UCS_OK);
    REQUIRE(both([&] { return b.count(1) == 1; }));
    REQUIRE(out.try_send(a, *broken, uct::op::am_bcopy, 1, make_message({1, 1}, 2048)) == UCS_OK);
    REQUIRE(both([&] { return !a.failures.empty(); }));
    CHECK(a.failures.size() == 1);
    CHECK(a.failures.front().which == broken.get());
    // A card reports an invalid request, soft RoCE that it could not execute the request.
    const ucs_status_t status = a.failures.front().status;
    CHECK((status == UCS_ERR_REJECTED || status == UCS_ERR_CONNECTION_RESET));
    CHECK(out.try_send(a, *broken, uct::op::am_bcopy, 1, make_message({1, 2}, 16)) == status);
    CHECK(b.count(1) == 1);
    CHECK(log.count("was not received") + log.count("is broken") >= 1);
    REQUIRE(out.try_send(a, *kept, uct::op::am_bcopy, 1, make_message({2, 0}, 2047)) == UCS_OK);
    REQUIRE(both([&] { return b.count(2) == 1; }));
}

TEST_CASE("a receiver that does not progress loses nothing, and its senders wait") {
    two_sides<rc_verbs> in({{"RC_VERBS_FC_ENABLE", "n"},
                            {"RC_VERBS_RX_QUEUE_LEN", "8"},
                            {"RC_VERBS_RX_BUFS_FIRST", "8"},
                            {"RC_VERBS_TX_QUEUE_LEN", "64"}});
    const auto via = in.a.connect(in.b);
    const auto other = in.a.connect(in.b);
    const long long before = refusals_for_want_of_buffers();
    const std::uint32_t sent = fill(in, *via, 1);
    CHECK(sent > 8);
    CHECK(becomes_true([&] { return in.a.progress(), refusals_for_want_of_buffers() > before; }));
    CHECK(in.b.inbox.empty());
    REQUIRE(in.net.run_until([&] { return in.b.count(1) == sent; }));
    CHECK(in_order(in.b, 1, sent));
    in.check_message(*via, in.b, 2);
    in.check_message(*other, in.b, 3);
    CHECK(in.a.failures.empty());
}

TEST_CASE("a sender is no further ahead of its receiver than its window") {
    two_sides<rc_verbs> in({{"RC_VERBS_FC_WND_SIZE", "6"}});
    const auto via = in.a.connect(in.b);
    CHECK(fill(in, *via, 1) == 6);
    for (int turn = 0; turn < 1000; ++turn)
        in.a.progress();
    CHECK(in.try_short(*via, {1, 6}) == UCS_ERR_NO_RESOURCE);
    REQUIRE(in.net.run_until([&] { return in.b.count(1) == 6; }));
    REQUIRE(in.send_short(*via, {1, 6}));
    REQUIRE(in.net.run_until([&] { return in.b.count(1) == 7; }));
    CHECK(in_order(in.b, 1, 7));
}

TEST_CASE(
    "the smallest completion queue is not overrun by many endpoints, not even by broken ones") {
    two_sides<rc_verbs> in({{"RC_VERBS_TX_CQ_LEN", "4"}});
    constexpr std::uint32_t endpoints = 16, rounds = 40;
    std::vector<std::unique_ptr<uct::ep>> eps;
    bytes memory(endpoints * 8);
    const accessible_memory target(in.net.at(1), in.a, memory);
    for (std::uint32_t i = 0; i < endpoints; ++i)
        eps.push_back(in.a.connect(in.net.at(1 + i % 2)));
    for (std::uint32_t round = 0; round < rounds; ++round) {
        for (std::uint32_t i = 0; i < endpoints; ++i) {
            REQUIRE(in.send_short(*eps[i], {i, round}));
            if (i % 2 != 0) continue;  // the memory belongs to the first side
            const std::uint64_t word = std::uint64_t{round} << 32U | i;
            REQUIRE(in.net.run_until([&] {
                return eps[i]->put_short(&word, sizeof word, target.at(8 * i)) !=
                       UCS_ERR_NO_RESOURCE;
            }));
        }
    }
    REQUIRE(in.net.run_until([&] {
        return in.net.at(1).inbox.size() + in.net.at(2).inbox.size() == endpoints * rounds;
    }));
    for (std::uint32_t i = 0; i < endpoints; ++i)
        CHECK(in_order(in.net.at(1 + i % 2), i, rounds));
    // Half of the connections break with all of their operations.
    for (std::uint32_t i = 0; i < endpoints; ++i)
        static_cast<void>(in.try_short(*eps[i], {i, rounds}));
    in.net.remove(2);
    REQUIRE(in.net.run_until([&] {
        for (std::uint32_t i = 1; i < endpoints; i += 2)
            static_cast<void>(in.try_short(*eps[i], {i, 999}));
        return in.a.failures.size() == endpoints / 2;
    }));
    std::uint64_t last = 0;
    std::memcpy(&last, memory.data(), sizeof last);
    CHECK(last == std::uint64_t{rounds - 1} << 32U);
    for (std::uint32_t i = 0; i < endpoints; i += 2)
        in.check_message(*eps[i], in.net.at(1), 100 + i);
    CHECK(in.a.failures.size() == endpoints / 2);
}

TEST_CASE("peers that post no receives do not keep others from being sent to") {
    two_sides<rc_verbs> in({{"RC_VERBS_TX_CQ_LEN", "64"},
                            {"RC_VERBS_TX_QUEUE_LEN", "64"},
                            {"RC_VERBS_LINGER", "100ms"}});
    const auto kept = in.a.connect(in.b);
    auto& device = dynamic_cast<uct::ib::domain&>(*in.a.iface().domain());
    const auto gid_index =
        static_cast<std::uint8_t>(std::stoi(vfs_text(in.a.iface(), "gid_index")));
    std::vector<std::unique_ptr<bare_pair>> peers;
    std::vector<std::unique_ptr<uct::ep>> eps;
    for (std::uint32_t i = 0; i < 10; ++i) {
        auto made = in.a.iface().create_ep(in.a.address());
        REQUIRE(made);
        peers.push_back(std::make_unique<bare_pair>(device));
        peers.back()->connect(**made, in.a.address(), gid_index);
        eps.push_back(std::move(*made));
        CHECK(fill(in, *eps.back(), i) > 0);
    }
    for (std::uint32_t i = 100; i < 110; ++i)
        in.check_message(*kept, in.b, i);
    // Messages to them are given up some time after their endpoints were destroyed.
    eps.clear();
    REQUIRE(becomes_true([&] {
        in.a.progress();
        const credits_shown credits(in.a);
        return credits.used <= credits.all / 4;
    }));
    in.check_message(*kept, in.b, 110);
    CHECK(in.a.failures.empty());
}

TEST_CASE("destroyed endpoints whose peers do not respond leave most resources to others") {
    two_sides<rc_verbs> in(
        {{"RC_VERBS_TX_CQ_LEN", "64"}, {"RC_VERBS_TX_QUEUE_LEN", "8"}, {"RC_VERBS_TIMEOUT", "2s"}});
    const auto kept = in.a.connect(in.b);
    for (std::uint32_t i = 0; i < most_leaving + 50; ++i) {
        connect_to_nobody(in.a, in.b);
        in.a.progress();
        const credits_shown credits(in.a);
        REQUIRE(credits.used <= credits.all / 8);
        REQUIRE(number_in(in.a, "connections") <= most_leaving + 1);
        if (i % 50 != 0) continue;
        REQUIRE(in.try_short(*kept, {i, 0}) == UCS_OK);
        REQUIRE(in.net.run_until([&] { return in.b.count(i) == 1; }));
        flush(in.net, *kept);
    }
    CHECK(number_in(in.a, "connections") == most_leaving + 1);
    CHECK(in.a.failures.empty());
}

TEST_CASE("many endpoints that are destroyed at once all send a goodbye") {
    two_sides<rc_verbs> in({{"RC_VERBS_TX_CQ_LEN", "16"}, {"RC_VERBS_TX_QUEUE_LEN", "8"}});
    constexpr std::size_t count = most_leaving;  // one more would replace another one
    std::vector<std::unique_ptr<uct::ep>> eps;
    for (std::size_t i = 0; i < count; ++i)
        eps.push_back(in.a.connect(in.b));
    CHECK(number_in(in.b, "connections") == count);
    eps.clear();
    // The other ends send nothing, so only a goodbye ends them.
    REQUIRE(in.net.run_until([&] { return number_in(in.b, "connections") == 0; }));
    REQUIRE(in.net.run_until([&] { return number_in(in.a, "connections") == 0; }));
    REQUIRE(in.net.run_until([&] { return credits_shown(in.a).used == 0; }));
}

TEST_CASE("200 queue pairs between two interfaces each carry messages and reach memory") {
    two_sides<rc_verbs> in({{"RC_VERBS_TX_QUEUE_LEN", "8"}});
    constexpr std::uint32_t count = 100;  // in each direction
    std::vector<std::unique_ptr<uct::ep>> eps;
    std::vector<std::uint64_t> memory(count);
    const accessible_memory target(in.b, in.a, std::as_writable_bytes(std::span(memory)));
    for (std::uint32_t i = 0; i < count; ++i) {
        eps.push_back(in.a.connect(in.b));
        eps.push_back(in.b.connect(in.a));
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        REQUIRE(in.send_short(*eps[2 * i], {i, 0}));
        REQUIRE(in.out.send(in.b, *eps[2 * i + 1], uct::op::am_short, 2, make_message({i, 0}, 16)));
        const std::uint64_t word = 0x1234'0000 + i;
        REQUIRE(in.net.run_until([&] {
            return eps[2 * i]->put_short(&word, sizeof word, target.at(8 * i)) !=
                   UCS_ERR_NO_RESOURCE;
        }));
    }
    REQUIRE(
        in.net.run_until([&] { return in.a.inbox.size() == count && in.b.inbox.size() == count; }));
    std::vector<std::uint64_t> got(count);
    counted read;
    read.count = 1;
    for (std::uint32_t i = 0; i < count; ++i) {
        CHECK(in.a.count(i) == 1);
        CHECK(in.b.count(i) == 1);
        ++read.count;
        const ucs_status_t status = retry(in.net, [&] {
            return eps[2 * i]->get_bcopy(&got[i], sizeof got[i], target.at(8 * i), &read);
        });
        REQUIRE(status == UCS_INPROGRESS);
    }
    REQUIRE(in.net.run_until([&] { return read.count == 1; }));
    CHECK(read.status == UCS_OK);
    for (std::uint32_t i = 0; i < count; ++i)
        CHECK(got[i] == 0x1234'0000 + i);
}

TEST_CASE("memory stays registered for the next operation, until it is unmapped") {
    const bool kept = GENERATE(true, false);
    CAPTURE(kept);
    put_scene in({{"IB_RCACHE_ENABLE", kept ? "y" : "n"}});
    constexpr std::size_t length = put_scene::length;
    const auto counts = [&in] {
        return std::vector{registrations(in.a, "misses"), registrations(in.a, "hits"),
                           registrations(in.a, "invalidations")};
    };
    using numbers = std::vector<std::string>;
    auto pages = ucs::memory::mapped::anonymous(length);
    REQUIRE(pages);
    for (int i = 0; i < 3; ++i)
        in.put(pages->bytes().first(length));
    CHECK(counts() == (kept ? numbers{"1", "2", "0"} : numbers{"3", "0", "0"}));
    void* const where_it_was = pages->data();
    pages->reset();
    CHECK(counts() == (kept ? numbers{"1", "2", "1"} : numbers{"3", "0", "0"}));
    void* const again = ::mmap(where_it_was, length, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    REQUIRE(again == where_it_was);
    in.put({static_cast<std::byte*>(again), length});
    CHECK(counts() == (kept ? numbers{"2", "2", "1"} : numbers{"4", "0", "0"}));
    REQUIRE(::munmap(again, length) == 0);
}

// Soft RoCE does not check bounds of windows. The conformance suite tests those of registrations.
TEST_CASE("a memory window serves one operation after the other, and each has a key of its own") {
    put_scene in({{"IB_MEMORY_WINDOWS", "y"}});
    side& b = in.net.at(1);
    uct::memory_domain& owner = *b.iface().domain();
    CHECK(vfs_text(b.iface(), "memory_domain/memory_windows") == "yes");
    const std::span<std::byte> block = std::span(in.remote).subspan(100, 1000);
    const test::log_capture log;
    const auto attempt = [&](const uct::shared_memory& exposed, bool puts) {
        const auto remote = in.a.iface().domain()->attach(exposed.key, uct::memory_access::change);
        REQUIRE(remote.ok());
        const auto via = in.a.connect(b);
        bytes local(block.size(), std::byte{7});
        const uct::iov piece{local.data(), local.size()};
        const uct::remote_place remote_address{reinterpret_cast<std::uint64_t>(block.data()),
                                               remote->get()};
        counted done;
        const ucs_status_t started = retry(in.net, [&] {
            return puts ? via->put_zcopy({&piece, 1}, remote_address, &done)
                        : via->get_zcopy({&piece, 1}, remote_address, &done);
        });
        return wait_for(in.net, started, done);
    };
    for (const bool puts : {true, false, true}) {
        CAPTURE(puts);
        const auto allowed = puts ? uct::memory_access::change : uct::memory_access::read;
        auto exposed = owner.expose(block, allowed);
        REQUIRE(exposed.ok());
        CHECK(attempt(*exposed, puts) == UCS_OK);
        uct::shared_memory before = *exposed;
        before.keeper.reset();
        exposed = UCS_ERR_CANCELED;
        CHECK(attempt(before, puts) == UCS_ERR_INVALID_ADDR);
    }
    const auto read = owner.expose(block, uct::memory_access::read);
    uct::shared_memory claimed = *read;
    claimed.key.at(21) = std::byte{1};  // access rights
    CHECK(attempt(claimed, true) == UCS_ERR_INVALID_ADDR);
    CHECK(attempt(*read, false) == UCS_OK);
    CHECK(registrations(b, "misses") == "1");
    CHECK(log.text().find("windows cannot be bound") == std::string::npos);
}

TEST_CASE("constants are exposed for reading, without windows and without a log line") {
    two_sides<rc_verbs> in({{"IB_MEMORY_WINDOWS", "y"}});
    const auto made = ucs::memory::mapped::anonymous(65536);
    REQUIRE(made);
    const std::span<std::byte> pages = made->bytes();
    std::fill(pages.begin(), pages.end(), std::byte{7});
    REQUIRE(::mprotect(pages.data(), pages.size(), PROT_READ) == 0);
    const test::log_capture log;
    const auto exposed = in.b.iface().domain()->expose(pages, uct::memory_access::read);
    REQUIRE(exposed.ok());
    CHECK(log.text().empty());
    const auto remote = in.a.iface().domain()->attach(exposed->key, uct::memory_access::read);
    REQUIRE(remote.ok());
    const auto via = in.a.connect(in.b);
    bytes local(pages.size());
    const uct::iov piece{local.data(), local.size()};
    const uct::remote_place remote_address{reinterpret_cast<std::uint64_t>(pages.data()),
                                           remote->get()};
    finish(in.net, [&](uct::completion* done) {
        return via->get_zcopy({&piece, 1}, remote_address, done);
    });
    CHECK(std::equal(local.begin(), local.end(), pages.begin(), pages.end()));
}

TEST_CASE("memory is exposed without windows if they are disabled or unavailable") {
    const auto uses_windows = [](std::initializer_list<setting> settings) {
        rc_verbs where(settings);
        network net(where);
        return vfs_text(net.at(0).iface(), "memory_domain/memory_windows");
    };
    CHECK(uses_windows({{"IB_MEMORY_WINDOWS", "n"}}) == "no");
    CHECK(uses_windows({{"IB_MEMORY_WINDOWS", "auto"}}) == "no");
    const test::log_capture log;
    CHECK(uses_windows({{"IB_RCACHE_ENABLE", "n"}, {"IB_MEMORY_WINDOWS", "y"}}) == "no");
    CHECK(log.count("UCX_IB_MEMORY_WINDOWS=y has no effect") == 1);
}

TEST_CASE("a fork changes nothing in what the parent's registered memory sends") {
    put_scene in;
    constexpr std::size_t length = put_scene::length;
    auto pages = ucs::memory::mapped::anonymous(length);
    REQUIRE(pages);
    const std::span<std::byte> local = pages->bytes().first(length);
    std::fill(local.begin(), local.end(), std::byte{1});
    in.put(local);
    int pipe_ends[2];
    REQUIRE(::pipe(pipe_ends) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(pipe_ends[1]);
        std::byte word;
        while (::read(pipe_ends[0], &word, 1) > 0) {
        }
        std::fill(local.begin(), local.end(), std::byte{9});
        ::_exit(local.back() == std::byte{9} ? 0 : 1);
    }
    REQUIRE(child > 0);
    ::close(pipe_ends[0]);
    const auto check_put = [&](std::byte value) {
        std::fill(local.begin(), local.end(), value);
        in.put(local);
        CHECK(in.remote == bytes(length, value));
    };
    check_put(std::byte{2});  // while the child maps the same pages
    ::close(pipe_ends[1]);
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    in.put(local);
    CHECK(in.remote == bytes(length, std::byte{2}));
    check_put(std::byte{3});
    CHECK(registrations(in.a, "misses") == "1");
    CHECK(registrations(in.a, "hits") == "3");
}

TEST_CASE("endpoints and interfaces show their queue pairs, windows and buffers") {
    two_sides<rc_verbs> in({{"RC_VERBS_FC_WND_SIZE", "100"}, {"RC_VERBS_RX_BUFS_FIRST", "32"}});
    {
        auto alone = in.a.iface().create_ep(in.b.address());
        REQUIRE(alone);
        CHECK(vfs_text(**alone, "state") == "unconnected, queue pair init");
    }
    const auto via = in.a.connect(in.b);
    const auto other = in.a.connect(in.b);
    CHECK(vfs_text(*via, "state") == "connected, queue pair ready to send");
    CHECK(vfs_text(*via, "queue_pair") == number_of_pair(*via));
    CHECK(vfs_text(*via, "queue_pair") != vfs_text(*other, "queue_pair"));
    CHECK(vfs_text(in.a.iface(), "connections") == "2");
    CHECK(vfs_text(*via, "flow_window") == "100");
    CHECK(received_buffers(in.b, "buffers") == "32");
    CHECK(received_buffers(in.b, "posted") == "32");
    for (std::uint32_t i = 0; i < 7; ++i)
        REQUIRE(in.try_short(*via, {1, i}) == UCS_OK);
    CHECK(vfs_text(*via, "flow_window") == "93");
    CHECK(vfs_text(*other, "flow_window") == "100");
    CHECK(vfs_text(*via, "send_requests") == "7");
    CHECK(vfs_text(*via, "doorbells") == "7");
    CHECK(vfs_text(in.a.iface(), "doorbells") == "7");
    REQUIRE(in.net.run_until([&] { return in.b.count(1) == 7; }));
    CHECK(vfs_text(in.b.iface(), "messages_received") == "7");
    // Seven buffers of a batch of sixteen are empty.
    CHECK(received_buffers(in.b, "posted") == "25");
    flush(in.net, *via);
    CHECK(vfs_text(*via, "send_requests") == "0");
    CHECK(vfs_text(*via, "completions") == "1");
    CHECK(vfs_text(in.a.iface(), "send_completions") == "1");
    in.net.remove(1);
    REQUIRE(in.net.run_until([&] { return in.a.failures.size() == 2; }));
    CHECK(vfs_text(*via, "state") == "failed, queue pair error");
}

TEST_CASE("the device's event adds receive buffers before any call of progress") {
    two_sides<rc_verbs> in({{"RC_VERBS_RX_BUFS_FIRST", "8"}, {"RC_VERBS_RX_QUEUE_LEN", "64"}});
    const auto via = in.a.connect(in.b);
    CHECK(received_buffers(in.b, "buffers") == "8");
    const std::uint32_t sent = fill(in, *via, 1);
    REQUIRE(sent > 64);
    CHECK(becomes_true(
        [&] { return in.b.poll_events() > 0 && received_buffers(in.b, "buffers") == "64"; }));
    CHECK(received_buffers(in.b, "shortages") == "3");  // 8, 16, 32
    CHECK(in.b.inbox.empty());
    REQUIRE(in.net.run_until([&] { return in.b.count(1) == sent; }));
    CHECK(in_order(in.b, 1, sent));
    CHECK(received_buffers(in.b, "buffers") == "64");
}

TEST_CASE("a goodbye behind many messages counts more than a request that failed meanwhile") {
    const test::log_capture log;
    two_sides<rc_verbs> in({{"RC_VERBS_RETRY_COUNT", "1"},
                            {"RC_VERBS_RX_QUEUE_LEN", "1024"},
                            {"RC_VERBS_RX_BUFS_FIRST", "1024"}});
    const auto via = in.a.connect(in.b);
    uct::ep& back = in.b.newest_partner();
    // More than progress reads before it checks requests that have ended.
    constexpr std::uint32_t count = 400;
    for (std::uint32_t sent = 0; sent < count; in.b.progress()) {
        if (in.out.try_send(in.b, back, uct::op::am_short, 1, make_message({1, sent}, 16)) ==
            UCS_OK)
            ++sent;
    }
    in.b.close();
    REQUIRE(in.try_short(*via, {2, 0}) == UCS_OK);
    ::sleep(2);
    CHECK(only_failure(in.a).status == UCS_ERR_NOT_CONNECTED);
    CHECK(in.a.count(1) == count);
}

TEST_CASE("a receiver that has no buffer for longer than senders try ends their endpoints alone") {
    const talkative all;
    const test::log_capture log;
    two_sides<rc_verbs> in({{"RC_VERBS_FC_ENABLE", "n"},
                            {"RC_VERBS_RX_QUEUE_LEN", "8"},
                            {"RC_VERBS_RX_BUFS_FIRST", "8"},
                            {"RC_VERBS_RNR_RETRY_COUNT", "1"},
                            {"RC_VERBS_RNR_TIMEOUT", "10us"},
                            {"RC_VERBS_TX_QUEUE_LEN", "64"}});
    const auto via = in.a.connect(in.b);
    const auto other = in.a.connect(in.b);
    CHECK(fill(in, *via, 1) > 8);
    CHECK(only_failure(in.a).which == via.get());
    CHECK(only_failure(in.a).status == UCS_ERR_ENDPOINT_TIMEOUT);
    CHECK(log.count("RNR retry counter exceeded") == 1);
    CHECK(in.try_short(*via, {1, 99}) == UCS_ERR_ENDPOINT_TIMEOUT);
    REQUIRE(in.net.run_until([&] { return in.b.count(1) == 8; }));
    CHECK(in_order(in.b, 1, 8));
    in.check_message(*other, in.b, 2);
    CHECK(in.a.failures.size() == 1);
    in.net.settle();
    CHECK(in.b.count(1) == 8);
}

TEST_CASE("the device itself refuses atomic operations at odd addresses") {
    two_sides<rc_verbs> in;
    const auto kept = in.a.connect(in.b);
    auto& device = dynamic_cast<uct::ib::domain&>(*in.a.iface().domain());
    bare_pair bare(device);
    auto accepted = in.b.iface().create_ep(in.a.address());
    REQUIRE(accepted);
    bare.connect(**accepted, in.b.address(),
                 static_cast<std::uint8_t>(std::stoi(vfs_text(in.a.iface(), "gid_index"))));
    alignas(8) std::uint64_t words[2] = {5, 6};
    const accessible_memory target(in.b, in.a, std::as_writable_bytes(std::span(words)));
    alignas(8) std::uint64_t before = 0;
    const auto region = device.use_own(&before, sizeof before);
    REQUIRE(region);
    REQUIRE(bare.add_one(target.at(0), **region) == IBV_WC_SUCCESS);
    CHECK(before == 5);
    CHECK(words[0] == 6);
    CHECK(bare.add_one(target.at(3), **region) == IBV_WC_REM_INV_REQ_ERR);
    CHECK(before == 5);
    CHECK((words[0] == 6 && words[1] == 6));
    in.check_message(*kept, in.b, 1);
}

TEST_CASE("a device that carries little in a request sends longer short messages by a buffer") {
    // Soft RoCE offers as many bytes as the list of pieces has, 16 for each.
    two_sides<rc_verbs> in({{"RC_VERBS_TX_MIN_INLINE", "0"}, {"RC_VERBS_TX_MIN_SGE", "2"}});
    const auto via = in.a.connect(in.b);
    REQUIRE(vfs_text(in.a.iface(), "inline_bytes") == "32");
    const length_range sizes = lengths(in.a.attr(), uct::op::am_short);
    REQUIRE(sizes.max > 32);
    std::uint32_t number = 0;
    for (std::size_t size = sizes.min; size <= sizes.max; ++size) {
        const bytes message = make_message({1, number++}, size);
        REQUIRE(in.out.send(in.a, *via, uct::op::am_short, 1, message));
        REQUIRE(in.net.run_until([&] { return in.b.inbox.size() == number; }));
        CHECK(in.b.inbox.back().data == message);
    }
    const bytes longer(in.a.attr().max_short + 1);
    CHECK(via->am_short(1, 0, longer.data(), longer.size()) == UCS_ERR_INVALID_PARAM);
}

// Soft RoCE does not support dma-buf: the call is made, and the driver's error is returned.
TEST_CASE("memory of another device that cannot be registered is reported and ends no endpoint") {
    struct device_memory final : ucs::memory::dmabuf_source {
        explicit device_memory(std::span<std::byte> all) : bytes(all) {
            ucs::memory::add_dmabuf_source(*this);
        }
        ~device_memory() override { ucs::memory::remove_dmabuf_source(*this); }
        std::optional<ucs::memory::dmabuf> find(const void* address,
                                                std::size_t length) noexcept override {
            const auto* const begin = static_cast<const std::byte*>(address);
            if (begin < bytes.data() || begin + length > bytes.data() + bytes.size())
                return std::nullopt;
            return ucs::memory::dmabuf{ucs::unique_fd(::memfd_create("device memory", 0)), 0};
        }
        const std::span<std::byte> bytes;
    };
    put_scene in;
    uct::memory_domain& device = *in.a.iface().domain();
    const auto made = ucs::memory::mapped::anonymous(65536);
    REQUIRE(made);
    const std::span<std::byte> pages = made->bytes();
    {
        const device_memory exported(pages);
        const test::log_capture log;
        CHECK(device.share(pages, uct::memory_access::change).status() == UCS_ERR_INVALID_ADDR);
        CHECK(device.prepare(pages, uct::memory_access::read) == UCS_ERR_INVALID_ADDR);
        CHECK(log.text().find("because its driver takes no dma-buf") != std::string::npos);
    }
    in.put(pages.first(put_scene::length));
    CHECK(device.share(pages, uct::memory_access::change).ok());
}

TEST_CASE("the cost of registration is known, and memory that stays registered costs nothing") {
    const bool kept = GENERATE(true, false);
    CAPTURE(kept);
    put_scene in({{"IB_RCACHE_ENABLE", kept ? "y" : "n"}});
    uct::memory_domain& device = *in.a.iface().domain();
    const auto price = [&](std::span<std::byte> bytes) {
        return device.preparation_of(bytes, uct::memory_access::read, uct::memory_user::own);
    };
    const auto made = ucs::memory::mapped::anonymous(1 << 20);
    REQUIRE(made);
    const std::span<std::byte> pages = made->bytes();
    in.put(pages.first(put_scene::length));
    CHECK(price(pages.first(put_scene::length)).lasts == kept);
    CHECK((price(pages.first(put_scene::length)).seconds > 0) == !kept);
    const std::span<std::byte> rest = pages.subspan(put_scene::length);
    CHECK(price(rest).seconds >= price(rest.first(4096)).seconds);
    CHECK(price(rest).seconds < 0.1);
}

TEST_CASE("wrong messages of peers do not fill the log") {
    two_sides<rc_verbs> in;
    auto made = in.a.iface().create_ep(in.net.at(1).address());
    REQUIRE(made.ok());
    const test::log_capture log;
    for (int i = 0; i < 1000; ++i) {
        REQUIRE(in.a.iface().domain()->attach({}, uct::memory_access::read).status() ==
                UCS_ERR_INVALID_PARAM);
        REQUIRE((*made)->connect_to({}) == UCS_ERR_INVALID_ADDR);
    }
    // The first eight, and those of powers of ten.
    CHECK(log.count("a key to a peer's memory is malformed") == 11);
    CHECK(log.count("the connection data of") == 11);
}
