#if os(Linux)
    import CLibcurl

    /// The system's libcurl, which is loaded at run time. Foundation's networking uses the same library.
    struct CurlLibrary: Sendable {
        /// The reason why there is no usable library.
        enum Fault: String, Error {
            /// The system has no `libcurl.so.4`.
            case notFound = "there is no libcurl on this system"
            /// The library is older than 7.68, lacks a function, or cannot be initialized.
            case tooOld = "this system's libcurl is older than 7.68, or cannot be initialized"
            /// The library looks up host names on the calling thread, which would block all other requests.
            case blocking = "this system's libcurl was built without asynchronous name lookup"
        }

        /// The features that a library was built with.
        struct Features: OptionSet, Sendable {
            let rawValue: Int

            static let ipv6 = Features(rawValue: CCURL_VERSION_IPV6)
            static let tls = Features(rawValue: CCURL_VERSION_SSL)
            static let asynchronousLookup = Features(rawValue: CCURL_VERSION_ASYNCHDNS)
            static let http2 = Features(rawValue: CCURL_VERSION_HTTP2)
            static let unixSockets = Features(rawValue: CCURL_VERSION_UNIX_SOCKETS)
            static let httpsProxies = Features(rawValue: CCURL_VERSION_HTTPS_PROXY)
        }

        /// The version of the library and of the libraries that it uses: `libcurl/7.88.1 OpenSSL/3.0.19 …`.
        let version: String
        let features: Features
        /// Whether OpenSSL provides TLS.
        let isOnOpenSSL: Bool
        /// Whether OpenSSL before 3.5 provides TLS.
        let isOnOldOpenSSL: Bool
        var number = CurlVersion(0, 0)
        /// The faults that the engine has to avoid on this version. Tests add faults that the version does not have.
        var faults = CurlFault.Set()

        init(
            version: String, features: Features, number: CurlVersion = CurlVersion(0, 0),
            faults: CurlFault.Set = .init()
        ) {
            self.version = version
            self.features = features
            self.number = number
            self.faults = faults
            // Libraries that are built in, but not in use, are in parentheses.
            isOnOpenSSL = version.contains(" OpenSSL/")
            isOnOldOpenSSL = version.contains(#/ OpenSSL\/(1\.|3\.[0-4]\.)/#)
        }

        /// The result of loading the library, which is loaded once per process.
        static let loaded = Result { () throws(Fault) in try load("libcurl.so.4") }

        /// Loads a library, unless one has been loaded already.
        static func load(_ name: String) throws(Fault) -> CurlLibrary {
            switch clibcurl_load(name) {
            case CLIBCURL_LOADED: break
            case CLIBCURL_NOT_FOUND: throw .notFound
            default: throw .tooOld
            }
            let version = clibcurl_version().map { String(cString: $0) } ?? ""
            let number = CurlVersion(number: clibcurl_version_number())
            return try CurlLibrary(
                version: version, features: Features(rawValue: Int(clibcurl_features())), number: number,
                faults: CurlFault.faults(of: number, canLimitRepeats: canLimitRepeats())
            ).checked()
        }

        /// Returns whether libcurl has the option that prevents it from repeating requests: see
        /// ``CurlFault/repeatsRequests``.
        private static func canLimitRepeats() -> Bool {
            guard let easy = clibcurl_easy_init() else { return false }
            defer { clibcurl_easy_cleanup(easy) }
            return clibcurl_easy_set_long(easy, Int32(CCURLOPT_RTSP_REQUEST), CCURL_RTSPREQ_RECEIVE) == CCURLE_OK
        }

        /// Returns whether this version has a fault.
        func has(_ fault: CurlFault) -> Bool { faults.contains(fault) }

        /// Returns the library if it can send several requests at the same time.
        ///
        /// - Throws: ``Fault/blocking`` if it cannot.
        func checked() throws(Fault) -> CurlLibrary {
            guard features.contains(.asynchronousLookup) else { throw .blocking }
            return self
        }
    }

    /// A version of libcurl.
    struct CurlVersion: Comparable, Sendable {
        private let number: UInt32

        init(_ major: UInt32, _ minor: UInt32, _ patch: UInt32 = 0) {
            number = major << 16 | minor << 8 | patch
        }

        /// - Parameter number: The number in libcurl's form, `0xMMmmpp`.
        init(number: UInt32) {
            self.number = number
        }

        static func < (first: CurlVersion, second: CurlVersion) -> Bool { first.number < second.number }
    }

    /// The TLS sessions that the handles of one loop share, so that a new connection can resume an earlier session.
    final class CurlShare {
        private let pointer: UnsafeMutableRawPointer

        /// Creates an empty set of sessions.
        ///
        /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/unknown`` if libcurl cannot allocate the memory.
        init() throws {
            guard let pointer = clibcurl_share_init() else {
                throw NetworkError(
                    .unknown, reason: "the engine cannot be started, because libcurl cannot allocate memory")
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
