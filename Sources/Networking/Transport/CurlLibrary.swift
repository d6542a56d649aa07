#if os(Linux)
    import CLibcurl

    /// The system's libcurl, loaded at run time: the same that Foundation's networking needs.
    enum CurlLibrary {
        /// Why there is none.
        enum Fault: Error, Equatable, CustomStringConvertible {
            /// There is no `libcurl.so.4`.
            case notFound
            /// It is older than 7.68.
            case tooOld

            var description: String {
                switch self {
                case .notFound: "there is no libcurl on this system"
                case .tooOld: "this system's libcurl is older than 7.68"
                }
            }
        }

        /// The outcome of loading it, once a process.
        static let loaded = Result { () throws(Fault) in try load("libcurl.so.4") }

        /// Loads a library, unless one is loaded already.
        ///
        /// - Returns: What the library says it is.
        static func load(_ name: String) throws(Fault) -> String {
            switch clibcurl_load(name) {
            case CLIBCURL_LOADED: clibcurl_version().map { String(cString: $0) } ?? ""
            case CLIBCURL_NOT_FOUND: throw .notFound
            default: throw .tooOld
            }
        }
    }
#endif
