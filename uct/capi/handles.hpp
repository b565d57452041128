// The C handles of UCT and their C++ objects. All casts between the two are here.
#pragma once

#include "ucs/config/source.hpp"
#include "ucs/log/boundary.hpp"
#include "uct/api/component.hpp"
#include "uct/api/uct.h"
#include "uct/base/log.hpp"

// Option values of the caller. Owned by the caller that read them.
struct uct_md_config {
    ucs::config::source values;
};

// A component with its options. Owned by the caller.
struct uct_md {
    const uct::component& component;
    ucs::config::source values;
};

namespace uct::capi {

// Components are built in and never change, but the C interface has no const handles.
inline uct_component_h to_handle(const component* object) noexcept {
    return reinterpret_cast<uct_component_h>(const_cast<component*>(object));
}

inline const component& from_handle(uct_component_h handle) noexcept {
    return *reinterpret_cast<const component*>(handle);
}

// Copies a name into a fixed array, cut to its size and always terminated.
template<std::size_t Size>
void copy_name(char (&into)[Size], std::string_view name) noexcept {
    into[name.copy(into, Size - 1)] = '\0';
}

}  // namespace uct::capi
