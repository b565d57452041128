// Options of AddressSanitizer for the fuzz targets. A peer may announce a message that is longer
// than all memory: its allocation must fail with "no memory", as without the sanitizer, and the
// code must go on. An allocation that cannot fail (a container whose size is a peer's number) still
// ends the target.
extern "C" const char* __asan_default_options();

const char* __asan_default_options() {
    return "allocator_may_return_null=1:max_allocation_size_mb=1024";
}
