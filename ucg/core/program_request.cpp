#include "ucg/core/program_request.hpp"

#include "ucg/core/group.hpp"

namespace ucg {

program_request::program_request(group& of, std::unique_ptr<schedule::program> what,
                                 const char* name, std::uint32_t kind)
    : request(of, 0, {}),
      name_(name),
      kind_(kind),
      what_(std::move(what)),
      work_(of.over(), of.frames()) {
    work_.init(*what_);
    work_.on_end([](schedule::operation& ended,
                    void* self) { static_cast<program_request*>(self)->end(ended.status()); },
                 this);
}

signature program_request::says() const noexcept {
    signature made{};
    made.what = signature::program + kind_;
    return made;
}

std::vector<schedule::rank_t> program_request::awaited() const {
    return of().missing(work_);
}

}  // namespace ucg
