#include "ucs/memory/host_pages.hpp"

#include <catch2/catch.hpp>
#include <memory>

using ucs::memory::host_pages;

namespace {

const void* page(std::uintptr_t number) {
    return reinterpret_cast<const void*>(number << host_pages::page_bits);
}

ucs::memory::address_range pages(std::uintptr_t first, std::uintptr_t count) {
    return {first << host_pages::page_bits, (first + count) << host_pages::page_bits};
}

void add(host_pages& to, std::uintptr_t number) {
    to.add(page(number), to.begin_query());
}

}  // namespace

TEST_CASE("a set of host pages contains what was added, until it is removed", "[ucs][memory]") {
    const auto set = std::make_unique<host_pages>();
    CHECK_FALSE(set->contains(page(5)));
    add(*set, 5);
    CHECK(set->contains(page(5)));
    CHECK(set->contains(static_cast<const char*>(page(5)) + 4095));
    CHECK_FALSE(set->contains(page(6)));
    add(*set, 6);
    set->remove(pages(6, 1));
    CHECK(set->contains(page(5)));
    CHECK_FALSE(set->contains(page(6)));
    // A part of a page is enough.
    set->remove({(5U << host_pages::page_bits) + 100, (5U << host_pages::page_bits) + 101});
    CHECK_FALSE(set->contains(page(5)));
}

TEST_CASE("a long range removes all its host pages", "[ucs][memory]") {
    const auto set = std::make_unique<host_pages>();
    for (std::uintptr_t number = 1; number < 3000; number += 7)
        add(*set, number);
    set->remove(pages(0, 1U << 20U));
    for (std::uintptr_t number = 1; number < 3000; ++number)
        CHECK_FALSE(set->contains(page(number)));
}

TEST_CASE("a page with the same hash takes the place of another one", "[ucs][memory]") {
    const auto set = std::make_unique<host_pages>();
    add(*set, 1);
    add(*set, 1 + 4096);
    CHECK_FALSE(set->contains(page(1)));
    CHECK(set->contains(page(1 + 4096)));
    set->remove(pages(1, 1));
    CHECK(set->contains(page(1 + 4096)));
}

TEST_CASE("an answer that is older than a removal is not kept", "[ucs][memory]") {
    const auto set = std::make_unique<host_pages>();
    const std::uint64_t query = set->begin_query();
    set->remove(pages(100, 1));
    set->add(page(5), query);
    CHECK_FALSE(set->contains(page(5)));
}

TEST_CASE("the null pointer counts as host memory", "[ucs][memory]") {
    const auto set = std::make_unique<host_pages>();
    CHECK(set->contains(nullptr));
    set->remove({0, ~std::uintptr_t{0}});
    CHECK(set->contains(nullptr));
}
