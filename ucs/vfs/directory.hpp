// One folder of the object tree, and how objects put themselves into it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ucs/type/status.h"

namespace ucs::vfs {

class directory;
class mailbox;

// Something that shows itself in the tree. Objects store nothing for it: the tree is made from
// the live objects when somebody looks.
class object {
public:
    // Adds files and subfolders. Called in the object's own context: under the lock of the tree
    // for a root, by the owner for what lies behind a mailbox.
    virtual void describe(directory& into) const = 0;

protected:
    ~object() = default;
};

// One folder while it is being looked at. Value functions are called only for the file that is
// read, in the same context as describe.
class directory {
public:
    using reader = std::function<std::string()>;
    using writer = std::function<ucs_status_t(std::string_view)>;
    using filler = std::function<void(directory&)>;
    using finder = std::function<void(std::string_view name, directory&)>;

    void file(std::string name, reader read, writer write = {});
    void folder(std::string name, const object& child);
    void folder(std::string name, filler fill);
    // For folders of thousands: `find` adds the entry of one name only, if there is one.
    void folder(std::string name, filler fill, finder find);
    // A folder whose content another thread owns; `fill` adds what any thread may read.
    void folder(std::string name, filler fill, std::shared_ptr<mailbox> owner);
    void link(std::string name, std::string target);

    struct entry {
        enum class kind { file, folder, link } type = kind::folder;
        std::string name;
        reader read;
        writer write;
        filler fill;
        finder find;
        std::shared_ptr<mailbox> owner;
        std::string target;
    };
    [[nodiscard]] const std::vector<entry>& entries() const noexcept { return entries_; }

private:
    std::vector<entry> entries_;
};

// A text that people or peers chose, as the name of an entry: without '/', never empty.
[[nodiscard]] std::string file_name(std::string_view text);

}  // namespace ucs::vfs
