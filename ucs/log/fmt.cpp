// The non-template part of fmt, compiled once instead of in each file that logs. It is part of our
// libraries instead of the system's libfmt.so, so a program that loads them does not load another
// library with C++ symbols.
//
// The functions below are internals of fmt 9: the build asks for it (cmake/dependencies.cmake).
#include <fmt/format-inl.h>

#if FMT_VERSION < 90000 || FMT_VERSION >= 100000
#error "ucs/log/fmt.cpp is written for fmt 9"
#endif

FMT_BEGIN_NAMESPACE
namespace detail {

template FMT_API auto dragonbox::to_decimal(float number) noexcept -> dragonbox::decimal_fp<float>;
template FMT_API auto dragonbox::to_decimal(double number) noexcept
    -> dragonbox::decimal_fp<double>;
template FMT_API locale_ref::locale_ref(const std::locale& locale);
template FMT_API auto locale_ref::get<std::locale>() const -> std::locale;
template FMT_API auto thousands_sep_impl(locale_ref locale) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl(locale_ref locale) -> char;
template FMT_API void buffer<char>::append(const char* first, const char* last);
template FMT_API void vformat_to(buffer<char>& text, string_view format,
                                 basic_format_args<FMT_BUFFER_CONTEXT(char)> arguments,
                                 locale_ref locale);

}  // namespace detail
FMT_END_NAMESPACE
