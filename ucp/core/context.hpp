// The UCP context, which ucp_init makes: the options, and the transports that its workers may use.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ucp/core/config.hpp"
#include "ucp/core/host_costs.hpp"
#include "ucp/core/request_pool.hpp"
#include "ucp/mem/device_domains.hpp"
#include "ucp/mem/memory_table.hpp"
#include "ucs/config/source.hpp"
#include "ucs/memory/device_memory.hpp"
#include "ucs/security/key.hpp"
#include "ucs/vfs/directory.hpp"
#include "uct/api/component.hpp"

namespace ucp {

// The parameters of ucp_init, with defaults for those that the program does not give.
struct context_params {
    std::uint64_t features = 0;
    request_pool::user_area request_area;
    std::uint64_t tag_sender_mask = 0;
    bool workers_shared = false;
    std::size_t estimated_eps = 0;
    std::size_t estimated_ppn = 0;
    std::string name;
};

// A transport on a device that the configuration allows, and the component that opens it.
struct usable_resource {
    const uct::component* component;
    uct::resource where;
    // True if the configuration excludes the resource, but paired lanes need it as their bootstrap
    // lane. Then it carries only connection messages.
    bool only_connects = false;
    std::uint8_t memory = mem::no_device;  // index in context::devices
};

// A transport on a device that is not used, and the reason. For display only.
struct refused_resource {
    std::string transport;
    std::string device;
    std::string reason;
};

class worker_view;

// Root object. Reads the options and finds the transports. The context must outlive its workers. It
// is immutable after creation, so any thread may read it; the table of registered memory has a lock
// of its own.
class context final : public ucs::vfs::object {
public:
    // `components` are the transports to choose from: the built-in ones, or a simulation.
    static ucs::result<std::unique_ptr<context>> create(
        const context_params& params, ucs::config::source source,
        std::span<const uct::component* const> components);
    ~context();

    [[nodiscard]] const context_params& params() const noexcept { return params_; }
    [[nodiscard]] const config& options() const noexcept { return config_; }
    // Returns whether resources() contains a transport on an RDMA device that carries more than
    // connection messages.
    [[nodiscard]] bool has_rdma_devices() const noexcept;
    [[nodiscard]] const ucs::config::source& source() const noexcept { return source_; }
    [[nodiscard]] const std::vector<usable_resource>& resources() const noexcept {
        return resources_;
    }
    [[nodiscard]] const std::vector<refused_resource>& refused() const noexcept { return refused_; }
    [[nodiscard]] const host_costs& costs() const noexcept { return costs_; }
    // Returns the job key (UCX_JOB_KEY, UCX_JOB_KEY_FILE), or nullptr if there is none.
    [[nodiscard]] const ucs::security::key* job_key() const noexcept {
        return job_key_ ? &*job_key_ : nullptr;
    }
    [[nodiscard]] const std::string& name() const noexcept { return params_.name; }
    [[nodiscard]] mem::memory_table& memories() const noexcept { return *memories_; }
    [[nodiscard]] mem::device_domains& devices() const noexcept { return *devices_; }

    // Text for ucp_context_print_info. MPI libraries parse its "resource" lines.
    [[nodiscard]] std::string info() const;

    void describe(ucs::vfs::directory& into) const override;

private:
    friend class worker;
    context(const context_params& params, ucs::config::source source, config options);
    ucs_status_t find_resources(std::span<const uct::component* const> components);
    void add_bootstrap(std::span<const uct::component* const> components);

    // Workers register and unregister their view in the object tree.
    void attach(const std::shared_ptr<worker_view>& shown) const;
    void detach(const std::shared_ptr<worker_view>& shown) const;

    const ucs::memory::device_memory_user device_memory_;
    context_params params_;
    const ucs::config::source source_;
    const config config_;
    std::optional<ucs::security::key> job_key_;
    std::vector<usable_resource> resources_;
    std::vector<refused_resource> refused_;
    host_costs costs_;
    std::string path_;  // path of this context in the object tree
    struct worker_list;
    std::unique_ptr<worker_list> workers_;
    std::unique_ptr<mem::device_domains> devices_;
    std::unique_ptr<mem::memory_table> memories_;
};

// Every option table of the library, for ucp_config_read, modify and print.
[[nodiscard]] std::vector<const ucs::config::table*> option_tables();

}  // namespace ucp
