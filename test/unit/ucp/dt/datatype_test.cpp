#include "ucp/dt/datatype.hpp"

#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/dt/recording_type.hpp"

namespace dt = ucp::dt;

TEST_CASE("datatypes are distinguished by their class bits", "[ucp][dt]") {
    REQUIRE(dt::is_contig(ucp_dt_make_contig(1)));
    REQUIRE(dt::is_contig(ucp_dt_make_contig(std::size_t{1} << 40)));
    REQUIRE(dt::element_size(ucp_dt_make_contig(24)) == 24);
    REQUIRE(dt::is_iov(ucp_dt_make_iov()));
    for (const ucp_datatype_t wrong : {1U, 3U, 4U, 5U, 6U, 7U, 10U, 12U}) {
        INFO(wrong);
        REQUIRE_FALSE(dt::is_valid(wrong));
    }
}

TEST_CASE("contiguous lengths do not wrap around", "[ucp][dt]") {
    std::size_t length = 0;
    REQUIRE(dt::contig_length(ucp_dt_make_contig(8), 1000, length));
    REQUIRE(length == 8000);
    REQUIRE_FALSE(dt::contig_length(ucp_dt_make_contig(1U << 31U), std::size_t{1} << 33, length));
    test::log_capture logs;
    REQUIRE(
        dt::packed_size(ucp_dt_make_contig(1U << 31U), nullptr, std::size_t{1} << 33).status() ==
        UCS_ERR_INVALID_PARAM);
    REQUIRE(logs.size() == 1);
}

TEST_CASE("the length of a list of pieces is checked", "[ucp][dt]") {
    char memory[8];
    const ucp_dt_iov_t good[] = {{memory, 3}, {nullptr, 0}, {memory, 5}};
    REQUIRE(*dt::iov_length(good, 3) == 8);
    REQUIRE(*dt::iov_length(nullptr, 0) == 0);
    REQUIRE(*dt::packed_size(ucp_dt_make_iov(), good, 2) == 3);

    test::log_capture logs;
    REQUIRE(dt::iov_length(nullptr, 1).status() == UCS_ERR_INVALID_PARAM);
    const ucp_dt_iov_t no_memory[] = {{nullptr, 1}};
    REQUIRE(dt::iov_length(no_memory, 1).status() == UCS_ERR_INVALID_PARAM);
    const ucp_dt_iov_t too_long[] = {{memory, ~std::size_t{0}}, {memory, 1}};
    REQUIRE(dt::iov_length(too_long, 2).status() == UCS_ERR_INVALID_PARAM);
    REQUIRE(logs.size() == 3);
}

TEST_CASE("a generic datatype keeps its callbacks and context", "[ucp][dt]") {
    test::recording_type type;
    const ucp_datatype_t datatype = type.datatype();
    REQUIRE(dt::is_generic(datatype));
    REQUIRE(dt::is_valid(datatype));
    REQUIRE((datatype & UCP_DATATYPE_CLASS_MASK) == UCP_DATATYPE_GENERIC);
    REQUIRE(dt::generic_of(datatype)->context == &type);

    const std::vector<std::byte> data(100);
    REQUIRE(*dt::packed_size(datatype, data.data(), data.size()) == data.size());
    REQUIRE(type.starts == 1);
    REQUIRE(type.finishes == 1);
}

TEST_CASE("destroying other datatypes does nothing", "[ucp][dt]") {
    dt::destroy(ucp_dt_make_contig(4));
    dt::destroy(ucp_dt_make_iov());
    dt::destroy(UCP_DATATYPE_GENERIC);
}

TEST_CASE("an unknown class has no packed size", "[ucp][dt]") {
    test::log_capture logs;
    REQUIRE(dt::packed_size(UCP_DATATYPE_STRIDED, nullptr, 1).status() == UCS_ERR_INVALID_PARAM);
    REQUIRE(logs.count("unknown class") == 1);
}
