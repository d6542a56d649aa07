#if os(Linux)
    import Foundation

    /// glibc's allocator.
    enum AllocatorArenas {
        /// Limits the number of arenas to the number of cores. By default, there are up to eight arenas for each core,
        /// which reach their largest sizes at different times. Therefore, the resident memory grows for an hour
        /// although no more memory is in use. Existing arenas remain.
        static func limit(to count: Int) {
            // `mallopt` and its constant M_ARENA_MAX are not in the Glibc module.
            guard let symbol = dlsym(nil, "mallopt") else { return }
            let mallopt = unsafeBitCast(symbol, to: (@convention(c) (Int32, Int32) -> Int32).self)
            _ = mallopt(-8, Int32(count))
        }

        /// Returns memory that is free, but retained by the allocator, to the system. Memory that is resident
        /// afterwards is in use, or shares a page with memory in use.
        static func trim() {
            // `malloc_trim` is not in the Glibc module.
            guard let symbol = dlsym(nil, "malloc_trim") else { return }
            let trim = unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)
            _ = trim(0)
        }
    }
#endif
