#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Has the system write a file to stable storage.
///
/// - Returns: Whether it did; otherwise `errno` says why not.
func synchronizeFile(_ descriptor: Int32) -> Bool {
    #if canImport(Darwin)
        // There, fsync leaves the bytes in the drive's cache. Some file systems have fsync only (fcntl(2)).
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
    #endif
    return fsync(descriptor) == 0
}
