#include "ucs/memory/mapped.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <optional>

#include "test/support/descriptor_limit.hpp"
#include "test/support/log_capture.hpp"

namespace memory = ucs::memory;
using memory::mapped;

TEST_CASE("anonymous pages are zero and owned by one") {
    auto made = mapped::anonymous(10);
    REQUIRE(made);
    mapped pages = std::move(*made);
    CHECK(pages.size() == memory::page_size());
    CHECK(std::all_of(pages.bytes().begin(), pages.bytes().end(),
                      [](std::byte b) { return b == std::byte{0}; }));
    pages.data()[0] = std::byte{1};
    mapped moved(std::move(pages));
    CHECK_FALSE(pages);  // NOLINT: a moved-from mapping is empty by contract
    CHECK(moved.data()[0] == std::byte{1});
    moved.reset();
    CHECK_FALSE(moved);
}

TEST_CASE("two mappings of a memory file are the same memory") {
    auto file = memory::make_memory_file("hawser-test", 5000);
    REQUIRE(file);
    const auto size = memory::check_memory_file(file->get(), 5000);
    REQUIRE(size);
    CHECK(*size % memory::page_size() == 0);
    auto one = mapped::file(file->get(), *size);
    auto two = mapped::file(file->get(), *size, mapped::access::read_only);
    REQUIRE(one);
    REQUIRE(two);
    one->data()[4999] = std::byte{7};
    CHECK(two->data()[4999] == std::byte{7});
}

TEST_CASE("a memory file cannot be shortened") {
    auto file = memory::make_memory_file("hawser-test", 8192);
    REQUIRE(file);
    CHECK(::ftruncate(file->get(), 0) != 0);
    CHECK(::ftruncate(file->get(), 1 << 20) != 0);
}

TEST_CASE("a peer's file is refused unless sealed and long enough") {
    test::log_capture captured;
    const ucs::unique_fd open(::memfd_create("open", MFD_CLOEXEC));
    REQUIRE(::ftruncate(open.get(), 8192) == 0);
    CHECK(memory::check_memory_file(open.get(), 100).status() == UCS_ERR_INVALID_PARAM);
    auto file = memory::make_memory_file("hawser-test", 4096);
    REQUIRE(file);
    CHECK(memory::check_memory_file(file->get(), 4097).status() == UCS_ERR_INVALID_PARAM);
    CHECK(memory::check_memory_file(-1, 0).status() == UCS_ERR_INVALID_PARAM);
    CHECK(captured.size() == 3);
}

// The file can be made without a free huge page; only an access would need one.
TEST_CASE("a peer's file of huge pages is refused") {
    const ucs::unique_fd huge(
        ::memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB));
    if (!huge) return;  // the kernel does not support huge pages
    struct stat info {};
    REQUIRE(::fstat(huge.get(), &info) == 0);
    REQUIRE(::ftruncate(huge.get(), info.st_blksize) == 0);
    REQUIRE(::fcntl(huge.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0);
    test::log_capture captured;
    CHECK(memory::check_memory_file(huge.get(), 4096).status() == UCS_ERR_INVALID_PARAM);
    CHECK(captured.size() == 1);
}

TEST_CASE("impossible mappings return a status") {
    test::log_capture captured;
    CHECK(mapped::anonymous(0).status() == UCS_ERR_INVALID_PARAM);
    CHECK(mapped::anonymous(SIZE_MAX).status() == UCS_ERR_INVALID_PARAM);
    CHECK(mapped::anonymous(SIZE_MAX / 4).status() == UCS_ERR_NO_MEMORY);
    CHECK(mapped::file(-1, 4096).status() == UCS_ERR_IO_ERROR);
    CHECK(memory::make_memory_file("hawser-test", SIZE_MAX / 2 + 1).status() != UCS_OK);
    CHECK(captured.size() == 5);
}

TEST_CASE("a lack of descriptors returns UCS_ERR_EXCEEDS_LIMIT") {
    test::log_capture captured;
    std::optional<test::descriptor_limit> none(0);
    const auto file = memory::make_memory_file("hawser-test", 4096);
    none.reset();
    CHECK(file.status() == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(captured.count("memfd_create", ucs::log::level::error) == 1);
}
