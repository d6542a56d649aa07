#if os(Linux)
    import CLibcurl
    import Glibc

    /// The sockets of one loop, and what is waited for on each of them.
    ///
    /// A connection that is kept stays on the kernel's list between two requests, so that a request costs no system call for it. That is
    /// safe for sockets that were opened here, since their closing is seen here too; others are taken off as soon as libcurl says so.
    final class CurlSockets {
        private struct Entry {
            /// Opened by ``openSocket(family:type:protocol:)``.
            var isOurs = false
            /// What libcurl waits for.
            var wanted: Int32 = 0
            /// What the kernel was told to tell.
            var registered: Int32 = 0
        }

        private let epoll: Int32
        private let alarm: Int32
        private var entries: [Entry] = []
        private var ready = [clibcurl_event](repeating: clibcurl_event(), count: 256)
        private var readyCount = 0

        /// - Throws: ``NetworkError`` where the system has no descriptor left.
        init() throws {
            epoll = clibcurl_epoll_create()
            alarm = clibcurl_alarm_create(epoll)
            guard epoll >= 0, alarm >= 0 else {
                let reason = String(cString: strerror(errno))
                if epoll >= 0 { close(epoll) }
                if alarm >= 0 { close(alarm) }
                throw NetworkError(.unknown, reason: "the engine cannot be started: \(reason)")
            }
        }

        deinit {
            close(epoll)
            close(alarm)
        }

        /// Ends a wait, or the next one. From any thread.
        func wake() {
            clibcurl_alarm_ring(alarm)
        }

        /// Waits for something to happen, at most so many milliseconds; -1 waits for ever.
        func wait(milliseconds: Int32) {
            readyCount = Int(clibcurl_epoll_wait(epoll, &ready, Int32(ready.count), milliseconds))
        }

        /// Whether the last wait brought nothing.
        var isQuiet: Bool { readyCount == 0 }

        /// Hands over what the last wait brought.
        func handleReady(_ handle: (clibcurl_event) -> Void) {
            for event in ready[..<readyCount] where event.socket != alarm {
                if entries[Int(event.socket)].wanted != 0 {
                    handle(event)
                } else {
                    // A connection that is idle and was closed by its peer: libcurl will see it when it wants to use it again.
                    forget(event.socket)
                }
            }
            readyCount = 0
        }

        /// Opens a socket.
        func openSocket(family: Int32, type: Int32, protocol number: Int32) -> Int32 {
            let opened = socket(family, type | Int32(SOCK_CLOEXEC.rawValue), number)
            if opened >= 0 { update(opened) { $0 = Entry(isOurs: true) } }
            return opened
        }

        /// Closes a socket that was opened here.
        func closeSocket(_ socket: Int32) -> Int32 {
            update(socket) { $0 = Entry() }
            return close(socket)
        }

        /// Libcurl says what it waits for on a socket.
        func want(_ what: Int32, on socket: Int32) {
            let wanted = what & Int32(CCURL_POLL_INOUT)
            update(socket) { $0.wanted = wanted }
            let entry = entries[Int(socket)]
            if wanted == 0 {
                if !entry.isOurs { forget(socket) }
            } else if entry.registered != wanted {
                clibcurl_epoll_set(epoll, socket, wanted)
                update(socket) { $0.registered = wanted }
            }
        }

        private func forget(_ socket: Int32) {
            guard entries[Int(socket)].registered != 0 else { return }
            clibcurl_epoll_set(epoll, socket, 0)
            update(socket) { $0.registered = 0 }
        }

        private func update(_ socket: Int32, _ change: (inout Entry) -> Void) {
            let index = Int(socket)
            if index >= entries.count {
                entries += Array(repeating: Entry(), count: max(64, index + 1 - entries.count))
            }
            change(&entries[index])
        }
    }
#endif
