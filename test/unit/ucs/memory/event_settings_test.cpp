#include "ucs/memory/event_settings.hpp"

#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"

TEST_CASE("options of memory events are passed to libucm if they are set") {
    const ucm_global_config_t usual = ucm_global_opts;
    auto from = ucs::config::source::empty();

    ucm_global_opts.mmap_hook_mode = UCM_MMAP_HOOK_NONE;
    from.set("MEM_EVENTS", "n");
    CHECK(ucs::memory::configure_events(from) == UCS_OK);
    CHECK(ucm_global_opts.enable_events == 0);
    CHECK(ucm_global_opts.mmap_hook_mode == UCM_MMAP_HOOK_NONE);

    from.set("MEM_EVENTS", "y");
    from.set("MEM_MMAP_HOOK_MODE", "reloc");
    CHECK(ucs::memory::configure_events(from) == UCS_OK);
    CHECK(ucm_global_opts.enable_events == 1);
    CHECK(ucm_global_opts.mmap_hook_mode == UCM_MMAP_HOOK_RELOC);
    CHECK(ucm_global_opts.cuda_hook_modes == usual.cuda_hook_modes);

    from.set("MEM_CUDA_HOOK_MODE", "reloc,bistro");
    CHECK(ucs::memory::configure_events(from) == UCS_OK);
    CHECK(ucm_global_opts.cuda_hook_modes ==
          (UCS_BIT(UCM_MMAP_HOOK_RELOC) | UCS_BIT(UCM_MMAP_HOOK_BISTRO)));
    from.set("MEM_CUDA_HOOK_MODE", "none");
    CHECK(ucs::memory::configure_events(from) == UCS_OK);
    CHECK(ucm_global_opts.cuda_hook_modes == UCS_BIT(UCM_MMAP_HOOK_NONE));

    from.set("MEM_EVENTS", "n");
    from.set("MEM_MMAP_HOOK_MODE", "ptrace");
    const test::log_capture log;
    CHECK(ucs::memory::configure_events(from) == UCS_ERR_INVALID_PARAM);
    CHECK(ucm_global_opts.enable_events == 1);
    CHECK(log.count("ptrace") == 1);
    ucm_global_opts = usual;
}
