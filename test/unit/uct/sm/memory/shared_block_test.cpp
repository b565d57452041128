#include "uct/sm/memory/shared_block.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "test/support/child.hpp"
#include "test/support/log_capture.hpp"
#include "uct/sm/base/memfd.hpp"

using namespace uct::sm;

namespace {

std::shared_ptr<const shared_block> make(std::size_t length) {
    auto made = shared_block::allocate(length, nullptr, false);
    REQUIRE(made.ok());
    return *made;
}

// Checks that attaching fails with a reason that contains `part`.
void refused(const block_name& name, std::size_t length, const char* part) {
    const auto found = shared_block::attach(name, length, true);
    CHECK(found.block == nullptr);
    INFO(found.reason);
    CHECK(found.reason.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("a block is filled with zeros and can be found by its name", "[uct][sm]") {
    const auto own = make(10000);
    REQUIRE_FALSE(own->name().empty());
    for (std::size_t i = 0; i < own->length(); ++i)
        REQUIRE(own->base()[i] == std::byte{0});
    const auto found = shared_block::attach(own->name(), own->length(), true);
    INFO(found.reason);
    REQUIRE(found.block != nullptr);
    REQUIRE(found.block->base() != own->base());
    own->base()[9999] = std::byte{7};
    REQUIRE(found.block->base()[9999] == std::byte{7});
    found.block->base()[0] = std::byte{8};
    REQUIRE(own->base()[0] == std::byte{8});
}

TEST_CASE("a block outlives its owner", "[uct][sm]") {
    test::child_process child([](int fd) {
        // Only system calls and the block are used, because this is a fork of a test program.
        auto own = shared_block::allocate(4096, nullptr, false);
        if (!own) ::_exit(1);
        (*own)->base()[100] = std::byte{42};
        const block_name name = (*own)->name();
        if (::send(fd, &name, sizeof name, 0) != sizeof name) ::_exit(1);
        ::pause();
    });
    block_name name;
    child.receive(name);
    const auto found = shared_block::attach(name, 4096, true);
    INFO(found.reason);
    REQUIRE(found.block != nullptr);
    child.kill();
    CHECK(found.block->base()[100] == std::byte{42});
    std::memset(found.block->base(), 1, 4096);
    refused(name, 4096, "cannot be opened");
}

TEST_CASE("only the right block is mapped", "[uct][sm]") {
    const auto own = make(4096);
    block_name wrong = own->name();
    SECTION("another tag") {
        wrong.tag ^= 1;
        refused(wrong, 4096, "another file");
    }
    SECTION("no tag") {
        wrong.tag = 0;
        refused(wrong, 4096, "no name");
    }
    SECTION("another host") {
        wrong.host ^= 1;
        refused(wrong, 4096, "another host");
    }
    SECTION("another namespace") {
        wrong.pid_namespace ^= 1;
        refused(wrong, 4096, "namespace");
    }
    SECTION("nobody") {
        wrong.pid = 0;
        refused(wrong, 4096, "malformed");
        wrong.pid = ~std::uint32_t{0};
        refused(wrong, 4096, "malformed");
    }
    SECTION("another length") {
        refused(wrong, 4097, "bytes instead of");
        refused(wrong, ~std::size_t{0}, "impossible");
    }
    SECTION("another descriptor") {
        const ucs::unique_fd null{::open("/dev/null", O_RDWR)};
        wrong.fd = static_cast<std::uint32_t>(null.get());
        refused(wrong, 4096, "another file");
    }
    SECTION("another sealed file") {
        const ucs::unique_fd other = make_memfd("hawser-posix");
        REQUIRE(size_and_seal(other.get(), 4096) == nullptr);
        wrong.fd = static_cast<std::uint32_t>(other.get());
        refused(wrong, 4096, "another file");
    }
    SECTION("a file of the right name that can still shrink") {
        char name[64];
        std::snprintf(name, sizeof name, "hawser-memory-%016lx", wrong.tag);
        const ucs::unique_fd open = make_memfd(name);
        REQUIRE(::ftruncate(open.get(), 4096) == 0);
        wrong.fd = static_cast<std::uint32_t>(open.get());
        refused(wrong, 4096, "not sealed");
    }
}

TEST_CASE("read-only memory is mapped read-only", "[uct][sm]") {
    const auto own = make(4096);
    const auto found = shared_block::attach(own->name(), 4096, false);
    REQUIRE(found.block != nullptr);
    REQUIRE(::mprotect(found.block->base(), 4096, PROT_READ) == 0);
    const int null = ::open("/dev/zero", O_RDONLY);
    // The kernel would write to it if the mapping allowed that.
    CHECK(::read(null, found.block->base(), 1) == -1);
    ::close(null);
}

TEST_CASE("memory can be requested at an address", "[uct][sm]") {
    constexpr std::size_t length = 1 << 20;
    void* place = ::mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(place != MAP_FAILED);
    test::log_capture log;
    SECTION("that is taken: nobody else's memory is replaced") {
        const auto taken = shared_block::allocate(length, place, true);
        CHECK(taken.status() == UCS_ERR_NO_ELEM);
        CHECK(log.count("could not be allocated") == 1);
        // A preferred address that is in use is ignored.
        const auto other = shared_block::allocate(length, place, false);
        REQUIRE(other.ok());
        CHECK((*other)->base() != place);
        ::munmap(place, length);
    }
    SECTION("that is free") {
        ::munmap(place, length);
        const auto there = shared_block::allocate(length, place, true);
        REQUIRE(there.ok());
        CHECK((*there)->base() == place);
    }
    SECTION("that begins no page") {
        ::munmap(place, length);
        const auto odd = shared_block::allocate(length, static_cast<std::byte*>(place) + 8, true);
        CHECK(odd.status() == UCS_ERR_INVALID_PARAM);
    }
}

TEST_CASE("more memory than possible is refused", "[uct][sm]") {
    test::log_capture log;
    CHECK(shared_block::allocate(~std::size_t{0}, nullptr, false).status() == UCS_ERR_NO_MEMORY);
    CHECK(shared_block::allocate(std::size_t{1} << 62, nullptr, false).status() ==
          UCS_ERR_NO_MEMORY);
    CHECK(log.count("could not be allocated") == 2);
}
