// Nothing: the file for which the build parses the headers that all test programs use.
