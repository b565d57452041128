// Hostile strangers, ranks and rank 0 at the port where ranks meet. The first byte chooses the
// fuzzer's role: the other ranks of a store, or its rank 0. It also chooses whether the input
// begins with the key handshake of the connection; otherwise the target sends the key handshake of
// a side without a key.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include "test/fuzz/silence.hpp"
#include "ucg/oob/tcp/leaf.hpp"
#include "ucg/oob/tcp/root.hpp"

using namespace ucg::oob;

namespace {

constexpr std::size_t bytes = 8;
constexpr rank_t ranks = 3;

struct wire_pair {
    ucs::unique_fd local, remote;

    wire_pair() {
        int fds[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) != 0)
            __builtin_trap();
        local.reset(fds[0]);
        remote.reset(fds[1]);
    }
};

void say(int to, std::span<const std::uint8_t> text) {
    static_cast<void>(::send(to, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

// Looks up blocks, some of which are unknown yet.
void ask(exchange& tree, std::uint64_t number) {
    for (rank_t other = 0; other < ranks; ++other) {
        std::array<std::byte, bytes> into;
        std::size_t room = into.size();
        static_cast<void>(tree.look_up(number, other, into.data(), room));
        if (room > wire::max_published) __builtin_trap();
        tree.serve();
    }
}

// Runs up to two rounds, with look-ups after each. The input is sent in two halves.
void drive(exchange& tree, std::span<const std::pair<int, std::span<const std::uint8_t>>> sent) {
    const std::array<std::byte, bytes> own{};
    std::uint64_t number = 0;
    static_cast<void>(tree.publish(own.data(), own.size(), number));
    for (int turn = 0; turn < 2; ++turn) {
        std::array<std::byte, bytes * ranks> all;
        if (tree.begin(own.data(), all.data(), bytes) != UCS_OK) return;
        static_cast<void>(tree.test());
        for (const auto& [to, text] : sent) {
            const std::size_t half = text.size() / 2;
            say(to, turn == 0 ? text.first(half) : text.subspan(half));
        }
        for (int i = 0; i < 4 && tree.test() == UCS_INPROGRESS; ++i) {
        }
        if (tree.test() == UCS_INPROGRESS && turn == 0)
            for (const auto& [to, text] : sent)
                say(to, text.subspan(text.size() / 2));
        for (int i = 0; i < 4 && tree.test() == UCS_INPROGRESS; ++i) {
        }
        ask(tree, number);
        tree.release();
        ask(tree, number);
    }
    static_cast<void>(tree.withdraw(number));
}

// Sends the key handshake of a client, or of a server, that has no key.
void open_as(ucs::security::key_handshake::role side, int to) {
    using ucs::security::key_handshake;
    key_handshake client(key_handshake::role::client, nullptr, store_purpose);
    key_handshake server(key_handshake::role::server, nullptr, store_purpose);
    std::copy(client.output().begin(), client.output().end(), server.space().begin());
    server.take(client.output().size());
    const auto record = side == key_handshake::role::client ? client.output() : server.output();
    static_cast<void>(::send(to, record.data(), record.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

job_key key_of(std::uint8_t mode) {
    if ((mode & 4) == 0) return {};
    return ucs::security::key::from_text("a key that the fuzzer does not know");
}

void be_others(std::span<const std::uint8_t> input, std::uint8_t mode) {
    auto root = tcp_root::make({0, ranks, ucs::time::second}, 0, {}, key_of(mode));
    if (!root) __builtin_trap();
    const wire_pair first, second;
    (*root)->adopt(ucs::unique_fd(::fcntl(first.local.get(), F_DUPFD_CLOEXEC, 0)));
    (*root)->adopt(ucs::unique_fd(::fcntl(second.local.get(), F_DUPFD_CLOEXEC, 0)));
    if ((mode & 2) == 0)
        for (const wire_pair* each : {&first, &second})
            open_as(ucs::security::key_handshake::role::client, each->remote.get());
    const std::size_t half = input.size() / 2;
    const std::pair<int, std::span<const std::uint8_t>> sent[] = {
        {first.remote.get(), input.first(half)}, {second.remote.get(), input.subspan(half)}};
    drive(**root, sent);
}

void be_root(std::span<const std::uint8_t> input, std::uint8_t mode) {
    const wire_pair only;
    tcp_leaf leaf({1, ranks, ucs::time::second}, 0,
                  {"127.0.0.1", 1},  // an address without a listener
                  ucs::unique_fd(::fcntl(only.local.get(), F_DUPFD_CLOEXEC, 0)), key_of(mode));
    if ((mode & 2) == 0) open_as(ucs::security::key_handshake::role::server, only.remote.get());
    const std::pair<int, std::span<const std::uint8_t>> sent[] = {{only.remote.get(), input}};
    drive(leaf, sent);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const fuzz::silence quiet;
    const std::span<const std::uint8_t> input(data + 1, size - 1);
    static_cast<void>(wire::parse_failure(std::as_bytes(input), ranks));
    data[0] % 2 == 0 ? be_others(input, data[0]) : be_root(input, data[0]);
    return 0;
}
