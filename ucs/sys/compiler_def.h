/* Compiler helpers that the public headers and programs written against them use. */
#ifndef UCS_SYS_COMPILER_DEF_H_
#define UCS_SYS_COMPILER_DEF_H_

#include <stddef.h>
#include <stdint.h>

/* Linkage brackets for headers shared by C and C++. In the library's own build, which hides every
   symbol, they also mark what stays visible. */
#ifdef HAWSER_EXPORT_C_DECLS
#define HAWSER_VISIBLE_BEGIN _Pragma("GCC visibility push(default)")
#define HAWSER_VISIBLE_END _Pragma("GCC visibility pop")
#else
#define HAWSER_VISIBLE_BEGIN
#define HAWSER_VISIBLE_END
#endif

#ifdef __cplusplus
#define BEGIN_C_DECLS \
    extern "C" {      \
    HAWSER_VISIBLE_BEGIN
#define END_C_DECLS    \
    HAWSER_VISIBLE_END \
    }
#else
#define BEGIN_C_DECLS HAWSER_VISIBLE_BEGIN
#define END_C_DECLS HAWSER_VISIBLE_END
#endif

/* Fails to compile when a constant condition is false; usable as a statement. */
#define UCS_STATIC_ASSERT(_cond) \
    switch (0) {                 \
        case 0:                  \
        case (_cond):;           \
    }

/* Largest block, in bytes, that may be taken from the stack with alloca. */
#define UCS_ALLOCA_MAX_SIZE 1200

/* Attributes: F_ for functions, S_ for structures, V_ for variables. */
#define UCS_F_PURE __attribute__((pure))
#define UCS_F_NORETURN __attribute__((noreturn))
#define UCS_F_NOINLINE __attribute__((noinline))
#define UCS_F_CTOR __attribute__((constructor))
#define UCS_F_DTOR __attribute__((destructor))
#define UCS_F_MAYBE_UNUSED __attribute__((used))
#define UCS_F_NON_NULL __attribute__((nonnull))
#define UCS_F_PRINTF(_format_index, _first_index) \
    __attribute__((format(printf, _format_index, _first_index)))
#define UCS_F_ALWAYS_INLINE inline __attribute__((always_inline))
#define UCS_S_MAY_ALIAS __attribute__((may_alias))
#define UCS_S_PACKED __attribute__((packed))
#define UCS_V_UNUSED __attribute__((unused))
#define UCS_V_ALIGNED(_align) __attribute__((aligned(_align)))

#define ucs_typeof(_type) __typeof__(_type)
#define ucs_same_type(_type1, _type2) __builtin_types_compatible_p(_type1, _type2)

/* Silences "may be used uninitialised" for variables whose initialisation the compiler cannot
 * prove. */
#ifdef __OPTIMIZE__
#define UCS_V_INITIALIZED(_v) ((void)0)
#else
#define UCS_V_INITIALIZED(_v) (_v = (ucs_typeof(_v))0)
#endif

#define UCS_EMPTY_STATEMENT \
    {}

/* One bit, and all bits below one. */
#define UCS_BIT(_i) (1ul << (_i))
#define UCS_MASK(_i) (UCS_BIT(_i) - 1)

/* Pointer arithmetic in bytes, or past one object of a type. */
#define UCS_PTR_BYTE_OFFSET(_ptr, _offset) ((void*)((intptr_t)(_ptr) + (intptr_t)(_offset)))
#define UCS_PTR_TYPE_OFFSET(_ptr, _type) ((void*)((ucs_typeof(_type)*)(_ptr) + 1))
#define UCS_PTR_BYTE_DIFF(_start, _end) ((ptrdiff_t)((uintptr_t)(_end) - (uintptr_t)(_start)))

/* Facts about arrays and structure members. */
#define ucs_static_array_size(_array) (sizeof(_array) / sizeof((_array)[0]))
#define ucs_offsetof(_type, _member) ((unsigned long)__builtin_offsetof(_type, _member))
#define ucs_field_sizeof(_type, _field) sizeof(((_type*)0)->_field)
#define ucs_field_type(_type, _field) ucs_typeof(((_type*)0)->_field)
#define ucs_container_of(_ptr, _type, _member) \
    ((_type*)((char*)(void*)(_ptr)-ucs_offsetof(_type, _member)))
#define ucs_derived_of(_ptr, _type) ucs_container_of(_ptr, _type, super)

/* Hints to the optimiser. */
#define ucs_compiler_fence() __asm__ volatile("" ::: "memory")
#define ucs_prefetch(_ptr) __builtin_prefetch(_ptr)
#define ucs_likely(_x) __builtin_expect(_x, 1)
#define ucs_unlikely(_x) __builtin_expect(_x, 0)
#define ucs_is_constant(_expr) __builtin_constant_p(_expr)

#endif
