// Folders of the object tree, and the interface through which objects add themselves to it.
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

// An object that appears in the tree. It stores nothing for that: the tree is built from the live
// objects on each access.
class object {
public:
    // Adds files and subfolders. Called in the object's own context: for a root under the lock of
    // the tree, for objects behind a mailbox by their owner.
    virtual void describe(directory& into) const = 0;

protected:
    ~object() = default;
};

// One folder during an access. The functions of values are called only for the file that is read,
// in the same context as describe().
class directory {
public:
    using reader = std::function<std::string()>;
    using writer = std::function<ucs_status_t(std::string_view)>;
    using filler = std::function<void(directory&)>;
    using finder = std::function<void(std::string_view name, directory&)>;

    void file(std::string name, reader read, writer write = {});
    void folder(std::string name, const object& child);
    void folder(std::string name, filler fill);
    // For folders with thousands of entries: `find` adds only the entry of the given name, if it
    // exists.
    void folder(std::string name, filler fill, finder find);
    // A folder whose content another thread owns. `fill` adds the entries that any thread may read.
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

// Makes the name of an entry from a text that users or peers chose: without '/', never empty.
[[nodiscard]] std::string file_name(std::string_view text);

}  // namespace ucs::vfs
