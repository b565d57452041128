// Tests of the registration cache with memory that is really unmapped by functions of the C
// library.
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "test/support/child.hpp"
#include "test/support/log_capture.hpp"
#include "test/support/sanitizer.hpp"
#include "test/unit/ucs/memory/fake_registrar.hpp"
#include "ucs/memory/mapped.hpp"

using test::fake_registrar;
using namespace ucs::memory;

namespace {

const std::size_t page = ucs::memory::page_size();
constexpr std::size_t large = std::size_t{64} << 20;

void* map(std::size_t size, void* place = nullptr) {
    void* memory = mmap(place, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | (place != nullptr ? MAP_FIXED : 0), -1, 0);
    REQUIRE(memory != MAP_FAILED);
    std::memset(memory, 1, size);
    return memory;
}

struct fixture {
    fake_registrar registrar;
    registration_cache cache{registrar, "test", {}};

    registration get(const void* memory, std::size_t size) {
        auto got = cache.get(memory, size, 1);
        REQUIRE(got.ok());
        return *std::move(got);
    }

    // Checks that `change` removes the memory from the cache at once, whether it is in use or not.
    template<class Change>
    void forgets(const void* memory, std::size_t size, Change&& change) {
        const registration used = get(memory, size);
        REQUIRE(get(memory, size).handle() == used.handle());
        const std::size_t before = cache.regions();
        change();
        CHECK(cache.regions() == before - 1);
        CHECK(cache.count(registration_count::invalidations) > 0);
        CHECK(fake_registrar::record_of(used.handle()).alive);
    }
};

}  // namespace

TEST_CASE("unmapped memory is removed from the cache") {
    fixture with;
    REQUIRE(with.cache.is_caching());
    const std::size_t size = 8 * page;
    void* memory = map(size);

    SECTION("munmap") {
        with.forgets(memory, size, [&] { munmap(memory, size); });
        // Mapping the same address again gives a new registration.
        map(size, memory);
        CHECK(fake_registrar::record_of(with.get(memory, size).handle()).number == 1);
        munmap(memory, size);
    }
    SECTION("munmap of a part") {
        with.forgets(memory, size, [&] { munmap(memory, page); });
        munmap(memory, size);
    }
    SECTION("another mapping in its place") {
        with.forgets(memory, size, [&] { map(size, memory); });
        munmap(memory, size);
    }
    SECTION("mremap") {
        void* moved = nullptr;
        with.forgets(memory, size,
                     [&] { moved = mremap(memory, size, 1000 * page, MREMAP_MAYMOVE); });
        REQUIRE(moved != MAP_FAILED);
        with.forgets(moved, size, [&] { moved = mremap(moved, 1000 * page, page, 0); });
        munmap(moved, page);
    }
    SECTION("madvise") {
        with.forgets(memory, size, [&] { madvise(memory, size, MADV_DONTNEED); });
        with.forgets(memory, size, [&] { madvise(memory, size, MADV_FREE); });
        munmap(memory, size);
    }
    SECTION("sbrk") {
        const auto step = static_cast<std::intptr_t>(size);
        void* heap = sbrk(step);
        REQUIRE(heap != MAP_FAILED);
        with.forgets(heap, size, [&] { sbrk(-step); });
        munmap(memory, size);
    }
    SECTION("shmdt") {
        munmap(memory, size);
        const int id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
        if (id < 0) {
            WARN("no System V shared memory here, errno " << errno);
            return;
        }
        void* segment = shmat(id, nullptr, 0);
        shmctl(id, IPC_RMID, nullptr);
        with.forgets(segment, size, [&] { shmdt(segment); });
    }
    SECTION("free") {
        munmap(memory, size);
        if (!test::has_allocator_of_libc) {
            WARN("skipped: the sanitizer's allocator calls the kernel without the C library");
            return;
        }
        void* block = std::malloc(large);
        REQUIRE(block != nullptr);
        with.forgets(block, large, [&] { std::free(block); });
    }
    SECTION("while it is being registered, by this thread") {
        bool once = true;
        with.registrar.check = [&](std::uintptr_t, std::size_t, unsigned) {
            if (std::exchange(once, false)) map(size, memory);
            return UCS_OK;
        };
        CHECK(fake_registrar::record_of(with.get(memory, size).handle()).number == 1);
        CHECK(with.cache.regions() == 1);
        CHECK(with.registrar.live() == 1);
        munmap(memory, size);
    }
    with.cache.collect();
    CHECK(with.registrar.live() == 0);
    CHECK_FALSE(with.registrar.wrong());
}

TEST_CASE("without memory events memory is registered for each use, and the log says why") {
    const ucm_global_config_t usual = ucm_global_opts;
    ucm_global_opts.enable_events = 0;
    test::log_capture log;
    {
        fixture with;
        CHECK_FALSE(with.cache.is_caching());
        void* memory = map(page);
        const registration first = with.get(memory, page);
        CHECK(with.get(memory, page).handle() != first.handle());
        munmap(memory, page);
        fixture other;
        CHECK_FALSE(other.cache.is_caching());
    }
    ucm_global_opts = usual;
    CHECK(log.count("memory is registered for each use") == 1);
}

