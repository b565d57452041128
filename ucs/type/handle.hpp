// Casts between the handles of a C interface and their C++ objects.
#pragma once

// Defines from(c_handle), which returns the object, and handle(object&), which returns the handle.
#define UCS_HANDLE(c_handle, object)                 \
    inline object& from(c_handle given) noexcept {   \
        return *reinterpret_cast<object*>(given);    \
    }                                                \
    inline c_handle handle(object& given) noexcept { \
        return reinterpret_cast<c_handle>(&given);   \
    }
