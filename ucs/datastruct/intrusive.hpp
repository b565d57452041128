// Aliases for the Boost.Intrusive containers that the library uses.
//
// An intrusive container links elements through a hook that is a member of the element, so
// inserting allocates nothing, cannot fail, and removing needs no search. The container never owns
// its elements. An element may be in one container per hook. Hooks check nothing in release
// builds; an `auto_unlink_hook` leaves its list when the element is destroyed, at the price of a
// list that does not know its size. Hash tables bring their bucket array from outside.
#pragma once

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>
#include <boost/intrusive/slist.hpp>

namespace ucs::datastruct {

namespace bi = boost::intrusive;

using list_hook = bi::list_member_hook<bi::link_mode<bi::safe_link>>;
using auto_unlink_hook = bi::list_member_hook<bi::link_mode<bi::auto_unlink>>;
using queue_hook = bi::slist_member_hook<bi::link_mode<bi::safe_link>>;
using tree_hook = bi::set_member_hook<bi::link_mode<bi::safe_link>, bi::optimize_size<true>>;

// Doubly linked, O(1) removal of any element, no size().
template<class T, list_hook T::*Hook>
using list = bi::list<T, bi::member_hook<T, list_hook, Hook>, bi::constant_time_size<false>>;

// The same with size().
template<class T, list_hook T::*Hook>
using counted_list = bi::list<T, bi::member_hook<T, list_hook, Hook>, bi::constant_time_size<true>>;

// A list whose elements leave it when they are destroyed.
template<class T, auto_unlink_hook T::*Hook>
using auto_list =
    bi::list<T, bi::member_hook<T, auto_unlink_hook, Hook>, bi::constant_time_size<false>>;

// Singly linked first-in first-out queue: push_back, front, pop_front.
template<class T, queue_hook T::*Hook>
using queue = bi::slist<T, bi::member_hook<T, queue_hook, Hook>, bi::cache_last<true>,
                        bi::constant_time_size<false>>;

// Sorted by key, equal keys allowed, O(log n) search. KeyOf has `using type` and
// `operator()(const T&)`.
template<class T, tree_hook T::*Hook, class KeyOf>
using tree_multiset = bi::multiset<T, bi::member_hook<T, tree_hook, Hook>, bi::key_of_value<KeyOf>,
                                   bi::constant_time_size<false>>;

}  // namespace ucs::datastruct
