// How AddressSanitizer behaves in the fuzz targets. A peer may say that a message is longer than
// all memory: the code that allocates it must get "no memory", as it does without the sanitizer,
// and go on. An allocation that cannot say no (a container that a peer's number sizes) still ends
// the target.
extern "C" const char* __asan_default_options();

const char* __asan_default_options() {
    return "allocator_may_return_null=1:max_allocation_size_mb=1024";
}
