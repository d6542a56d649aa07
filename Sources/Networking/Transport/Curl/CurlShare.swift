#if os(Linux)
    import CLibcurl

    /// The TLS sessions that the handles of one loop share, so that a new connection can resume an earlier session.
    final class CurlShare {
        private let pointer: UnsafeMutableRawPointer

        /// Creates an empty set of sessions.
        ///
        /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/unknown`` if libcurl cannot allocate the memory.
        init() throws {
            guard let pointer = clibcurl_share_init() else {
                throw NetworkError(.unknown, reason: "the engine cannot be started")
            }
            self.pointer = pointer
            // No locks are needed, because only one thread at a time uses the handles.
            clibcurl_share_set_long(pointer, Int32(CCURLSHOPT_SHARE), CCURL_LOCK_DATA_SSL_SESSION)
        }

        deinit {
            clibcurl_share_cleanup(pointer)
        }

        /// Adds a handle, which then uses the shared sessions.
        func attach(_ easy: UnsafeMutableRawPointer) {
            clibcurl_easy_set_pointer(easy, Int32(CCURLOPT_SHARE), pointer)
        }
    }
#endif
