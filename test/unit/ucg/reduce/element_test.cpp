#include "ucg/reduce/element.hpp"

#include <catch2/catch.hpp>
#include <complex>
#include <string>

using namespace ucg::reduce;

TEST_CASE("elements are as long as in C") {
    struct int16_at {
        std::int16_t value;
        std::int32_t place;
    };
    struct fp64_at {
        double value;
        std::int32_t place;
    };
    CHECK(size_of(element::fp8_e4m3) == 1);
    CHECK(size_of(element::bf16) == 2);
    CHECK(size_of(element::complex64) == sizeof(std::complex<double>));
    CHECK(size_of(element::int16_at) == sizeof(int16_at));
    CHECK(size_of(element::fp64_at) == sizeof(fp64_at));
}

TEST_CASE("operations are defined for the element types that support them") {
    CHECK(is_defined(element::int8, operation::bitwise_xor));
    CHECK_FALSE(is_defined(element::fp32, operation::bitwise_xor));
    CHECK_FALSE(is_defined(element::fp32, operation::logical_and));
    CHECK(is_defined(element::complex32, operation::product));
    CHECK_FALSE(is_defined(element::complex32, operation::minimum));
    CHECK(is_defined(element::fp64_at, operation::maximum_at));
    CHECK_FALSE(is_defined(element::fp64_at, operation::sum));
    CHECK_FALSE(is_defined(element::fp64, operation::maximum_at));
    CHECK(name(element::fp64_at) == std::string("fp64_at"));
    CHECK(name(operation::maximum_at) == std::string("maximum_at"));
}
