// What strangers, ranks and rank 0 may send at the port where ranks meet. The first byte says who
// the fuzzer is: the other ranks of a store, or its rank 0; and whether its bytes begin with the
// opening of the connection, which is that of a side without a key otherwise.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <vector>

#include "test/fuzz/silence.hpp"
#include "ucg/oob/tcp_leaf.hpp"
#include "ucg/oob/tcp_root.hpp"

using namespace ucg::oob;

namespace {

constexpr std::size_t bytes = 8;
constexpr rank_t ranks = 3;

struct wire_pair {
    ucs::unique_fd ours, theirs;

    wire_pair() {
        int fds[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) != 0)
            __builtin_trap();
        ours.reset(fds[0]);
        theirs.reset(fds[1]);
    }
};

void say(int to, std::span<const std::uint8_t> text) {
    static_cast<void>(::send(to, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

// Whatever is known by now.
void ask(exchange& by, std::uint64_t number) {
    for (rank_t of = 0; of < ranks; ++of) {
        std::array<std::byte, bytes> into;
        std::size_t room = into.size();
        static_cast<void>(by.look_up(number, of, into.data(), room));
        if (room > wire::most_published) __builtin_trap();
        by.serve();
    }
}

// Two rounds, as far as they come, and look-ups after each. What is said comes in two halves.
void drive(exchange& by, std::span<const std::pair<int, std::span<const std::uint8_t>>> said) {
    const std::array<std::byte, bytes> mine{};
    std::uint64_t number = 0;
    static_cast<void>(by.publish(mine.data(), mine.size(), number));
    for (int turn = 0; turn < 2; ++turn) {
        std::array<std::byte, bytes * ranks> all;
        if (by.begin(mine.data(), all.data(), bytes) != UCS_OK) return;
        static_cast<void>(by.test());
        for (const auto& [to, text] : said) {
            const std::size_t half = text.size() / 2;
            say(to, turn == 0 ? text.first(half) : text.subspan(half));
        }
        for (int i = 0; i < 4 && by.test() == UCS_INPROGRESS; ++i) {
        }
        if (by.test() == UCS_INPROGRESS && turn == 0)
            for (const auto& [to, text] : said)
                say(to, text.subspan(text.size() / 2));
        for (int i = 0; i < 4 && by.test() == UCS_INPROGRESS; ++i) {
        }
        ask(by, number);
        by.release();
        ask(by, number);
    }
    static_cast<void>(by.withdraw(number));
}

// Says what begins a connection of a client, or of a server, that has no key.
void open_as(ucs::security::opening::role side, int to) {
    using ucs::security::opening;
    opening client(opening::role::client, nullptr, store_purpose);
    opening server(opening::role::server, nullptr, store_purpose);
    std::copy(client.output().begin(), client.output().end(), server.space().begin());
    server.take(client.output().size());
    const auto record = side == opening::role::client ? client.output() : server.output();
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
    (*root)->adopt(ucs::unique_fd(::fcntl(first.ours.get(), F_DUPFD_CLOEXEC, 0)));
    (*root)->adopt(ucs::unique_fd(::fcntl(second.ours.get(), F_DUPFD_CLOEXEC, 0)));
    if ((mode & 2) == 0)
        for (const wire_pair* each : {&first, &second})
            open_as(ucs::security::opening::role::client, each->theirs.get());
    const std::size_t half = input.size() / 2;
    const std::pair<int, std::span<const std::uint8_t>> said[] = {
        {first.theirs.get(), input.first(half)}, {second.theirs.get(), input.subspan(half)}};
    drive(**root, said);
}

void be_root(std::span<const std::uint8_t> input, std::uint8_t mode) {
    const wire_pair only;
    tcp_leaf leaf({1, ranks, ucs::time::second}, 0, {"127.0.0.1", 1},  // where nobody is
                  ucs::unique_fd(::fcntl(only.ours.get(), F_DUPFD_CLOEXEC, 0)), key_of(mode));
    if ((mode & 2) == 0) open_as(ucs::security::opening::role::server, only.theirs.get());
    const std::pair<int, std::span<const std::uint8_t>> said[] = {{only.theirs.get(), input}};
    drive(leaf, said);
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
