#if os(Linux)
    import CLibcurl

    /// A multi handle of libcurl on a loop, with the sockets and the timer that it asks for.
    ///
    /// Exclusivity is not checked at run time, because only one thread uses the variables, and accesses do not overlap.
    final class CurlMulti {
        let pointer: UnsafeMutableRawPointer
        private let sockets: CurlSockets
        /// Whether the handles are those of WebSockets.
        private let isForWebSockets: Bool
        /// The time at which libcurl must be called; nil if it has no timer.
        @exclusivity(unchecked) var timer: UInt64?
        @exclusivity(unchecked) private var isOpen = true

        /// - Throws: ``NetworkError`` if libcurl has no memory.
        init(on sockets: CurlSockets, isForWebSockets: Bool = false) throws {
            guard let pointer = clibcurl_multi_init() else {
                throw NetworkError(
                    .unknown, reason: "the engine cannot be started, because libcurl cannot allocate memory")
            }
            self.pointer = pointer
            self.sockets = sockets
            self.isForWebSockets = isForWebSockets
            installCallbacks()
        }

        deinit {
            close()
        }

        func close() {
            guard isOpen else { return }
            isOpen = false
            clibcurl_multi_cleanup(pointer)
        }

        func set(_ option: Int, _ value: Int) {
            clibcurl_multi_set_long(pointer, Int32(option), value)
        }

        /// Calls libcurl if its timer is due.
        func runTimer(at now: UInt64, _ pace: CurlPace) {
            guard let due = timer, due <= now else { return }
            timer = nil
            pace.begin()
            clibcurl_multi_socket_action(pointer, Int32(CCURL_SOCKET_TIMEOUT), 0)
        }

        private func installCallbacks() {
            let me = Unmanaged.passUnretained(self).toOpaque()
            clibcurl_multi_set_pointer(pointer, Int32(CCURLMOPT_SOCKETDATA), me)
            clibcurl_multi_set_socket(pointer, Int32(CCURLMOPT_SOCKETFUNCTION)) { easy, socket, what, multi, _ in
                let handle = easy.flatMap { CurlHandle.of($0) }
                if let multi = CurlMulti.of(multi) {
                    multi.sockets.want(what, on: socket, forWebSocket: multi.isForWebSockets)
                }
                if what != CCURL_POLL_REMOVE {
                    handle?.use(socket)
                    handle?.exchange?.noteConnection()
                }
                return 0
            }
            clibcurl_multi_set_pointer(pointer, Int32(CCURLMOPT_TIMERDATA), me)
            clibcurl_multi_set_timer(pointer, Int32(CCURLMOPT_TIMERFUNCTION)) { _, milliseconds, multi in
                CurlMulti.of(multi)?.setTimer(milliseconds)
                return 0
            }
        }

        /// Sets the time at which libcurl must be called. A millisecond is added, because libcurl truncates to
        /// milliseconds. libcurl sets a timer only once, so if libcurl were called too early, the timer would be lost.
        private func setTimer(_ milliseconds: Int) {
            switch milliseconds {
            case ..<0: timer = nil
            case 0: timer = 0
            default: timer = CurlLoop.time() + UInt64(milliseconds + 1) * 1_000_000
            }
        }

        private static func of(_ pointer: UnsafeMutableRawPointer?) -> CurlMulti? {
            pointer.map { Unmanaged<CurlMulti>.fromOpaque($0).takeUnretainedValue() }
        }
    }
#endif
