#include "ucs/type/status.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <set>
#include <string>

#include "ucs/type/result.hpp"
#include "ucs/type/unique_fd.hpp"

TEST_CASE("every status value has a text") {
    for (int value = -128; value < 128; ++value) {
        const char* text = ucs_status_string(static_cast<ucs_status_t>(value));
        REQUIRE(text != nullptr);
        REQUIRE(std::strlen(text) > 3);
    }
}

TEST_CASE("named statuses have texts of their own") {
    std::set<std::string> texts;
    for (int value = UCS_ERR_CONNECTION_RESET; value <= UCS_INPROGRESS; ++value) {
        texts.insert(ucs_status_string(static_cast<ucs_status_t>(value)));
    }
    CHECK(texts.size() == 27);
    CHECK(std::string(ucs_status_string(UCS_OK)) == "Success");
    CHECK(texts.count("Unknown error") == 0);
    CHECK(std::string(ucs_status_string(static_cast<ucs_status_t>(-45))) == "Link failure");
    CHECK(std::string(ucs_status_string(static_cast<ucs_status_t>(-99))) == "Unknown error");
}

TEST_CASE("a result holds a value or a status") {
    ucs::result<std::string> value(std::string("text"));
    REQUIRE(value);
    CHECK(value.status() == UCS_OK);
    CHECK(value->size() == 4);
    CHECK(*std::move(value) == "text");
    const ucs::result<std::string> error(UCS_ERR_BUSY);
    CHECK_FALSE(error.ok());
    CHECK(error.status() == UCS_ERR_BUSY);
}

TEST_CASE("status pointers distinguish done, error and request") {
    int request = 0;
    CHECK(UCS_PTR_STATUS(nullptr) == UCS_OK);
    CHECK_FALSE(UCS_PTR_IS_ERR(nullptr));
    CHECK_FALSE(UCS_PTR_IS_PTR(nullptr));
    CHECK(UCS_PTR_IS_PTR(&request));
    CHECK(UCS_PTR_STATUS(&request) == UCS_INPROGRESS);
    ucs_status_ptr_t error = UCS_STATUS_PTR(UCS_ERR_CANCELED);
    CHECK(UCS_PTR_IS_ERR(error));
    CHECK(UCS_PTR_STATUS(error) == UCS_ERR_CANCELED);
}

TEST_CASE("unique_fd closes what it owns, once") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const ucs::unique_fd reader(ends[0]);
    {
        ucs::unique_fd writer(ends[1]);
        const ucs::unique_fd moved(std::move(writer));
        CHECK(moved.get() == ends[1]);
        char byte = 'x';
        REQUIRE(::write(moved.get(), &byte, 1) == 1);
        REQUIRE(::read(reader.get(), &byte, 1) == 1);
    }
    char byte = 0;
    CHECK(::read(reader.get(), &byte, 1) == 0);  // end of file: the writer is closed
}
