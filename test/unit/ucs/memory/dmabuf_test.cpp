#include "ucs/memory/dmabuf.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>

namespace {

// A source for a range of addresses, whose buffer is a copy of one descriptor.
class fake_source final : public ucs::memory::dmabuf_source {
public:
    fake_source(std::uintptr_t begin, std::uintptr_t end) : begin_(begin), end_(end) {
        ucs::memory::add_dmabuf_source(*this);
    }
    ~fake_source() override { ucs::memory::remove_dmabuf_source(*this); }

    std::optional<ucs::memory::dmabuf> find(const void* address,
                                            std::size_t length) noexcept override {
        const auto begin = reinterpret_cast<std::uintptr_t>(address);
        if (begin < begin_ || begin + length > end_) return std::nullopt;
        return ucs::memory::dmabuf{ucs::unique_fd(::dup(0)), begin - begin_};
    }

private:
    std::uintptr_t begin_;
    std::uintptr_t end_;
};

const void* at(std::uintptr_t address) {
    return reinterpret_cast<const void*>(address);
}

}  // namespace

TEST_CASE("a buffer comes from the newest source that has the whole range") {
    CHECK_FALSE(ucs::memory::find_dmabuf(at(4096), 1));
    {
        const fake_source wide(4096, 65536);
        {
            const fake_source narrow(8192, 16384);
            REQUIRE(ucs::memory::find_dmabuf(at(8192), 10));
            CHECK(ucs::memory::find_dmabuf(at(8192), 10)->offset == 0);
            CHECK(ucs::memory::find_dmabuf(at(8192), 10)->descriptor);
            CHECK(ucs::memory::find_dmabuf(at(8192), 10'000)->offset == 4096);
        }
        CHECK(ucs::memory::find_dmabuf(at(8192), 10)->offset == 4096);
        CHECK_FALSE(ucs::memory::find_dmabuf(at(4096), 65536));
    }
    CHECK_FALSE(ucs::memory::find_dmabuf(at(8192), 10));
}
