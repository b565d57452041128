// Writes JSON (RFC 8259), one member a line.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace tools {

// Builds one document in the order of the calls: begin_object(), members and elements, end() for
// each object and array. Replaces invalid UTF-8; writes null for a number that is not finite.
class json_writer {
public:
    void begin_object();                       // the document, or an element of an array
    void begin_object(std::string_view name);  // a member
    void begin_array(std::string_view name);
    void end();  // the innermost object or array

    template<class Value>
    void member(std::string_view name, const Value& value) {
        begin_member(name);
        write(value);
    }
    template<class Value>
    void element(const Value& value) {
        begin_item();
        write(value);
    }

    // Returns the document, which is complete after the last end().
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    void begin_item();
    void begin_member(std::string_view name);
    void open(char bracket, char closing);
    void write(std::string_view value);
    void write(const char* value) { write(std::string_view(value)); }
    void write(bool value) { text_ += value ? "true" : "false"; }
    void write(std::nullptr_t) { text_ += "null"; }
    void write(double value);
    void write(std::integral auto value) { text_ += std::to_string(value); }

    std::string text_;
    std::string closing_;  // the bracket that ends each level
    bool empty_ = true;    // the innermost level has no items yet
};

}  // namespace tools
