// The object tree: every context, worker, interface and endpoint describes itself on demand.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ucs/type/result.hpp"

namespace ucs::vfs {

class directory;

// Something that shows itself in the tree. Objects store nothing for it: the tree is made from
// the live objects when somebody looks.
class object {
public:
    // Adds files and subfolders. Called under the lock of the tree that the object hangs in.
    virtual void describe(directory& into) const = 0;

protected:
    ~object() = default;
};

// One folder while it is being looked at. Value functions are called only for the file that is
// read.
class directory {
public:
    using reader = std::function<std::string()>;
    using writer = std::function<ucs_status_t(std::string_view)>;

    void file(std::string name, reader read, writer write = {});
    void folder(std::string name, const object& child);
    void folder(std::string name, std::function<void(directory&)> fill);
    void link(std::string name, std::string target);

    struct entry {
        enum class kind { file, folder, link } type;
        std::string name;
        reader read;
        writer write;
        std::function<void(directory&)> fill;
        std::string target;
    };
    [[nodiscard]] const std::vector<entry>& entries() const noexcept { return entries_; }

private:
    std::vector<entry> entries_;
};

// Roots of the tree ("ucp/context/<name>"): add and remove are called by the objects' owners,
// list, read and write by anybody, from any thread.
void add_root(std::string path, const object& root);
void remove_root(const object& root);
[[nodiscard]] result<std::vector<std::string>> list(std::string_view path);  // folders end in '/'
[[nodiscard]] result<std::string> read(std::string_view path);
ucs_status_t write(std::string_view path, std::string_view text);

}  // namespace ucs::vfs
