#include "ucs/vfs/global_options.hpp"

#include <mutex>

#include "ucs/log/settings.hpp"
#include "ucs/vfs/tree.hpp"

namespace ucs::vfs {
namespace {

std::string_view without_line_end(std::string_view text) noexcept {
    while (text.ends_with('\n'))
        text.remove_suffix(1);
    return text;
}

struct global_options final : object {
    void describe(directory& into) const override {
        into.file("log_level", log::current_levels,
                  [](std::string_view text) { return log::set_level(without_line_end(text)); });
    }
};

}  // namespace

void show_global_options() {
    static const global_options shown;
    static std::once_flag once;
    std::call_once(once, [] { add_root("ucs/global_opts", shown); });
}

}  // namespace ucs::vfs
