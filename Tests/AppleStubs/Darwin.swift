// swift-format-ignore-file
// The parts of Apple's C library that Linux does not have. With them, code for Apple's systems is type-checked on Linux
// (`.ci/apple`).
@_exported import Glibc

public let SO_NOSIGPIPE: Int32 = 0x1022
public let F_FULLFSYNC: Int32 = 51

extension stat {
    public var st_mtimespec: timespec { st_mtim }
}
