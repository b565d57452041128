// libucs_signal.so.0, which exists for programs that open it by name. It exports nothing: the
// library has no signal handlers that would need protection.
