#include "uct/sm/cma/remote_copy.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "uct/base/builtin.hpp"
#include "uct/sm/cma/permission.hpp"

using namespace uct;
using namespace uct::cma;
using outcome = copy_outcome::kind;

namespace {

std::uint64_t cookie = 0x1122334455667788U;

remote_process myself() {
    return {::getpid(), reinterpret_cast<std::uint64_t>(&cookie), cookie};
}

std::uint64_t address_of(const void* object) {
    return reinterpret_cast<std::uint64_t>(object);
}

}  // namespace

TEST_CASE("cma: pieces of any sizes are split into chunks", "[cma]") {
    std::string text(1000, '\0');
    const std::vector<iov> pieces{{text.data(), 0},
                                  {text.data(), 300},
                                  {text.data() + 300, 1},
                                  {text.data() + 301, 0},
                                  {text.data() + 301, 699}};
    for (const std::size_t limit :
         {std::size_t{1}, std::size_t{7}, std::size_t{300}, std::size_t{5000}}) {
        piece_cursor cursor{pieces, limit};
        std::size_t seen = 0;
        for (auto chunk = cursor.chunk(); !chunk.empty(); chunk = cursor.chunk()) {
            std::size_t bytes = 0;
            REQUIRE(chunk.front().iov_base == text.data() + seen);
            for (const iovec& piece : chunk)
                bytes += piece.iov_len;
            REQUIRE(bytes <= limit);
            const std::size_t step = (bytes + 1) / 2;  // as if the call had copied only half
            cursor.advance(step);
            seen += step;
        }
        CHECK(seen == text.size());
    }
}

TEST_CASE("cma: reads and writes arrive in many pieces and chunks", "[cma]") {
    std::vector<unsigned char> source(100000), target(source.size());
    std::iota(source.begin(), source.end(), static_cast<unsigned char>(0));
    std::vector<iov> into, from;
    for (std::size_t position = 0, step = 1; position < target.size();
         position += step, step = step % 97 + 1) {
        step = std::min(step, target.size() - position);
        into.push_back({target.data() + position, step});
        from.push_back({source.data() + position, step});
    }
    CHECK(into.size() > piece_cursor::max_pieces);
    CHECK(read_remote(myself(), address_of(source.data()), into, 4096).type == outcome::done);
    CHECK(target == source);
    std::fill(target.begin(), target.end(), static_cast<unsigned char>(0));
    CHECK(write_remote(myself(), address_of(target.data()), from, 4096).type == outcome::done);
    CHECK(target == source);
}

TEST_CASE("cma: a process that is not the owner of the address is detected", "[cma]") {
    remote_process wrong = myself();
    char from = 'a', into = 'b';
    SECTION("another value of the cookie") {
        wrong.cookie ^= 1;
    }
    SECTION("nothing mapped there") {
        wrong.cookie_at = 8;
    }
    const iov piece{&into, 1};
    CHECK(read_remote(wrong, address_of(&from), {&piece, 1}, 4096).type == outcome::other_process);
    CHECK(write_remote(wrong, address_of(&from), {&piece, 1}, 4096).type == outcome::other_process);
    CHECK(from == 'a');
}

TEST_CASE("cma: unmapped memory is the caller's error, not the peer's refusal", "[cma]") {
    char byte = 'a';
    const iov piece{&byte, 1};
    CHECK(read_remote(myself(), 8, {&piece, 1}, 4096).type == outcome::bad_address);
    CHECK(write_remote(myself(), 8, {&piece, 1}, 4096).type == outcome::bad_address);
}

TEST_CASE("cma: a process that has ended is refused", "[cma]") {
    const pid_t pid = ::fork();
    REQUIRE(pid >= 0);
    if (pid == 0) ::_exit(0);
    REQUIRE(::waitpid(pid, nullptr, 0) == pid);
    remote_process gone = myself();
    gone.pid = pid;
    char byte = 'a';
    const iov piece{&byte, 1};
    const copy_outcome end = read_remote(gone, address_of(&byte), {&piece, 1}, 4096);
    CHECK(end.type == outcome::refused);
    CHECK(end.error == ESRCH);
}

TEST_CASE("cma: the reasons of ptrace_scope", "[cma]") {
    CHECK(why_yama_forbids(yama_scope::classic, false, false).empty());
    CHECK_FALSE(why_yama_forbids(yama_scope::restricted, false, false).empty());
    CHECK(why_yama_forbids(yama_scope::restricted, true, false).empty());
    CHECK(why_yama_forbids(yama_scope::restricted, false, true).empty());
    CHECK_FALSE(why_yama_forbids(yama_scope::admin_only, false, true).empty());
    CHECK(why_yama_forbids(yama_scope::admin_only, true, false).empty());
    CHECK_FALSE(why_yama_forbids(yama_scope::nobody, true, true).empty());
    CHECK_FALSE(why_yama_forbids(static_cast<yama_scope>(9), true, true).empty());
}

TEST_CASE("cma: an endpoint copies, and after a refusal always returns unsupported", "[cma]") {
    auto events = std::move(*ucs::async::event_loop::create());
    const auto config = ucs::config::source::empty();
    const auto devices = cma_component().query(config);
    if (devices.usable.empty()) {
        WARN("not possible here: " << devices.unusable.at(0).reason);
        return;
    }
    auto opened = cma_component().open(devices.usable[0], {*events, config, 1});
    REQUIRE(opened.ok());
    iface& self = **opened;
    CHECK(self.attr().ops.has(op::get_zcopy));
    CHECK(self.attr().ops.has(op::put_zcopy));
    CHECK_FALSE(self.attr().ops.has(op::am_short));
    std::vector<std::byte> address(self.attr().address_length);
    self.pack_address(address);
    CHECK(self.check_reachable(address).ok());

    std::string source = "hello", target = "-----";
    const iov piece{target.data(), target.size()};
    auto good = std::move(*self.create_ep(address));
    CHECK(good->get_zcopy({&piece, 1}, {address_of(source.data())}, nullptr) == UCS_OK);
    CHECK(target == source);

    address[24] ^= std::byte{1};  // the value of the cookie
    auto bad = std::move(*self.create_ep(address));
    CHECK(bad->get_zcopy({&piece, 1}, {address_of(source.data())}, nullptr) == UCS_ERR_UNSUPPORTED);
    CHECK(bad->put_zcopy({&piece, 1}, {address_of(source.data())}, nullptr) == UCS_ERR_UNSUPPORTED);

    address[8] ^= std::byte{1};
    CHECK(self.check_reachable(address).reason == "it runs on another host");
}
