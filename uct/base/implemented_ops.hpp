// Computes capability flags from the functions that an endpoint class overrides.
#pragma once

#include <type_traits>

#include "uct/api/ep.hpp"

namespace uct {

namespace detail {
// &Derived::f has type `R (Derived::*)(...)` only when Derived (or a base between it and ep)
// declares f itself.
template<class Member>
struct class_of;
template<class Result, class Class, class... Args>
struct class_of<Result (Class::*)(Args...)> {
    using type = Class;
};
template<class Member>
inline constexpr bool overridden = !std::is_same_v<typename class_of<Member>::type, ep>;
}  // namespace detail

// Returns the operations that `Ep` implements. All capability flags come from here, so that they
// cannot contradict the class.
template<class Ep>
constexpr op_mask implemented_ops() noexcept {
    op_mask mask;
    if constexpr (detail::overridden<decltype(&Ep::am_short)>) mask.add(op::am_short);
    if constexpr (detail::overridden<decltype(&Ep::am_bcopy)>) mask.add(op::am_bcopy);
    if constexpr (detail::overridden<decltype(&Ep::am_zcopy)>) mask.add(op::am_zcopy);
    if constexpr (detail::overridden<decltype(&Ep::get_zcopy)>) mask.add(op::get_zcopy);
    if constexpr (detail::overridden<decltype(&Ep::put_zcopy)>) mask.add(op::put_zcopy);
    if constexpr (detail::overridden<decltype(&Ep::atomic)>) mask.add(op::atomic);
    if constexpr (detail::overridden<decltype(&Ep::put_short)>) mask.add(op::put_short);
    if constexpr (detail::overridden<decltype(&Ep::put_bcopy)>) mask.add(op::put_bcopy);
    if constexpr (detail::overridden<decltype(&Ep::get_bcopy)>) mask.add(op::get_bcopy);
    return mask;
}

}  // namespace uct
