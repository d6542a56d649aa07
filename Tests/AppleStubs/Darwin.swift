// swift-format-ignore-file
// The part of Apple's C library that Linux's has not, so that code for Apple's can be type-checked on Linux (`.ci/apple`).
@_exported import Glibc

public let SO_NOSIGPIPE: Int32 = 0x1022
public let F_FULLFSYNC: Int32 = 51
