#include "tools/common/json_writer.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "tools/common/json_report.hpp"

using tools::json_writer;

namespace {

// Writes one text as the only member of a document.
std::string quoted(std::string_view text) {
    json_writer writer;
    writer.begin_object();
    writer.member("t", text);
    writer.end();
    return writer.text();
}

std::string in_document(const std::string& value) {
    return "{\n  \"t\": " + value + "\n}\n";
}

}  // namespace

TEST_CASE("json: objects and arrays nest, one member a line") {
    json_writer writer;
    writer.begin_object();
    writer.member("count", 3U);
    writer.member("below", -7);
    writer.member("yes", true);
    writer.member("nothing", nullptr);
    writer.begin_array("list");
    writer.element("a");
    writer.begin_object();
    writer.member("x", 0.5);
    writer.end();
    writer.end();
    writer.begin_array("empty");
    writer.end();
    writer.begin_object("none");
    writer.end();
    writer.end();
    CHECK(writer.text() == R"({
  "count": 3,
  "below": -7,
  "yes": true,
  "nothing": null,
  "list": [
    "a",
    {
      "x": 0.5
    }
  ],
  "empty": [],
  "none": {}
}
)");
}

TEST_CASE("json: texts are escaped, and invalid UTF-8 is replaced") {
    CHECK(quoted("a\"b\\c\n\t\x01") == in_document(R"("a\"b\\c\n\t\u0001")"));
    const std::string good = "\xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80";
    CHECK(quoted(good) == in_document("\"" + good + "\""));
    const std::string wrong = "\xEF\xBF\xBD";
    CHECK(quoted("\xE4") == in_document("\"" + wrong + "\""));
    CHECK(quoted("\xC0\x80") == in_document("\"" + wrong + wrong + "\""));              // too long
    CHECK(quoted("\xED\xA0\x80") == in_document("\"" + wrong + wrong + wrong + "\""));  // surrogate
    CHECK(quoted("\xE2\x82") == in_document("\"" + wrong + wrong + "\""));              // cut off
}

TEST_CASE("json: numbers that are not finite become null") {
    for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
        json_writer writer;
        writer.begin_object();
        writer.member("t", value);
        writer.end();
        CHECK(writer.text() == in_document("null"));
    }
}

TEST_CASE("the value of a variable that holds a key is a secret") {
    CHECK(tools::is_secret("UCX_JOB_KEY"));
    CHECK_FALSE(tools::is_secret("UCX_JOB_KEY_FILE"));
    CHECK_FALSE(tools::is_secret("UCX_TLS"));
}
