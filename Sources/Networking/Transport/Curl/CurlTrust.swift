#if os(Linux)
    import Foundation

    /// The file of trusted certificates, which may be replaced while the process runs.
    struct CurlTrust {
        /// What changes when the file is replaced or written.
        private struct Identity: Equatable {
            var (device, file, size): (UInt64, UInt64, Int64) = (0, 0, 0)
            var (seconds, nanoseconds): (Int, Int) = (0, 0)

            init(_ path: String) {
                var status = stat()
                guard stat(path, &status) == 0 else { return }
                (device, file, size) = (UInt64(status.st_dev), UInt64(status.st_ino), Int64(status.st_size))
                (seconds, nanoseconds) = (status.modificationTime.tv_sec, status.modificationTime.tv_nsec)
            }
        }

        private let path: String
        private var identity: Identity
        private var checked: UInt64 = 0
        private var changed: UInt64?

        /// - Returns: Nil if the trusted certificates are not in a file of the app.
        init?(_ trust: TLSConfiguration.Trust) {
            guard case .file(let file) = trust else { return nil }
            path = file.path
            identity = Identity(path)
        }

        /// Checks the file at most once a second. Returns whether the file has changed since the previous check.
        mutating func isReplaced(at now: UInt64) -> Bool {
            guard now >= checked &+ 1_000_000_000 else { return false }
            checked = now
            let found = Identity(path)
            guard found != identity else { return false }
            identity = found
            changed = now
            return true
        }

        /// Whether libcurl must read the file for a new connection. libcurl may have read the file between the change
        /// and the check, so the result is true for a while after a change.
        func mustBeRead(at now: UInt64) -> Bool { changed.map { now < $0 &+ 60_000_000_000 } ?? false }
    }
#endif
