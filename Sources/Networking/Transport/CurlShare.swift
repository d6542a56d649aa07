#if os(Linux)
    import CLibcurl

    /// The TLS sessions that the handles of one loop have in common, so that a new connection takes up an old session.
    final class CurlShare {
        let pointer: UnsafeMutableRawPointer

        /// - Throws: ``NetworkError`` where there is no memory.
        init() throws {
            guard let pointer = clibcurl_share_init() else {
                throw NetworkError(.unknown, reason: "the engine cannot be started")
            }
            self.pointer = pointer
            // Without locks: only the loop's thread carries requests with it.
            clibcurl_share_set_long(pointer, Int32(CCURLSHOPT_SHARE), CCURL_LOCK_DATA_SSL_SESSION)
        }

        deinit {
            clibcurl_share_cleanup(pointer)
        }
    }
#endif
