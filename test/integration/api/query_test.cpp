// Versions, attributes, printed pages, and structs of programs that were compiled for older
// headers.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <sstream>

#include "test/integration/api/world.hpp"

using namespace api;

namespace {

// Sizes in 1.13, the oldest interface that programs in use were compiled for.
constexpr std::size_t old_params = 80;
constexpr std::size_t old_context_attr = 64;
constexpr std::size_t old_ep_attr = 296;
constexpr std::size_t old_request_param = 72;

// A shorter struct, filled with a value, of which the library must not read or write more.
template<class Struct>
class shortened {
public:
    explicit shortened(std::size_t size) : memory_(size) { std::memset(memory_.get(), 0x55, size); }
    [[nodiscard]] Struct* get() const { return static_cast<Struct*>(memory_.get()); }
    Struct* operator->() const { return get(); }

private:
    const guarded_memory memory_;
};

}  // namespace

TEST_CASE("programs accept the version without a warning") {
    unsigned major = 0, minor = 0, release = 99;
    ucp_get_version(&major, &minor, &release);
    CHECK(major == 1);
    CHECK(minor >= 19);
    const std::string start = std::to_string(major) + "." + std::to_string(minor) + ".";
    CHECK(std::string(ucp_get_version_string()).rfind(start, 0) == 0);
    ucp_lib_attr_t attr{};
    attr.field_mask = UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL;
    CHECK(ucp_lib_query(&attr) == UCS_OK);
    CHECK(attr.max_thread_level == UCS_THREAD_MODE_MULTI);
}

TEST_CASE("programs of other versions are accepted, with a warning if functions may be missing") {
    const ucp_params_t options = tag_params();
    struct version {
        unsigned major, minor;
        bool warns;
    };
    const version each = GENERATE(version{1, 9, false}, version{1, 13, false}, version{1, 99, true},
                                  version{2, 0, true}, version{0, 1, true});
    CAPTURE(each.major, each.minor);
    ucp_context_h context = nullptr;
    captured_output log;
    const ucs_status_t status =
        ucp_init_version(each.major, each.minor, &options, nullptr, &context);
    const std::string text = log.text();
    REQUIRE(status == UCS_OK);
    ucp_cleanup(context);
    INFO(text);
    CHECK((text.find("version") != std::string::npos) == each.warns);
}

TEST_CASE("the context reports its attributes") {
    world_options options;
    options.request_size = 100;
    const world in(options);
    ucp_context_attr_t attr;
    std::memset(&attr, 0x55, sizeof attr);
    attr.field_mask =
        UCP_ATTR_FIELD_MEMORY_TYPES | UCP_ATTR_FIELD_THREAD_MODE | UCP_ATTR_FIELD_NAME;
    REQUIRE(ucp_context_query(in.context, &attr) == UCS_OK);
    CHECK(attr.request_size == 0x5555555555555555);
    CHECK((attr.memory_types & (1U << UCS_MEMORY_TYPE_HOST)) != 0);
    CHECK(attr.thread_mode == UCS_THREAD_MODE_SINGLE);
    CHECK(std::memchr(attr.name, 0, sizeof attr.name) != nullptr);
    CHECK(std::strlen(attr.name) > 0);
}

TEST_CASE("the context's page has the lines from which Open MPI chooses transports") {
    const world in;
    std::istringstream text(printed([&](FILE* to) { ucp_context_print_info(in.context, to); }));
    int resources = 0;
    bool self = false;
    for (std::string line; std::getline(text, line);) {
        if (line.rfind("#  resource ", 0) != 0) continue;
        INFO(line);
        CHECK(line.size() < 127);
        int number = -1, domain = -1, device = -1;
        char transport[64] = {}, name[64] = {};
        CHECK(std::sscanf(line.c_str(),
                          "#  resource %d : md %d dev %d flags -- %63[^/ \n]/%63[^ \n]", &number,
                          &domain, &device, transport, name) == 5);
        CHECK(number == resources++);
        CHECK(domain >= 0);
        CHECK(device >= 0);
        self = self || std::strcmp(transport, "self") == 0;
    }
    CHECK(resources >= 1);
    CHECK(self);
}

