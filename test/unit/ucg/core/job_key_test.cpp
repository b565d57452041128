// Tests of the agreement on a random job key.
#include "ucg/core/job_key.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace ucg;

namespace {

key_offer of(key_origin origin, const random_job_key* key = nullptr, bool is_private = true) {
    key_offer made;
    made.origin = static_cast<std::uint32_t>(origin);
    if (key == nullptr) return made;
    made.id = key->id();
    if (is_private) made.key = key->data();
    return made;
}

}  // namespace

TEST_CASE("job key: random keys differ, and so do their names") {
    const random_job_key one = random_job_key::make();
    const random_job_key other = random_job_key::make();
    CHECK(one.data() != other.data());
    CHECK(one.id() != other.id());
    CHECK(one.id() == random_job_key(one.data()).id());
    CHECK(one.text().size() == 64);
    CHECK(one.text() != other.text());
}

TEST_CASE("job key: ranks take the key that one of them proposes or has") {
    using outcome = key_agreement::outcome;
    const random_job_key key = random_job_key::make();
    const random_job_key foreign = random_job_key::make();
    const key_offer open = of(key_origin::open);
    const key_offer fixed = of(key_origin::fixed);
    const key_offer proposes = of(key_origin::open, &key);
    const key_offer has = of(key_origin::random, &key);
    const auto agree = [](std::vector<key_offer> offers) { return agree_on_key(offers); };
    SECTION("no rank has a key") {
        const auto made = agree({open, proposes, open});
        CHECK(made.result == outcome::random);
        REQUIRE(made.key);
        CHECK(made.key->data() == key.data());
    }
    SECTION("the exchange is not private") {
        CHECK(agree({of(key_origin::open, &key, false), open}).result == outcome::none);
        CHECK(agree({open, open}).result == outcome::none);
    }
    SECTION("one rank has a fixed key") {
        CHECK(agree({proposes, fixed}).result == outcome::none);
        CHECK(agree({fixed, fixed}).result == outcome::none);
    }
    SECTION("some ranks have the key already") {
        const auto made = agree({of(key_origin::open, &foreign), has, open});
        CHECK(made.result == outcome::random);
        REQUIRE(made.key);
        CHECK(made.key->data() == key.data());
        CHECK(agree({has, has}).result == outcome::random);
        CHECK(agree({of(key_origin::random, &key, false), has}).result == outcome::random);
    }
    SECTION("other ranks cannot get the key") {
        const auto outsider = agree({has, has, fixed});
        CHECK(outsider.result == outcome::differs);
        CHECK(outsider.member == 2);
        CHECK(agree({has, of(key_origin::random, &foreign)}).member == 1);
        const auto newcomer = agree({open, of(key_origin::random, &key, false)});
        CHECK(newcomer.result == outcome::differs);
        CHECK(newcomer.member == 0);
    }
    SECTION("invalid offers") {
        key_offer wrong = proposes;
        ++wrong.id;
        CHECK(agree({wrong, open}).result == outcome::none);
        wrong = open;
        wrong.origin = 77;
        CHECK(agree({proposes, wrong}).result == outcome::none);
        CHECK(agree({has, wrong}).result == outcome::differs);
    }
    SECTION("one rank insists on a key") {
        key_offer insists = open;
        insists.insists = 1;
        CHECK(agree({insists, fixed}).insists);
        CHECK_FALSE(agree({open, fixed}).insists);
    }
}
