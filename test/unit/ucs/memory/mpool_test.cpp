#include "ucs/memory/mpool.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "test/support/log_capture.hpp"

using ucs::memory::mpool;

namespace {

mpool::parameters of_size(std::size_t size) {
    return {.name = "test", .element_size = size};
}

bool aligned(const void* address, std::size_t alignment) {
    return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

}  // namespace

TEST_CASE("pool elements are aligned where asked, at any size and offset") {
    for (const std::size_t alignment : {1U, 16U, 64U, 4096U}) {
        for (const std::size_t size : {1U, 8U, 100U, 4096U}) {
            for (const std::size_t offset : {0U, 1U, 8U, 100U}) {
                if (offset > size) continue;
                INFO(alignment << ' ' << size << ' ' << offset);
                mpool::parameters wanted = of_size(size);
                wanted.alignment = alignment;
                wanted.align_offset = offset;
                wanted.grow_by = 3;
                mpool pool(wanted);
                std::vector<char*> out;
                for (int i = 0; i < 20; ++i) {
                    out.push_back(static_cast<char*>(pool.get()));
                    REQUIRE(out.back() != nullptr);
                    REQUIRE(aligned(out.back() + offset, alignment));
                    std::memset(out.back(), i, size);
                }
                for (std::size_t i = 0; i < out.size(); ++i) {
                    REQUIRE(out[i][0] == static_cast<char>(i));
                    REQUIRE(out[i][size - 1] == static_cast<char>(i));
                    mpool::put(out[i]);
                }
            }
        }
    }
}

TEST_CASE("a pool gives no more elements than its maximum, and reuses returned ones") {
    mpool::parameters wanted = of_size(32);
    wanted.grow_by = 4;
    wanted.max_elements = 10;
    mpool pool(wanted);
    std::vector<void*> out;
    while (void* element = pool.get())
        out.push_back(element);
    CHECK(out.size() == 10);
    CHECK(pool.capacity() == 10);
    CHECK(pool.in_use() == 10);
    CHECK(&mpool::pool_of(out[3]) == &pool);
    mpool::put(out[3]);
    CHECK(pool.get() == out[3]);
    CHECK(pool.get() == nullptr);
    for (void* each : out)
        mpool::put(each);
    CHECK(pool.in_use() == 0);
}

TEST_CASE("elements are constructed once, when the pool grows") {
    struct counts {
        int made = 0;
        int gone = 0;
    } seen;
    mpool::parameters wanted = of_size(sizeof(int));
    wanted.arg = &seen;
    wanted.grow_by = 8;
    wanted.construct = [](void* element, void* chunk, void* arg) {
        *static_cast<int*>(element) = 42;
        static_cast<counts*>(arg)->made += chunk < element ? 1 : 1000;
    };
    wanted.destroy = [](void*, void* arg) { ++static_cast<counts*>(arg)->gone; };
    {
        mpool pool(wanted);
        CHECK(seen.made == 0);
        for (int i = 0; i < 100; ++i) {
            int* element = static_cast<int*>(pool.get());
            REQUIRE(*element == 42);
            mpool::put(element);
        }
        CHECK(static_cast<std::size_t>(seen.made) == pool.capacity());
    }
    CHECK(seen.gone == seen.made);
}

TEST_CASE("without memory get() returns nullptr, and works again when there is memory") {
    struct limited final : ucs::memory::chunk_source {
        void* allocate(std::size_t& size) noexcept override {
            if (left == 0) return nullptr;
            --left;
            ++out;
            return heap().allocate(size);
        }
        void release(void* chunk, std::size_t size) noexcept override {
            --out;
            heap().release(chunk, size);
        }
        int left = 1;
        int out = 0;
    } source;
    {
        mpool::parameters wanted = of_size(100);
        wanted.grow_by = 5;
        wanted.source = &source;
        mpool pool(wanted);
        std::vector<void*> out;
        while (void* element = pool.get())
            out.push_back(element);
        CHECK(out.size() >= 5);
        CHECK_FALSE(pool.reserve(1));
        source.left = 10;
        CHECK(pool.reserve(20));
        void* more = pool.get();
        CHECK(more != nullptr);
        mpool::put(more);
        for (void* each : out)
            mpool::put(each);
    }
    CHECK(source.out == 0);
}

TEST_CASE("impossible sizes are refused, without overflow") {
    mpool::parameters wanted = of_size(std::size_t{1} << 60);
    wanted.grow_by = 64;
    mpool pool(wanted);
    CHECK(pool.get() == nullptr);
}

TEST_CASE("destroying a pool with elements in use logs a warning") {
    test::log_capture captured;
    { CHECK(mpool(of_size(8)).get() != nullptr); }
    CHECK(captured.count("pool test is destroyed while 1", ucs::log::level::warn) == 1);
}

TEST_CASE("no two elements overlap under random use") {
    const auto seed = GENERATE(1U, 2U, 3U);
    INFO("seed " << seed);
    std::mt19937 random(seed);
    mpool pool(of_size(24));
    std::vector<std::pair<char*, char>> out;
    for (int i = 0; i < 20000; ++i) {
        if (out.empty() || random() % 5 < 3) {
            auto* element = static_cast<char*>(pool.get());
            const char mark = static_cast<char>(random());
            std::memset(element, mark, 24);
            out.emplace_back(element, mark);
        } else {
            std::swap(out[random() % out.size()], out.back());
            const auto [element, mark] = out.back();
            REQUIRE(std::string(element, 24) == std::string(24, mark));
            mpool::put(element);
            out.pop_back();
        }
        REQUIRE(pool.in_use() == out.size());
    }
    for (const auto& [element, mark] : out)
        mpool::put(element);
}
