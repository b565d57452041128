// Tests of the registration cache with fake addresses, which are never accessed, and fake events.
#include "ucs/memory/registration_cache.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "test/support/log_capture.hpp"
#include "test/support/vfs_text.hpp"
#include "test/unit/ucs/memory/fake_registrar.hpp"
#include "ucs/memory/mapped.hpp"
#include "ucs/time/clock.hpp"

using test::fake_registrar;
using namespace ucs::memory;

namespace {

const std::size_t page = ucs::memory::page_size();
constexpr std::uintptr_t base = std::uintptr_t{1} << 46;
constexpr unsigned reading = 1;
constexpr unsigned writing = 2;

void* address_of(std::size_t first_page) {
    return reinterpret_cast<void*>(base + first_page * page);
}

// Registers whole pages, and reads the registrar's records.
struct user {
    registration_cache& cache;

    registration get(std::size_t first, std::size_t pages, unsigned access = reading) const {
        auto got = cache.get(address_of(first), pages * page, access);
        REQUIRE(got.ok());
        return *std::move(got);
    }
    [[nodiscard]] unsigned long number(std::size_t first, std::size_t pages,
                                       unsigned access = reading) const {
        return fake_registrar::record_of(get(first, pages, access).handle()).number;
    }
};

void unmap(std::size_t first, std::size_t pages) {
    ucm_vm_munmap(address_of(first), pages * page);
}

// An empty cache.
struct cached {
    fake_registrar registrar;
    registration_cache cache{registrar, "test", {}};
};

}  // namespace

TEST_CASE_METHOD(cached, "memory is registered in whole pages, and once") {
    REQUIRE(cache.is_caching());
    const char* odd = static_cast<char*>(address_of(3)) + 17;
    auto first = cache.get(odd, page, reading);
    REQUIRE(first.ok());
    CHECK(first->range().begin == base + 3 * page);
    CHECK(first->range().size() == 2 * page);
    CHECK(first->access() == reading);
    auto second = cache.get(odd + 1, 5, reading);
    REQUIRE(second.ok());
    CHECK(second->handle() == first->handle());
    first->reset();
    second->reset();
    CHECK(user{cache}.number(3, 2) == 0);
    CHECK(registrar.live() == 1);
    CHECK(cache.count(registration_count::misses) == 1);
    CHECK(cache.count(registration_count::hits) == 2);
    CHECK(cache.regions() == 1);
    CHECK(cache.bytes() == 2 * page);
}

TEST_CASE_METHOD(cached, "holds() does not count as a use") {
    const user with{cache};
    CHECK_FALSE(cache.holds(address_of(0), page, reading));
    with.get(0, 2, reading);
    CHECK(cache.holds(address_of(0), 2 * page, reading));
    CHECK_FALSE(cache.holds(address_of(0), page, writing));
    CHECK_FALSE(cache.holds(address_of(1), 2 * page, reading));
    CHECK(cache.count(registration_count::hits) == 0);
    CHECK(cache.count(registration_count::misses) == 1);
    CHECK(registrar.registered() == 1);
    registration_cache none(registrar, "none", {.enable = false});
    REQUIRE(none.get(address_of(0), page, reading).ok());
    CHECK_FALSE(none.holds(address_of(0), page, reading));
}

TEST_CASE_METHOD(cached, "invalid ranges are refused") {
    CHECK(cache.get(address_of(0), 0, reading).status() == UCS_ERR_INVALID_PARAM);
    CHECK(cache.get(address_of(0), ~std::size_t{0}, reading).status() == UCS_ERR_INVALID_PARAM);
    CHECK(registrar.registered() == 0);
}