TEST_CASE("the worker reports its attributes, and only the requested ones") {
    const world in;
    ucp_worker_attr_t attr;
    std::memset(&attr, 0x55, sizeof attr);
    attr.field_mask = UCP_WORKER_ATTR_FIELD_THREAD_MODE;
    REQUIRE(ucp_worker_query(in.sender, &attr) == UCS_OK);
    CHECK(attr.thread_mode == UCS_THREAD_MODE_SINGLE);
    CHECK(attr.address_length == 0x5555555555555555);
    attr.field_mask = UCP_WORKER_ATTR_FIELD_NAME | UCP_WORKER_ATTR_FIELD_MAX_INFO_STRING |
                      UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER;
    REQUIRE(ucp_worker_query(in.sender, &attr) == UCS_OK);
    CHECK(std::memchr(attr.name, 0, sizeof attr.name) != nullptr);
    CHECK(attr.max_debug_string >= 64);
    CHECK(attr.max_debug_string < 100000);
}

TEST_CASE("a worker has the given name") {
    const world in;
    ucp_worker_params_t options{};
    options.field_mask = UCP_WORKER_PARAM_FIELD_NAME;
    options.name = "hauler";
    ucp_worker_h worker = nullptr;
    REQUIRE(ucp_worker_create(in.context, &options, &worker) == UCS_OK);
    CHECK(attributes_of(worker, UCP_WORKER_ATTR_FIELD_NAME).name == std::string("hauler"));
    ucp_worker_destroy(worker);
}

TEST_CASE("the default name of a worker contains its host and process, and is unique") {
    const world in;
    const std::string name = attributes_of(in.sender, UCP_WORKER_ATTR_FIELD_NAME).name;
    const std::string other = attributes_of(in.receiver, UCP_WORKER_ATTR_FIELD_NAME).name;
    CHECK(name.substr(name.find(':') + 1).starts_with(std::to_string(::getpid())));
    CHECK((name != other || in.loopback()));
}

TEST_CASE("the worker's address has a full form and a form for other hosts") {
    const world in;
    const ucp_worker_attr_t full = attributes_of(in.receiver, UCP_WORKER_ATTR_FIELD_ADDRESS);
    ucp_worker_attr_t net{};
    net.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS;
    net.address_flags = UCP_WORKER_ADDRESS_FLAG_NET_ONLY;
    REQUIRE(ucp_worker_query(in.receiver, &net) == UCS_OK);
    CHECK(full.address_length <= 1024);
    CHECK(net.address_length < full.address_length);
    ucp_worker_address_attr_t full_uid{UCP_WORKER_ADDRESS_ATTR_FIELD_UID, 0};
    ucp_worker_address_attr_t net_uid{UCP_WORKER_ADDRESS_ATTR_FIELD_UID, 1};
    CHECK(ucp_worker_address_query(full.address, &full_uid) == UCS_OK);
    CHECK(ucp_worker_address_query(net.address, &net_uid) == UCS_OK);
    CHECK(full_uid.worker_uid == net_uid.worker_uid);
    CHECK(full_uid.worker_uid != 0);
    ucp_worker_release_address(in.receiver, full.address);
    ucp_worker_release_address(in.receiver, net.address);
}

TEST_CASE("every worker has its own uid") {
    const world in;
    const ucp_worker_h other = make_worker(in.context);
    std::uint64_t uids[2] = {};
    int i = 0;
    for (const ucp_worker_h each : {in.sender, other}) {
        auto bytes = address_of(each);
        ucp_worker_address_attr_t attr{UCP_WORKER_ADDRESS_ATTR_FIELD_UID, 0};
        REQUIRE(ucp_worker_address_query(reinterpret_cast<ucp_address_t*>(bytes.data()), &attr) ==
                UCS_OK);
        uids[i++] = attr.worker_uid;
    }
    CHECK(uids[0] != uids[1]);
    ucp_worker_destroy(other);
}

