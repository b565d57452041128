// Tests of the out-of-band exchange over TCP, with strangers and failures at rank 0's port.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/sockios.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <thread>
#include <vector>

#include "test/support/environment.hpp"
#include "test/support/log_capture.hpp"
#include "test/unit/ucg/oob/ranks.hpp"
#include "ucg/oob/root_address.hpp"
#include "ucg/oob/tcp/link.hpp"
#include "ucg/oob/tcp/wire.hpp"
#include "ucs/descriptor/descriptor_budget.hpp"
#include "ucs/security/key_handshake.hpp"
#include "ucs/type/unique_fd.hpp"

using namespace test;

namespace {

ucs::unique_fd connect_silently(std::uint16_t port) {
    ucs::unique_fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return {};
    return socket;
}

void say(const ucs::unique_fd& to, std::span<const std::byte> bytes) {
    static_cast<void>(::send(to.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

// The length of rank 0's record in a key handshake without a key.
constexpr std::size_t answer_size = 8 + ucs::security::reply_size;

std::vector<std::byte> plain_hello() {
    const ucs::security::key_handshake client(ucs::security::key_handshake::role::client, nullptr,
                                              ucg::oob::store_purpose);
    return {client.output().begin(), client.output().end()};
}

ucs::unique_fd connect_to(std::uint16_t port) {
    ucs::unique_fd socket = connect_silently(port);
    if (socket) say(socket, plain_hello());
    return socket;
}

// Performs rank 0's part of a key handshake without a key.
bool answer_handshake(const ucs::unique_fd& socket) {
    ucs::security::key_handshake server(ucs::security::key_handshake::role::server, nullptr,
                                        ucg::oob::store_purpose);
    const auto send = [&](std::span<const std::byte> record) {
        say(socket, record);
        return true;
    };
    const auto receive = [&](std::span<std::byte> into) {
        const ssize_t got = ::recv(socket.get(), into.data(), into.size(), 0);
        return got > 0 ? got : -1;
    };
    return server.advance(send, receive) == ucs::security::key_handshake::step::agreed;
}

std::vector<std::byte> frame(const ucg::oob::wire::header& head) {
    std::vector<std::byte> bytes(ucg::oob::wire::header::size);
    ucg::oob::wire::pack(head, std::span(bytes).first<ucg::oob::wire::header::size>());
    return bytes;
}

}  // namespace

TEST_CASE("tcp: consecutive stores use one port") {
    const std::uint16_t port = free_port();
    for (int i = 0; i < 5; ++i)
        CHECK(test::run_as_threads(3, [&](std::uint32_t rank) {
                  const auto oob = tcp_rank(rank, 3, port);
                  return oob ? check_round(*oob, 0, 10) + check_round(*oob, 1, 20) : "not created";
              }) == "");
}

TEST_CASE("tcp: ranks wait for a rank 0 that starts later") {
    const std::uint16_t port = free_port();
    std::atomic<bool> tried = false;
    CHECK(test::run_as_threads(2, [&](std::uint32_t rank) -> std::string {
              while (rank == 0 && !tried)
                  std::this_thread::yield();
              const auto oob = tcp_rank(rank, 2, port);
              if (!oob) return "not created";
              std::uint32_t block = 7, all[2] = {};
              void* request = nullptr;
              if (oob->allgather(oob->arg, &block, all, 4, &request) != UCS_OK) return "allgather";
              ucs_status_t status = UCS_INPROGRESS;
              while (status == UCS_INPROGRESS) {
                  status = oob->test(oob->arg, request);
                  tried = true;
              }
              oob->release(oob->arg, request);
              return status == UCS_OK && all[0] == 7 && all[1] == 7 ? "" : "not right";
          }) == "");
}

TEST_CASE("tcp: a rank that leaves or cancels ends the round of all other ranks") {
    for (const bool in_round : {false, true})
        for (const std::uint32_t leaver : {0U, 2U}) {
            const test::log_capture log;
            CHECK(test::tcp_exchange(3).on_threads([&](oob_handle& oob) -> std::string {
                if (auto wrong = check_round(*oob, 0, 16); !wrong.empty()) return wrong;
                if (oob->rank != leaver) {
                    const bool is_notified = leaver == 0 && in_round;
                    return expect_failure(
                        *oob, is_notified ? UCS_ERR_CANCELED : UCS_ERR_CONNECTION_RESET);
                }
                if (!in_round) return {};
                void* request = nullptr;
                char block[8] = {}, all[24];
                if (oob->allgather(oob->arg, block, all, 8, &request) != UCS_OK) return "begin";
                oob->release(oob->arg, request);
                if (oob->allgather(oob->arg, block, all, 8, &request) != UCS_ERR_CANCELED)
                    return "a round after it gave up";
                return {};
            }) == "");
            if (leaver == 2) CHECK(log.count("rank 2") >= 1);
        }
}

TEST_CASE("tcp: a rank without a rank 0 times out") {
    const test::log_capture log;
    const std::uint16_t port = free_port();
    CHECK(expect_failure(*tcp_rank(1, 2, port, 0.2), UCS_ERR_TIMED_OUT) == "");
    CHECK(log.count("rank 1 did not reach rank 0 at 127.0.0.1") == 1);
    CHECK(log.count("refused") >= 1);
}

TEST_CASE("tcp: a busy port and wrong arguments are refused and logged") {
    const test::log_capture log;
    const std::uint16_t port = free_port();
    const auto first = tcp_rank(0, 2, port);
    REQUIRE(first);
    ucg_oob_t* made = nullptr;
    // Checks that one wrong argument is refused and logged.
    const auto refused = [&](ucs_status_t expected, const std::string& text, const auto& change) {
        ucg_oob_tcp_params_t params = UCG_OOB_TCP_PARAMS_INIT;
        params.rank = 1;
        params.size = 2;
        params.host = "127.0.0.1";
        params.port = port;
        change(params);
        const std::size_t before = log.count(text);
        CHECK(ucg_oob_create_tcp(&params, &made) == expected);
        CHECK(log.count(text) == before + 1);
        CHECK(made == nullptr);
    };
    constexpr auto wrong = UCS_ERR_INVALID_PARAM;
    refused(UCS_ERR_BUSY, fmt::format("port {}", port), [](auto& params) { params.rank = 0; });
    refused(wrong, "no rank 2 among 2", [](auto& params) { params.rank = 2; });
    refused(wrong, "no rank 1 among 0", [](auto& params) { params.size = 0; });
    refused(wrong, "timeout nan", [](auto& params) { params.timeout = std::nan(""); });
    refused(wrong, "timeout -1", [](auto& params) { params.timeout = -1; });
    refused(wrong, "port (0)", [](auto& params) { params.port = 0; });
    refused(wrong, "host (\"\")", [](auto& params) { params.host = nullptr; });
    refused(wrong, "params->struct_size", [](auto& params) { params.struct_size = 8; });
    const ucg_oob_tcp_params_t good = UCG_OOB_TCP_PARAMS_INIT;
    CHECK(ucg_oob_create_tcp(nullptr, &made) == UCS_ERR_INVALID_PARAM);
    CHECK(ucg_oob_create_tcp(&good, nullptr) == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("params or oob_p is NULL") == 2);
    ucg_oob_destroy(nullptr);
}

TEST_CASE("tcp: names, IPv4 and IPv6 addresses work") {
    for (const char* host : {"localhost", "::1", "127.0.0.1"}) {
        const std::uint16_t port = free_port();
        CHECK(test::run_as_threads(2, [&](std::uint32_t rank) -> std::string {
                  ucg_oob_tcp_params_t params = UCG_OOB_TCP_PARAMS_INIT;
                  params.rank = rank;
                  params.size = 2;
                  params.host = host;
                  params.port = port;
                  params.timeout = test::long_enough;
                  ucg_oob_t* made = nullptr;
                  const ucs_status_t status = ucg_oob_create_tcp(&params, &made);
                  // The host has no IPv6.
                  if (status == UCS_ERR_IO_ERROR && std::string_view(host) == "::1") return {};
                  if (status != UCS_OK) return "not created";
                  const test::oob_handle oob(made);
                  if (std::string_view(host) == "::1" && rank == 1) {
                      const ucs::unique_fd probe(::socket(AF_INET6, SOCK_STREAM, 0));
                      sockaddr_in6 address{};
                      address.sin6_family = AF_INET6;
                      address.sin6_addr = in6addr_loopback;
                      if (::bind(probe.get(), reinterpret_cast<sockaddr*>(&address),
                                 sizeof address) != 0)
                          return {};
                  }
                  return check_round(*oob, 0, 100);
              }) == "");
    }
}

TEST_CASE("tcp: ranks with different numbers of bytes fail and are named") {
    const test::log_capture log;
    CHECK(test::tcp_exchange(3).on_threads([](oob_handle& oob) -> std::string {
        // The first round ensures that all ranks are connected: a rank that connects after
        // rank 0 left gets no notification.
        if (auto wrong = check_round(*oob, 0, 16); !wrong.empty()) return wrong;
        return expect_failure(*oob, UCS_ERR_INVALID_PARAM, oob->rank == 1 ? 9 : 8);
    }) == "");
    INFO(log.text());
    CHECK(log.count("rank 1 gives 9 bytes and rank 0 8") == 1);
    CHECK(log.count("rank 0 says that rank 1 failed it") == 2);
}

TEST_CASE("tcp: strangers at the port disturb no rank") {
    const std::uint16_t port = free_port();
    const test::log_capture log;
    std::atomic<bool> has_joined = false;
    // Rank 0 listens before the strangers connect, because they try only once.
    auto root = tcp_rank(0, 3, port);
    REQUIRE(root);
    CHECK(test::run_as_threads(3, [&](std::uint32_t rank) -> std::string {
              using namespace ucg::oob;
              const auto oob = rank == 0 ? std::move(root) : tcp_rank(rank, 3, port);
              if (!oob) return "not created";
              if (rank != 2) {
                  if (auto wrong = check_round(*oob, 0, 50); !wrong.empty()) return wrong;
                  return check_round(*oob, 1, 5000);
              }
              std::mt19937 random(1);
              std::vector<ucs::unique_fd> open;
              for (int i = 0; i < 40; ++i) {
                  auto socket = i % 8 == 4 ? connect_silently(port) : connect_to(port);
                  if (!socket) return "no connection";
                  std::vector<std::byte> text;
                  if (i % 8 == 0) text = frame({wire::frame_kind::hello, 1, 4});      // size
                  if (i % 8 == 1) text = frame({wire::frame_kind::hello, 1, 3, 99});  // job
                  if (i % 8 == 2)
                      text = frame({wire::frame_kind::block, 1, 3, 0, 0, 50});    // no hello
                  if (i % 8 == 3) text = frame({wire::frame_kind::hello, 0, 3});  // rank 0
                  if (i % 8 == 4) text.assign(500, static_cast<std::byte>(random()));
                  if (i % 8 == 5) (text = frame({wire::frame_kind::hello, 1, 3})).resize(20);
                  if (i % 8 == 6) text.assign(3, std::byte{'H'});
                  say(socket, text);
                  if (i % 3 != 0) open.push_back(std::move(socket));
              }
              if (auto wrong = check_round(*oob, 0, 50); !wrong.empty()) return wrong;
              has_joined = true;
              return check_round(*oob, 1, 5000);
          }) == "");
    CHECK(has_joined);
    INFO(log.text());
    CHECK(log.count("nonsense") >= 1);
    CHECK(log.count("", ucs::log::level::error) == 0);
}

TEST_CASE("tcp: many silent connections do not keep a rank out") {
    const std::uint16_t port = free_port();
    const test::log_capture log;
    auto root = tcp_rank(0, 2, port);
    REQUIRE(root);
    std::vector<ucs::unique_fd> crowd;
    for (int i = 0; i < 1500; ++i) {
        crowd.push_back(connect_silently(port));
        REQUIRE(crowd.back());
    }
    CHECK(test::run_as_threads(2, [&](std::uint32_t rank) -> std::string {
              const auto oob = rank == 0 ? std::move(root) : tcp_rank(rank, 2, port);
              return oob ? check_round(*oob, 0, 50) : "not created";
          }) == "");
    INFO(log.text());
    CHECK(log.count("have not sent their rank") == 1);
    CHECK(log.size() == 1);
}

TEST_CASE("tcp: ranks with the same job key connect, and others are refused with a reason") {
    const test::env own_key("UCX_JOB_KEY", "a key of more than 16 characters");
    const std::uint16_t port = free_port();
    const test::log_capture log;
    auto root = tcp_rank(0, 2, port);
    REQUIRE(root);
    const auto refused = [&](const char* key) {
        const test::env other_key("UCX_JOB_KEY", key);
        auto stranger = tcp_rank(1, 2, port);
        REQUIRE(stranger);
        return expect_failure(*stranger, UCS_ERR_REJECTED);
    };
    std::string no_key, wrong_key;
    CHECK(test::run_as_threads(1, [&](std::uint32_t) -> std::string {
              std::uint32_t block = 0, all[2] = {};
              void* request = nullptr;
              if (root->allgather(root->arg, &block, all, 4, &request) != UCS_OK)
                  return "allgather";
              std::thread others([&] {
                  no_key = refused("");
                  wrong_key = refused("another key of more than 16 characters");
                  auto peer = tcp_rank(1, 2, port);
                  std::uint32_t sent = 1, found[2] = {};
                  if (peer) static_cast<void>(test::gather(*peer, &sent, found, 4));
              });
              const ucs_status_t status = test::finish(*root, request);
              others.join();
              return status == UCS_OK ? "" : "the round failed";
          }) == "");
    CHECK(no_key == "");
    CHECK(wrong_key == "");
    INFO(log.text());
    CHECK(log.count("it has a job key and this process has none") == 1);
    CHECK(log.count("it has no job key and this process has one") == 1);
    CHECK(log.count("its job key is another one") == 2);
}

TEST_CASE("tcp: a second process with the same rank is refused, and the first continues") {
    const std::uint16_t port = free_port();
    const test::log_capture log;
    std::atomic<unsigned> refused = 0;
    std::atomic<unsigned> good = 0;
    CHECK(test::run_as_threads(4, [&](std::uint32_t thread) -> std::string {
              const auto oob = tcp_rank(thread == 3 ? 1 : thread, 3, port);
              if (!oob) return "not created";
              // Rank 2 connects after one of the two ranks was refused: otherwise the round might
              // have ended.
              while (thread == 2 && refused == 0)
                  std::this_thread::yield();
              std::uint32_t block = oob->rank, all[3] = {};
              const ucs_status_t status = test::gather(*oob, &block, all, 4);
              if (status == UCS_ERR_REJECTED) ++refused;
              if (status == UCS_OK && all[1] == 1 && all[2] == 2) ++good;
              return {};
          }) == "");
    CHECK(refused == 1);
    CHECK(good == 3);
}

TEST_CASE("tcp: a rank that sends garbage is dropped and named") {
    const std::uint16_t port = free_port();
    const test::log_capture log;
    using namespace ucg::oob;
    const std::vector<std::byte> wrongs[] = {
        frame({wire::frame_kind::block, 2, 3, 0, 7, 8}),
        frame({wire::frame_kind::hello, 2, 3}),
        frame({wire::frame_kind::block, 1, 3, 0, 1, 8}),
        frame({wire::frame_kind::blocks, 2, 3, 0, 1, 8}),
        frame({wire::frame_kind::welcome, 2, 3}),
        std::vector<std::byte>(40),
        frame({wire::frame_kind::failure, 2, 3, 0, 1, 8}),
    };
    for (const auto& wrong : wrongs) {
        CHECK(test::run_as_threads(3, [&](std::uint32_t rank) -> std::string {
                  if (rank != 2) {
                      const auto oob = tcp_rank(rank, 3, port);
                      return oob ? expect_failure(*oob, UCS_ERR_CONNECTION_RESET) : "not created";
                  }
                  ucs::unique_fd socket;
                  while (!socket)
                      socket = connect_to(port);
                  // A valid round first ensures that all ranks are connected.
                  say(socket, frame({wire::frame_kind::hello, 2, 3}));
                  say(socket, frame({wire::frame_kind::block, 2, 3, 0, 0, 8}));
                  say(socket, std::vector<std::byte>(8));
                  char answer[answer_size + wire::header::size * 2 + 24];
                  if (::recv(socket.get(), answer, sizeof answer, MSG_WAITALL) != sizeof answer)
                      return "no answer";
                  say(socket, wrong);
                  char none;
                  while (::recv(socket.get(), &none, 1, 0) > 0) {
                  }
                  return {};
              }) == "");
    }
    CHECK(log.count("rank 2 sent") == std::size(wrongs));
}

TEST_CASE("tcp: a rank that connects after the failure is notified") {
    const std::uint16_t port = free_port();
    const test::log_capture log;
    auto root = tcp_rank(0, 3, port, 0.01);
    REQUIRE(root);
    CHECK(expect_failure(*root, UCS_ERR_TIMED_OUT) == "");
    using namespace ucg::oob;
    const auto late = connect_to(port);
    REQUIRE(late);
    say(late, frame({wire::frame_kind::hello, 1, 3}));
    // Wait until the kernel reports that rank 0's host has received the frame.
    for (int unacknowledged = 1; unacknowledged != 0; std::this_thread::yield())
        REQUIRE(::ioctl(late.get(), SIOCOUTQ, &unacknowledged) == 0);
    root.reset();
    std::array<std::byte, answer_size> accepted;
    wire::header_bytes head;
    std::array<std::byte, 16> content;
    REQUIRE(::recv(late.get(), accepted.data(), answer_size, MSG_WAITALL) == answer_size);
    REQUIRE(::recv(late.get(), head.data(), head.size(), MSG_WAITALL) == 40);
    REQUIRE(::recv(late.get(), content.data(), content.size(), MSG_WAITALL) == 16);
    const auto failure = wire::parse_failure(content, 3);
    REQUIRE(failure);
    CHECK(failure->status == UCS_ERR_TIMED_OUT);
    CHECK(failure->first == std::vector<rank_t>{1, 2});
}

TEST_CASE("tcp: strangers that take all descriptors are dropped, and the ranks connect") {
    const std::uint16_t port = free_port();
    CHECK(test::run_as_processes(2, [&](std::uint32_t rank) -> std::string {
              const test::log_capture log;
              if (rank == 1) {
                  std::vector<ucs::unique_fd> silent;
                  while (silent.size() < 30)
                      if (auto socket = connect_silently(port)) silent.push_back(std::move(socket));
                  const auto oob = tcp_rank(1, 2, port);
                  return oob ? check_round(*oob, 0, 50) : "not created";
              }
              // The limit allows only a few more descriptors than are open.
              std::vector<ucs::unique_fd> open;
              for (int highest = 100; open.empty() || open.back().get() < highest;)
                  open.emplace_back(::dup(2));
              const auto most = static_cast<rlim_t>(open.back().get() + 6);
              const rlim_t limit = most + ucs::sys::descriptor_reserve(most + 64);
              const rlimit few{limit, limit};
              if (::setrlimit(RLIMIT_NOFILE, &few) != 0) return "no limit";
              const auto oob = tcp_rank(0, 2, port);
              if (!oob) return "not created";
              if (auto wrong = check_round(*oob, 0, 50); !wrong.empty()) return wrong;
              // The program can use the descriptors that the library reserves for it.
              const ucs::unique_fd next(::dup(2));
              if (static_cast<rlim_t>(next.get()) > most) return "the reserve was used";
              return log.count("no more connections are possible") != 0 ? "" : "none was dropped";
          }) == "");
}

TEST_CASE("tcp: a rank 0 that sends garbage ends the round") {
    using namespace ucg::oob;
    const std::vector<std::byte> answers[] = {
        frame({wire::frame_kind::blocks, 0, 2, 0, 0, 1 << 20}),
        frame({wire::frame_kind::blocks, 0, 2, 0, 3, 16}),
        frame({wire::frame_kind::hello, 0, 2}),
        std::vector<std::byte>(100),
        frame({wire::frame_kind::failure, 0, 2, 0, 0, 12}),
    };
    for (const auto& answer : answers) {
        const test::log_capture log;
        root_address any{"127.0.0.1", 0};
        const auto listener = any.listen();
        REQUIRE(listener);
        const std::uint16_t port = port_of(listener->get());
        std::thread root([&] {
            ucs::unique_fd socket;
            while (!socket)
                socket = ucs::unique_fd(::accept(listener->get(), nullptr, nullptr));
            if (!answer_handshake(socket)) return;
            say(socket, frame({wire::frame_kind::welcome, 0, 2}));
            say(socket, answer);
            say(socket, std::vector<std::byte>(12));  // the content of a failure with UCS_OK
            char none;
            while (::recv(socket.get(), &none, 1, 0) > 0) {
            }
        });
        {
            const auto oob = tcp_rank(1, 2, port);
            char block[8] = {}, all[16];
            const ucs_status_t status = test::gather(*oob, block, all, 8);
            CHECK((status == UCS_ERR_CONNECTION_RESET || status == UCS_ERR_INVALID_PARAM));
        }
        root.join();
    }
}

TEST_CASE("tcp: a dead rank 0 ends look-ups, and another dead rank disturbs none") {
    const test::log_capture log;
    for (const std::uint32_t victim : {0U, 2U}) {
        CHECK(test::tcp_exchange(4).on_processes([&](oob_handle& oob) -> std::string {
            const std::uint32_t rank = oob->rank;
            const std::vector<std::byte> block(300, static_cast<std::byte>(rank));
            std::uint64_t number = 0;
            if (oob->publish(oob->arg, block.data(), block.size(), &number) != UCS_OK)
                return "publish";
            if (auto wrong = check_round(*oob, 0, 16); !wrong.empty()) return wrong;
            if (rank == victim) {
                std::vector<std::byte> into(300);
                std::size_t bytes = into.size();
                if (victim != 0)
                    static_cast<void>(oob->lookup(oob->arg, 0, 1, into.data(), &bytes));
                ::kill(::getpid(), SIGKILL);
            }
            ucs_status_t status = UCS_OK;
            // Look-ups that are served before the death succeed.
            for (int i = 0; i < 1000 && (victim == 0 || i < 20) && status == UCS_OK; ++i) {
                std::vector<std::byte> found(300);
                status = test::look_up(*oob, 0, (rank + 1) % 4, found);
            }
            const ucs_status_t expected = victim == 0 ? UCS_ERR_CONNECTION_RESET : UCS_OK;
            if (status != expected) return ucs_status_string(status);
            // Rank 0 leaves when all ranks have withdrawn.
            for (int i = 0; i < 1'000'000; ++i) {
                if (oob->withdraw(oob->arg, 0) == UCS_OK) return {};
                ::usleep(100);
            }
            return "cannot withdraw";
        }) == "");
    }
}
