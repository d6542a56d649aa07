#if os(Linux)
    /// The memory that libcurl uses while a handle exists: header lines and the text of an error.
    final class CurlHandleMemory {
        let lines = CurlHeaderLines()
        let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: 256)

        fileprivate init() {
            errorText.initialize(repeating: 0, count: 256)
        }

        deinit {
            errorText.deallocate()
        }

        /// The memory of ended handles, for the next handles of the same loop.
        final class Pool {
            private var spare: [CurlHandleMemory] = []

            func take() -> CurlHandleMemory { spare.popLast() ?? CurlHandleMemory() }

            /// Puts the memory of a handle that libcurl has freed back into the pool.
            func giveBack(_ memory: CurlHandleMemory) {
                guard memory.lines.clear(), spare.count < 64 else { return }
                memory.errorText[0] = 0
                spare.append(memory)
            }
        }
    }
#endif
