// An empty file, for which the build precompiles the headers that all test programs use.