TEST_CASE("members and bits that the mask does not name are ignored") {
    const world in;
    ucp_worker_params_t options;
    std::memset(&options, 0xFF, sizeof options);
    options.field_mask = UCP_WORKER_PARAM_FIELD_FLAGS;
    options.flags = ~std::uint64_t{0} & ~std::uint64_t{UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK};
    ucp_worker_h worker = nullptr;
    REQUIRE(ucp_worker_create(in.context, &options, &worker) == UCS_OK);
    ucp_worker_destroy(worker);
    ucp_params_t params;
    std::memset(&params, 0xFF, sizeof params);
    params.field_mask = UCP_PARAM_FIELD_FEATURES | (std::uint64_t{1} << 60);
    params.features = UCP_FEATURE_TAG;
    ucp_context_h context = nullptr;
    REQUIRE(ucp_init(&params, nullptr, &context) == UCS_OK);
    ucp_cleanup(context);
}

TEST_CASE("memory behind the struct of an older program is not read: contexts and workers") {
    // Also for a shorter struct: memory behind the last member that the mask names is not read.
    for (const std::size_t size : {old_params, offsetof(ucp_params_t, request_size)}) {
        const shortened<ucp_params_t> options(size);
        options->field_mask = UCP_PARAM_FIELD_FEATURES;
        options->features = UCP_FEATURE_TAG;
        ucp_context_h context = nullptr;
        REQUIRE(ucp_init(options.get(), nullptr, &context) == UCS_OK);
        for (const std::size_t attr_size :
             {old_context_attr, offsetof(ucp_context_attr_t, thread_mode)}) {
            const shortened<ucp_context_attr_t> attr(attr_size);
            attr->field_mask = UCP_ATTR_FIELD_REQUEST_SIZE;
            REQUIRE(ucp_context_query(context, attr.get()) == UCS_OK);
        }
        const shortened<ucp_worker_params_t> worker_options(
            offsetof(ucp_worker_params_t, cpu_mask));
        worker_options->field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
        worker_options->thread_mode = UCS_THREAD_MODE_SERIALIZED;
        ucp_worker_h worker = nullptr;
        REQUIRE(ucp_worker_create(context, worker_options.get(), &worker) == UCS_OK);
        const shortened<ucp_worker_attr_t> query(offsetof(ucp_worker_attr_t, address));
        query->field_mask = UCP_WORKER_ATTR_FIELD_THREAD_MODE;
        REQUIRE(ucp_worker_query(worker, query.get()) == UCS_OK);
        CHECK(query->thread_mode == UCS_THREAD_MODE_SERIALIZED);
        ucp_worker_destroy(worker);
        ucp_cleanup(context);
    }
}

TEST_CASE("memory behind the struct of an older program is not read: endpoints and operations") {
    const world in;
    const auto address = address_of(in.receiver);
    const shortened<ucp_ep_params_t> options(offsetof(ucp_ep_params_t, err_mode));
    options->field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    options->address = reinterpret_cast<const ucp_address_t*>(address.data());
    const ucp_ep_h ep = create_ep(in.sender, *options.get());
    for (const std::size_t size : {old_ep_attr, offsetof(ucp_ep_attr_t, local_sockaddr)}) {
        const shortened<ucp_ep_attr_t> attr(size);
        attr->field_mask = UCP_EP_ATTR_FIELD_NAME;
        REQUIRE(ucp_ep_query(ep, attr.get()) == UCS_OK);
    }
    for (const std::size_t size : {old_request_param, offsetof(ucp_request_param_t, request)}) {
        for (const std::size_t length : std::initializer_list<std::size_t>{0, 1, 5000, 1 << 20}) {
            const shortened<ucp_request_param_t> param(size);
            param->op_attr_mask = 0;
            const auto data = pattern(length, 1);
            std::vector<std::byte> into(length);
            const auto receiving =
                ucp_tag_recv_nbx(in.receiver, into.data(), length, 1, ~ucp_tag_t{0}, param.get());
            const auto sending = ucp_tag_send_nbx(ep, data.data(), length, 1, param.get());
            CHECK(in.finish(ucp_ep_flush_nbx(ep, param.get())) == UCS_OK);
            CHECK(in.finish(ucp_worker_flush_nbx(in.sender, param.get())) == UCS_OK);
            CHECK(in.finish(receiving) == UCS_OK);
            CHECK(in.finish(sending) == UCS_OK);
            CHECK(into == data);
        }
    }
    const shortened<ucp_request_param_t> param(offsetof(ucp_request_param_t, request));
    param->op_attr_mask = 0;
    CHECK(in.finish(ucp_ep_close_nbx(ep, param.get())) == UCS_OK);
}