TEST_CASE_METHOD(cached, "a range across several regions joins them") {
    const user with{cache};
    registration left = with.get(0, 2, reading);
    with.get(4, 2, writing);
    with.get(6, 1);
    const registration all = with.get(1, 4);
    CHECK(all.range().begin == base);
    CHECK(all.range().size() == 6 * page);
    CHECK(all.access() == (reading | writing));
    CHECK(cache.regions() == 2);
    CHECK(cache.bytes() == 7 * page);
    CHECK(cache.count(registration_count::merges) == 1);

    // Regions in use stay registered until their release, but are not found any more.
    CHECK(registrar.live() == 3);
    CHECK(with.get(0, 2).handle() == all.handle());
    left.reset();
    CHECK(registrar.live() == 2);
}

TEST_CASE_METHOD(cached, "a registration with more access replaces one with less") {
    const user with{cache};
    with.get(0, 4, reading);
    CHECK(with.get(1, 1, writing).access() == (reading | writing));
    CHECK(with.get(1, 1, writing).range().size() == 4 * page);
    CHECK(with.number(0, 4, reading) == 1);
    CHECK(registrar.live() == 1);
}

TEST_CASE_METHOD(cached, "if merging fails, the range is registered alone") {
    const user with{cache};
    with.get(0, 2, writing);
    registrar.check = [](std::uintptr_t, std::size_t, unsigned access) {
        return (access & writing) != 0 ? UCS_ERR_INVALID_ADDR : UCS_OK;
    };
    CHECK(with.get(1, 2, reading).range().size() == 2 * page);
    CHECK(cache.regions() == 1);
    CHECK(cache.get(address_of(1), page, writing).status() == UCS_ERR_INVALID_ADDR);
    CHECK(with.get(1, 2, reading).range().size() == 2 * page);
}

TEST_CASE("the least recently used regions are evicted") {
    fake_registrar registrar;
    registration_cache::settings bounds;

    SECTION("beyond the limit of regions") {
        bounds.max_regions = 2;
        registration_cache cache(registrar, "test", bounds);
        const user with{cache};
        with.get(0, 1);
        with.get(2, 1);
        with.get(0, 1);
        with.get(4, 1);
        CHECK(cache.regions() == 2);
        CHECK(registrar.live() == 2);
        CHECK(with.number(0, 1) == 0);
        CHECK(with.number(2, 1) == 3);
        CHECK(cache.count(registration_count::evictions) == 2);
    }
    SECTION("beyond the limit of bytes") {
        bounds.max_bytes = 10 * page;
        registration_cache cache(registrar, "test", bounds);
        const user with{cache};
        with.get(0, 4);
        with.get(10, 4);
        with.get(20, 4);
        CHECK(cache.bytes() == 8 * page);
        CHECK(with.number(10, 4) == 1);
        // A region above the limit is kept while it is in use, and is not merged with others.
        {
            const registration large = with.get(12, 20);
            CHECK(large.range().size() == 20 * page);
            CHECK(cache.bytes() == 20 * page);
        }
        CHECK(cache.bytes() == 0);
        CHECK(registrar.live() == 0);
    }
    SECTION("not while they are in use") {
        bounds.max_regions = 1;
        registration_cache cache(registrar, "test", bounds);
        const user with{cache};
        const registration a = with.get(0, 1);
        registration b = with.get(2, 1);
        CHECK(cache.regions() == 2);
        b.reset();
        CHECK(cache.regions() == 1);
        CHECK(with.get(0, 1).handle() == a.handle());
    }
    SECTION("when the registrar is out of resources") {
        registration_cache cache(registrar, "test", {});
        const user with{cache};
        with.get(0, 1);
        const registration used = with.get(2, 1);
        with.get(4, 1);
        registrar.check = [&](std::uintptr_t, std::size_t, unsigned) {
            return registrar.live() > 1 ? UCS_ERR_NO_MEMORY : UCS_OK;
        };
        CHECK(with.number(6, 1) == 3);
        CHECK(cache.count(registration_count::evictions) == 2);
        const registration more = with.get(6, 1);
        CHECK(cache.get(address_of(8), page, reading).status() == UCS_ERR_NO_MEMORY);
        CHECK(registrar.live() == 2);
    }
}

