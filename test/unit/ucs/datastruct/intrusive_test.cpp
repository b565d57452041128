#include "ucs/datastruct/intrusive.hpp"

#include <catch2/catch.hpp>
#include <vector>

namespace ds = ucs::datastruct;

namespace {

struct element {
    int key;
    ds::list_hook in_list{};
    ds::auto_unlink_hook in_auto{};
    ds::queue_hook in_queue{};
};

}  // namespace

TEST_CASE("an element is in one container per hook at a time") {
    std::vector<element> elements(3);
    for (int i = 0; i < 3; ++i)
        elements[static_cast<std::size_t>(i)].key = i;
    ds::list<element, &element::in_list> list;
    ds::queue<element, &element::in_queue> queue;
    for (element& each : elements) {
        list.push_back(each);
        queue.push_back(each);
    }
    list.erase(list.iterator_to(elements[1]));
    CHECK(list.front().key == 0);
    CHECK(list.back().key == 2);
    queue.pop_front();
    CHECK(queue.front().key == 1);
    list.clear();
    queue.clear();
}

TEST_CASE("an element leaves an auto_list when it is destroyed") {
    ds::auto_list<element, &element::in_auto> list;
    {
        element each{1};
        list.push_back(each);
        CHECK_FALSE(list.empty());
    }
    CHECK(list.empty());
}