// Some threads unmap and remap each slot, others look it up.
TEST_CASE("no thread gets a registration of memory that another thread has unmapped") {
    constexpr std::size_t slots = 8;
    constexpr unsigned rounds = 2000;
    struct slot {
        std::mutex lock;
        void* memory = nullptr;
        unsigned long generation = 0;
    };
    std::array<slot, slots> all;
    const std::size_t size = 4 * page;
    char* const begin = static_cast<char*>(map(slots * size));
    for (std::size_t i = 0; i < slots; ++i)
        all[i].memory = begin + i * size;

    fixture with;
    // The registering thread holds the slot's lock.
    with.registrar.note_of = [&](std::uintptr_t address) {
        return all[(address - reinterpret_cast<std::uintptr_t>(begin)) / size].generation;
    };
    std::atomic<bool> good{true};
    const auto look_up = [&](unsigned seed) {
        for (unsigned i = 0; i < rounds; ++i) {
            slot& one = all[(i * seed) % slots];
            const std::lock_guard guard(one.lock);
            auto got = with.cache.get(one.memory, size, 1);
            if (!got || fake_registrar::record_of(got->handle()).note != one.generation)
                good = false;
        }
    };
    const auto change = [&](unsigned seed) {
        for (unsigned i = 0; i < rounds; ++i) {
            slot& one = all[(i * seed) % slots];
            const std::lock_guard guard(one.lock);
            if ((i & 1U) != 0) {
                munmap(one.memory, size);
                ++one.generation;
                if (mmap(one.memory, size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != one.memory) {
                    good = false;
                }
            } else {
                madvise(one.memory, size, MADV_DONTNEED);
                ++one.generation;
            }
        }
    };
    std::vector<std::thread> threads;
    for (const unsigned seed : {1U, 3U, 5U})
        threads.emplace_back(look_up, seed);
    threads.emplace_back(change, 7U);
    threads.emplace_back(change, 1U);
    for (std::thread& one : threads)
        one.join();
    CHECK(good);
    munmap(begin, slots * size);
    with.cache.collect();
    CHECK(with.registrar.live() == 0);
    CHECK_FALSE(with.registrar.wrong());
}

TEST_CASE("threads share registrations") {
    fixture with;
    constexpr std::size_t blocks = 16;
    char* const memory = static_cast<char*>(map(blocks * page));
    std::atomic<bool> good{true};
    std::vector<std::thread> threads;
    for (unsigned seed = 1; seed <= 4; ++seed) {
        threads.emplace_back([&, seed] {
            registration held;
            for (unsigned i = 0; i < 3000; ++i) {
                const std::size_t first = (i * seed * 7) % blocks;
                const std::size_t count = 1 + i % (blocks - first);
                auto got = with.cache.get(memory + first * page, count * page, 1U << (i % 2));
                if (!got || !fake_registrar::record_of(got->handle()).alive) {
                    good = false;
                    return;
                }
                held = *std::move(got);
                if (i % 100 == 0) with.cache.purge();
            }
        });
    }
    for (std::thread& one : threads)
        one.join();
    CHECK(good);
    with.cache.purge();
    CHECK(with.registrar.live() == 0);
    CHECK_FALSE(with.registrar.wrong());
    munmap(memory, blocks * page);
}

TEST_CASE("the child of a fork starts with an empty cache") {
    fixture with;
    void* memory = map(4 * page);
    registration used = with.get(memory, page);
    with.get(static_cast<char*>(memory) + 2 * page, page);
    std::atomic<bool> stop{false};
    // This thread may hold the cache's lock at any moment.
    std::thread other([&] {
        while (!stop)
            (void)with.cache.get(memory, page, 1);
    });
    int bad = 0;
    for (int i = 0; i < 50; ++i) {
        const int status = test::run_in_child([&] {
            const std::size_t live = with.registrar.live();
            bool good = with.cache.regions() == 0 && with.cache.bytes() == 0;
            {
                auto own = with.cache.get(memory, page, 1);
                good = good && own.ok() && own->handle() != used.handle();
                auto again = with.cache.get(memory, page, 1);
                good = good && again.ok() && again->handle() == own->handle();
            }
            good = good && with.registrar.live() == live + 1;
            used.reset();
            with.cache.purge();
            good = good && with.registrar.live() == live && !with.registrar.wrong();
            (void)with.cache.get(memory, page, 1);
            munmap(memory, page);
            good = good && with.cache.regions() == 0;
            return good ? 0 : 1;
        });
        if (status != 0) ++bad;
    }
    stop = true;
    other.join();
    CHECK(bad == 0);
    CHECK(with.get(memory, page).handle() == used.handle());
    CHECK(with.registrar.live() == 2);
    used.reset();
    munmap(memory, 4 * page);
}
