// List of a context's workers, for the object tree.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "ucp/core/context.hpp"
#include "ucp/core/worker_view.hpp"

namespace ucp {

struct context::worker_list {
    std::mutex lock;  // workers are created and destroyed on any thread
    struct shown {
        std::string name;  // name in the tree
        std::shared_ptr<worker_view> view;
    };
    std::vector<shown> live;
};

}  // namespace ucp
