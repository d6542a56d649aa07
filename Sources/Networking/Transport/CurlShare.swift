#if os(Linux)
    import CLibcurl
    import Foundation

    /// The TLS sessions that the handles of one loop have in common, so that a new connection takes up an old session.
    final class CurlShare {
        private let pointer: UnsafeMutableRawPointer
        private let lock = NSLock()

        /// - Throws: ``NetworkError`` where there is no memory.
        init() throws {
            guard let pointer = clibcurl_share_init() else {
                throw NetworkError(.unknown, reason: "the engine cannot be started")
            }
            self.pointer = pointer
            // Without libcurl's own locks: only the loop's thread carries requests with it.
            clibcurl_share_set_long(pointer, Int32(CCURLSHOPT_SHARE), CCURL_LOCK_DATA_SSL_SESSION)
        }

        deinit {
            clibcurl_share_cleanup(pointer)
        }

        /// Has a handle take part. Handles are made and ended by callers, too, and the share counts them without a lock of its own.
        func attach(_ easy: UnsafeMutableRawPointer) {
            lock.withLock { _ = clibcurl_easy_set_pointer(easy, Int32(CCURLOPT_SHARE), pointer) }
        }

        /// Ends a handle that takes part.
        func cleanUp(_ easy: UnsafeMutableRawPointer) {
            lock.withLock { clibcurl_easy_cleanup(easy) }
        }
    }
#endif
