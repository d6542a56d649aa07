import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The size of the largest file that the process may write (`RLIMIT_FSIZE`). If the process writes a larger file, the
/// system ends the process with a signal.
enum FileSizeLimit {
    static var current: Int64 {
        var limit = rlimit()
        return getrlimit(resource, &limit) == 0 ? Int64(clamping: UInt64(limit.rlim_cur)) : .max
    }

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    #else
        private static let resource = RLIMIT_FSIZE
    #endif
}