TEST_CASE_METHOD(cached, "unmapped memory is not found again, and the next call deregisters it") {
    const user with{cache};
    with.get(0, 4);
    with.get(10, 4);
    registration used = with.get(20, 4);
    unmap(2, 9);
    unmap(23, 100);
    CHECK(cache.regions() == 0);
    CHECK(cache.count(registration_count::invalidations) == 3);
    CHECK(registrar.live() == 3);
    cache.collect();
    CHECK(registrar.live() == 1);
    CHECK(with.get(20, 4).handle() != used.handle());
    used.reset();
    CHECK(registrar.live() == 1);
    unmap(24, 1);
    CHECK(cache.regions() == 1);
    ucm_vm_munmap(static_cast<char*>(address_of(23)) + page - 1, 1);
    CHECK(cache.regions() == 0);
}

TEST_CASE_METHOD(cached, "memory that is unmapped during its registration is registered again") {
    const user with{cache};
    int times = 0;
    registrar.check = [&](std::uintptr_t, std::size_t, unsigned) {
        if (times-- > 0) unmap(1, 1);
        return UCS_OK;
    };

    SECTION("once") {
        times = 1;
        CHECK(with.number(0, 2) == 1);
        CHECK(with.number(0, 2) == 1);
        CHECK(registrar.live() == 1);
    }
    SECTION("repeatedly: it is not cached") {
        times = 1000;
        { const registration fragile = with.get(0, 2); }
        CHECK(cache.regions() == 0);
        CHECK(registrar.live() == 0);
        CHECK(registrar.registered() < 20);
    }
    SECTION("only in the merged part: it serves, and is not cached") {
        with.get(0, 2);
        times = 1;
        {
            registrar.check = [&](std::uintptr_t, std::size_t, unsigned) {
                unmap(0, 1);
                return UCS_OK;
            };
            CHECK(with.number(1, 2) == 1);
        }
        CHECK(cache.regions() == 0);
        CHECK(registrar.live() == 0);
    }
    CHECK_FALSE(registrar.wrong());
}

TEST_CASE("without a cache each use registers") {
    fake_registrar registrar;
    registration_cache cache(registrar, "test", {.enable = false});
    CHECK_FALSE(cache.is_caching());
    const user with{cache};
    registration first = with.get(0, 2);
    const registration second = with.get(0, 2);
    CHECK(first.handle() != second.handle());
    unmap(0, 2);
    registration moved = std::move(first);
    CHECK(registrar.live() == 2);
    moved.reset();
    CHECK(registrar.live() == 1);
    CHECK(cache.regions() == 0);
    CHECK(cache.count(registration_count::misses) == 2);
    registrar.check = [](std::uintptr_t, std::size_t, unsigned) { return UCS_ERR_NO_MEMORY; };
    CHECK(cache.get(address_of(0), 1, reading).status() == UCS_ERR_NO_MEMORY);
}

TEST_CASE("a cache shows its state") {
    fake_registrar registrar;
    registration_cache cache(registrar, "test", {.max_regions = 5});
    const user with{cache};
    const registration used = with.get(0, 3);
    with.get(10, 1);
    CHECK(test::vfs_text(cache, "mode") == "cache");
    CHECK(test::vfs_text(cache, "regions") == "2");
    CHECK(test::vfs_text(cache, "bytes") == std::to_string(4 * page));
    CHECK(test::vfs_text(cache, "max_regions") == "5");
    CHECK(test::vfs_text(cache, "max_bytes") == "inf");
    CHECK(test::vfs_text(cache, "sizes") ==
          std::to_string(page) + ": 1 regions, 0 in use, " + std::to_string(page) + " bytes\n" +
              std::to_string(2 * page) + ": 1 regions, 1 in use, " + std::to_string(3 * page) +
              " bytes");
}

