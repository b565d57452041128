#include "ucs/datastruct/callbackq.hpp"

#include <algorithm>

namespace ucs::datastruct {

callbackq::id callbackq::append(function callback, void* arg, bool once) {
    entries_.push_back({callback, arg, ++last_, once});
    return last_;
}

callbackq::id callbackq::add(function callback, void* arg) {
    return append(callback, arg, false);
}

callbackq::id callbackq::add_once(function callback, void* arg) {
    return append(callback, arg, true);
}

void callbackq::remove(id handle) noexcept {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        if (entries_[i].handle == handle && handle != 0) {
            drop(i);
            break;
        }
    }
    if (depth_ == 0) compact();
}

void callbackq::remove_once(const void* arg) noexcept {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        if (entries_[i].once && entries_[i].arg == arg) drop(i);
    }
    if (depth_ == 0) compact();
}

void callbackq::drop(std::size_t index) noexcept {
    entries_[index] = {nothing, nullptr, 0, false};
    ++holes_;
}

void callbackq::compact() noexcept {
    std::erase_if(entries_, [](const entry& e) { return e.handle == 0; });
    holes_ = 0;
}

}  // namespace ucs::datastruct
