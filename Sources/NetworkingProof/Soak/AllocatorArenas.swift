#if os(Linux)
    import Foundation

    /// glibc's allocator.
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

        /// Gives memory that is free, but retained by the allocator, back to the system: what is resident afterwards is
        /// in use, or shares a page with something in use.
        static func trim() {
            // `malloc_trim` is not in the Glibc module.
            guard let symbol = dlsym(nil, "malloc_trim") else { return }
            let trim = unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)
            _ = trim(0)
        }
    }
#endif