TEST_CASE("destroying a cache with regions in use logs a warning") {
    test::log_capture log;
    fake_registrar registrar;
    auto cache =
        std::make_unique<registration_cache>(registrar, "early", registration_cache::settings{});
    // This registration is never released, because that would access the destroyed cache. It is
    // static, so that it is not reported as a leak.
    static auto* lasting = new registration(user{*cache}.get(0, 1));
    REQUIRE(*lasting);
    cache.reset();
    CHECK(log.count("early: 1 regions are still in use") == 1);
}

// Compares the cache with a model that records when each page was last unmapped.
TEST_CASE("random uses and events never give a stale registration") {
    constexpr std::size_t pages = 64;
    for (unsigned seed = 1; seed <= 40; ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        const auto below = [&](std::size_t limit) {
            return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
        };
        fake_registrar registrar;
        unsigned long now = 0;
        std::array<unsigned long, pages> gone{};
        registrar.note_of = [&](std::uintptr_t) { return now; };
        registrar.check = [&](std::uintptr_t begin, std::size_t length, unsigned) {
            if (below(10) == 0) {
                const std::size_t first = (begin - base) / page + below(length / page);
                ++now;
                gone[first] = now;
                unmap(first, 1);
            }
            return below(20) == 0 ? UCS_ERR_NO_MEMORY : UCS_OK;
        };
        registration_cache::settings bounds;
        if (seed % 2 == 0) bounds.max_regions = 3;
        if (seed % 3 == 0) bounds.max_bytes = 20 * page;
        bool good = true;
        {
            registration_cache cache(registrar, "test", bounds);
            std::vector<registration> held;
            for (int step = 0; step < 500; ++step) {
                ++now;
                const std::size_t first = below(pages);
                const std::size_t count = 1 + below(std::min<std::size_t>(8, pages - first));
                const unsigned access = 1U + static_cast<unsigned>(below(3));
                if (below(8) == 0) {
                    unmap(first, count);
                    for (std::size_t i = first; i < first + count; ++i)
                        gone[i] = now;
                    continue;
                }
                auto got = cache.get(address_of(first), count * page, access);
                if (!got) {
                    good = good && got.status() == UCS_ERR_NO_MEMORY;
                    continue;
                }
                const auto& name = fake_registrar::record_of(got->handle());
                good = good && name.alive && (access & ~name.access) == 0 &&
                       name.begin <= base + first * page &&
                       base + (first + count) * page <= name.begin + name.length;
                for (std::size_t i = first; i < first + count; ++i)
                    good = good && name.note >= gone[i];
                if (held.size() < 10 && below(2) == 0) held.push_back(*std::move(got));
                if (!held.empty() && below(3) == 0) {
                    held.erase(held.begin() + static_cast<long>(below(held.size())));
                }
            }
            held.clear();
            good =
                good && cache.regions() <= bounds.max_regions && cache.bytes() <= bounds.max_bytes;
        }
        good = good && registrar.live() == 0 && !registrar.wrong();
        CHECK(good);
    }
}

// ucs_unit_tests "[measure]", in the release preset.
TEST_CASE_METHOD(cached, "cost of a cached registration", "[.][measure]") {
    constexpr std::size_t megabyte = std::size_t{1} << 20;
    constexpr unsigned times = 2'000'000;
    for (const std::size_t regions : {1U, 16U, 1024U, 65536U}) {
        const auto address = [&](std::size_t i) {
            return reinterpret_cast<void*>(base + i * 2 * megabyte);
        };
        for (std::size_t i = 0; i < regions; ++i)
            REQUIRE(cache.get(address(i), megabyte, reading).ok());
        bool good = true;
        const ucs::time::nanoseconds begin = ucs::time::now();
        for (unsigned i = 0; i < times; ++i)
            good = cache.get(address(i * 7919U % regions), megabyte, reading).ok() && good;
        const auto passed = static_cast<double>(ucs::time::now() - begin);
        CHECK(good);
        WARN(regions << " regions: " << passed / times << " ns for get and release of 1 MB");
    }
}
