#if os(Linux)
    import CLibcurl

    /// libcurl's callbacks for sockets and timers.
    extension CurlLoop {
        func installCallbacks() {
            let me = Unmanaged.passUnretained(self).toOpaque()
            clibcurl_multi_set_pointer(multi, Int32(CCURLMOPT_SOCKETDATA), me)
            clibcurl_multi_set_socket(multi, Int32(CCURLMOPT_SOCKETFUNCTION)) { easy, socket, what, loop, _ in
                let handle = easy.flatMap { CurlHandle.of($0) }
                CurlLoop.of(loop)?.sockets.want(what, on: socket, by: handle.map(ObjectIdentifier.init))
                if what != CCURL_POLL_REMOVE {
                    handle?.socket = socket
                    handle?.exchange?.noteConnection()
                }
                return 0
            }
            clibcurl_multi_set_pointer(multi, Int32(CCURLMOPT_TIMERDATA), me)
            clibcurl_multi_set_timer(multi, Int32(CCURLMOPT_TIMERFUNCTION)) { _, milliseconds, loop in
                CurlLoop.of(loop)?.setTimer(milliseconds)
                return 0
            }
        }

        /// Sets the time at which libcurl must be called. A millisecond is added, because libcurl truncates to
        /// milliseconds and sets a timer only once: if libcurl were called too early, the timer would be lost.
        private func setTimer(_ milliseconds: Int) {
            switch milliseconds {
            case ..<0: timer = nil
            case 0: timer = 0
            default: timer = CurlLoop.time() + UInt64(milliseconds + 1) * 1_000_000
            }
        }

        func set(_ option: Int, _ value: Int) {
            clibcurl_multi_set_long(multi, Int32(option), value)
        }

        private static func of(_ pointer: UnsafeMutableRawPointer?) -> CurlLoop? {
            pointer.map { Unmanaged<CurlLoop>.fromOpaque($0).takeUnretainedValue() }
        }
    }
#endif
