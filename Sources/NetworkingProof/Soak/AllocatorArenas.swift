#if os(Linux)
    import Foundation

    /// The arenas of glibc's allocator.
    enum AllocatorArenas {
        /// Limits the number of arenas to the number of cores. By default, there are up to eight arenas for each core,
        /// and each one reaches its largest size at another time, so that the resident memory grows for an hour
        /// although no more memory is in use. Arenas that exist already remain.
        static func limit(to count: Int) {
            // `mallopt` and its constant M_ARENA_MAX are not in the Glibc module.
            guard let symbol = dlsym(nil, "mallopt") else { return }
            let mallopt = unsafeBitCast(symbol, to: (@convention(c) (Int32, Int32) -> Int32).self)
            _ = mallopt(-8, Int32(count))
        }
    }
#endif
