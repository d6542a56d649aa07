#if os(Linux)
    import CLibcurl
    import Glibc

    /// The sockets of one loop, and what is waited for on each of them.
    ///
    /// A connection that is kept stays registered with the kernel between two requests, so that a request costs no call for it. That is
    /// safe for sockets that were opened here, since their closing is seen here too; others are forgotten as soon as libcurl says so.
    final class CurlSockets {
        private struct Entry {
            /// Opened by ``openSocket(family:type:protocol:)``.
            var isOurs = false
            /// What libcurl waits for.
            var wanted: UInt32 = 0
            /// What the kernel was told to tell.
            var registered: UInt32 = 0
        }

        /// What happened on a socket.
        struct Event {
            let socket: Int32
            let events: Int32
        }

        private let epoll: Int32
        private let alarm: Int32
        private var entries: [Entry] = []
        private var ready = [epoll_event](repeating: epoll_event(), count: 256)
        private var readyCount = 0

        /// - Throws: ``NetworkError`` where the system has no descriptor left.
        init() throws {
            epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
            alarm = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
            guard epoll >= 0, alarm >= 0 else {
                let reason = String(cString: strerror(errno))
                if epoll >= 0 { close(epoll) }
                if alarm >= 0 { close(alarm) }
                throw NetworkError(.unknown, reason: "the engine cannot be started: \(reason)")
            }
            control(EPOLL_CTL_ADD, alarm, EPOLLIN.rawValue)
        }

        deinit {
            close(epoll)
            close(alarm)
        }

        /// Ends a wait, or the next one. From any thread.
        func wake() {
            var one: UInt64 = 1
            _ = write(alarm, &one, 8)
        }

        /// Waits for something to happen, at most so many milliseconds; -1 waits for ever.
        func wait(milliseconds: Int32) {
            let count = ready.withUnsafeMutableBufferPointer {
                epoll_wait(epoll, $0.baseAddress, Int32($0.count), milliseconds)
            }
            readyCount = max(Int(count), 0)
        }

        /// Hands over what the last wait brought.
        func handleReady(_ handle: (Event) -> Void) {
            for index in 0..<readyCount {
                let socket = ready[index].data.fd
                if socket == alarm {
                    var number: UInt64 = 0
                    _ = read(alarm, &number, 8)
                } else if isWanted(socket) {
                    handle(Event(socket: socket, events: CurlSockets.selection(ready[index].events)))
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
            let wanted = CurlSockets.mask(what)
            update(socket) { $0.wanted = wanted }
            let entry = entries[Int(socket)]
            if wanted == 0 {
                if !entry.isOurs { forget(socket) }
            } else if entry.registered != wanted {
                control(entry.registered == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, wanted)
                update(socket) { $0.registered = wanted }
            }
        }

        /// Whether libcurl waits for the socket. One that is idle, and was closed by its peer, is not listened to any longer.
        private func isWanted(_ socket: Int32) -> Bool {
            guard entries[Int(socket)].wanted == 0 else { return true }
            forget(socket)
            return false
        }

        private func forget(_ socket: Int32) {
            guard entries[Int(socket)].registered != 0 else { return }
            control(EPOLL_CTL_DEL, socket, 0)
            update(socket) { $0.registered = 0 }
        }

        private func update(_ socket: Int32, _ change: (inout Entry) -> Void) {
            let index = Int(socket)
            if index >= entries.count {
                entries += Array(repeating: Entry(), count: max(64, index + 1 - entries.count))
            }
            change(&entries[index])
        }

        private func control(_ operation: Int32, _ socket: Int32, _ events: UInt32) {
            var event = epoll_event(events: events, data: epoll_data_t(fd: socket))
            // A socket that its owner closed before it said so is gone from the kernel's list already, and new in it next time.
            if epoll_ctl(epoll, operation, socket, &event) != 0, operation == EPOLL_CTL_MOD {
                _ = epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event)
            }
        }

        private static func mask(_ what: Int32) -> UInt32 {
            switch what {
            case Int32(CCURL_POLL_IN): EPOLLIN.rawValue
            case Int32(CCURL_POLL_OUT): EPOLLOUT.rawValue
            case Int32(CCURL_POLL_INOUT): EPOLLIN.rawValue | EPOLLOUT.rawValue
            default: 0
            }
        }

        private static func selection(_ events: UInt32) -> Int32 {
            var selection = 0
            if events & (EPOLLIN.rawValue | EPOLLHUP.rawValue) != 0 { selection |= CCURL_CSELECT_IN }
            if events & EPOLLOUT.rawValue != 0 { selection |= CCURL_CSELECT_OUT }
            if events & EPOLLERR.rawValue != 0 { selection |= CCURL_CSELECT_ERR }
            return Int32(selection)
        }
    }
#endif
