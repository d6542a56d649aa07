#if os(Linux)
    import CLibcurl
    import Foundation

    /// The sockets of one loop, and the events for which the loop waits on each of them.
    ///
    /// An idle connection stays registered with the kernel between two requests, so that a request needs no system call
    /// to register it. That is safe for sockets that this class opens, because this class closes them, too. Other
    /// sockets are unregistered when libcurl no longer waits for their events.
    ///
    /// Exclusivity is not checked at run time, because only one thread uses the object, and accesses do not overlap.
    final class CurlSockets {
        struct Entry {
            /// Whether ``openSocket(family:type:protocol:)`` opened the socket.
            var isOurs = false
            /// Whether the socket belongs to a WebSocket, which may still be connecting.
            var isOfWebSocket = false
            /// Whether a WebSocket itself waits for the socket. If true, the events that libcurl waits for are ignored.
            var isTaken = false
            /// What the socket's descriptor refers to.
            var file: OpenFile?
            /// The number of the connection, which no other connection of the loop has.
            var number = 0
            /// The origin of the connection's requests.
            var origin: HTTPOrigin?
            /// Whether its connection serves one request at a time (HTTP/1.1).
            var isExclusive = false
            /// The number of handles that use the connection. A paused handle uses it, but waits for no events.
            var users = 0
            /// Whether the connection is one of those that libcurl keeps: ``CurlSockets/keptCount``.
            var isKept = false
            /// Whether no further requests may use the connection.
            var isRetired = false
            /// The time at which the socket was opened. All times are in nanoseconds of the loop's clock.
            var opened: UInt64 = 0
            /// The time at which bytes last arrived.
            var lastArrival: UInt64 = 0
            /// The time at which the first request since the last arrival of bytes began.
            var asked: UInt64 = 0
            /// The ports and addresses of a connection that may serve several requests at a time (HTTP/2).
            var path: CurlStreamLog.Connection?
            /// The time at which an idle connection is closed.
            var expiry = UInt64.max
            /// How long the server keeps an idle connection.
            var serverAge: UInt64?
            /// The events that libcurl waits for.
            var wanted: Int32 = 0
            /// The events that are registered with the kernel.
            var registered: Int32 = 0
        }

        /// Identifies the file that a descriptor refers to. Another file may get the same descriptor later.
        struct OpenFile: Equatable {
            private let device, number: UInt64

            /// - Returns: Nil if the descriptor refers to nothing.
            init?(_ descriptor: Int32) {
                var status = stat()
                guard fstat(descriptor, &status) == 0 else { return nil }
                (device, number) = (UInt64(status.st_dev), UInt64(status.st_ino))
            }
        }

        private let epoll: Int32
        private let alarm: Int32
        /// The time at which the current iteration of the loop began.
        @exclusivity(unchecked) var now: UInt64 = 0
        @exclusivity(unchecked) var entries: [Entry] = []
        @exclusivity(unchecked) private var opened = 0
        /// The number of open connections that requests have used. Connections of WebSockets, and connections that were
        /// ended while they were idle, do not count.
        @exclusivity(unchecked) private(set) var keptCount = 0
        @exclusivity(unchecked) var pool: CurlPool
        /// The file of trusted certificates; nil if the trusted certificates are those of the system, or are in memory.
        @exclusivity(unchecked) var trust: CurlTrust?
        @exclusivity(unchecked) private var ready = [clibcurl_event](repeating: clibcurl_event(), count: 256)
        @exclusivity(unchecked) private var readyCount = 0
        /// The number of exchanges that were paused before libcurl waited for their socket. While this number is not 0,
        /// any idle socket may belong to one of these exchanges.
        @exclusivity(unchecked) var pausesOnUnknownSockets = 0

        /// - Throws: ``NetworkError`` if the system has no descriptor left.
        init(_ configuration: CurlTransport.Configuration) throws {
            pool = CurlPool(configuration.limits)
            trust = CurlTrust(configuration.tls.trust)
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

        /// Ends the current call of ``wait(milliseconds:)``, or the next call if the loop does not wait. May be called
        /// from any thread.
        func wake() {
            clibcurl_alarm_ring(alarm)
        }

        /// Waits for events for at most the given number of milliseconds; -1 waits without limit.
        func wait(milliseconds: Int32) {
            readyCount = Int(clibcurl_epoll_wait(epoll, &ready, Int32(ready.count), milliseconds))
        }

        /// Whether the last wait returned no events.
        var isQuiet: Bool { readyCount == 0 }

        /// Passes each event of the last wait to a closure, together with the number of events. The Boolean argument
        /// says whether the event belongs to a WebSocket. Ends idle HTTP/1.1 connections that have an event.
        func handleReady(_ handle: (clibcurl_event, _ isOfWebSocket: Bool, Int) -> Void) {
            for event in ready[..<readyCount] where event.socket != alarm {
                let index = Int(event.socket)
                if entries[index].wanted != 0 {
                    if event.events & Int32(CCURL_CSELECT_IN) != 0 { entries[index].lastArrival = now }
                    handle(event, entries[index].isOfWebSocket, readyCount)
                } else if event.events == Int32(CCURL_CSELECT_OUT) {
                    // The socket is writable, but the server has sent nothing.
                    register(Int32(CCURL_POLL_IN), for: event.socket)
                } else if entries[index].isExclusive, isIdle(event.socket) {
                    endIdle(event.socket)
                } else {
                    forget(event.socket)
                }
            }
            readyCount = 0
        }

        /// Ends an idle HTTP/1.1 connection that has an event: the server closed it, or sent a response that belongs to
        /// no request. libcurl would treat that response as the response to the next request. (On an idle HTTP/2
        /// connection, frames may arrive; libcurl reads them with the next request.)
        func endIdle(_ socket: Int32) {
            guard isOpen(socket) else { return }
            guard clibcurl_socket_end(socket) == 0 else { return forget(socket) }
            update(socket) {
                $0.file = OpenFile(socket)
                keep(false, &$0)
                $0.registered = 0  // the old socket is closed, and so no longer registered
                ($0.isRetired, $0.expiry) = (true, .max)  // libcurl closes the connection when it next looks for one
            }
        }

        /// Records that a connection serves one request at a time, and how long the server keeps it when it is idle.
        func noteExclusive(_ use: Use, keptFor time: Duration?) {
            guard use.socket >= 0 else { return }
            update(use.socket) {
                guard $0.number == use.number else { return }
                $0.isExclusive = true
                $0.serverAge = time.map { UInt64(max($0.nanoseconds, 0)) }
            }
        }

        /// Opens a socket.
        func openSocket(family: Int32, type: Int32, protocol number: Int32) -> Int32 {
            let opened = socket(family, type | Int32(SOCK_CLOEXEC.rawValue), number)
            guard opened >= 0 else { return opened }
            self.opened += 1
            let file = OpenFile(opened)
            clear(opened)  // the socket of this number was closed without a report
            update(opened) { $0 = Entry(isOurs: true, file: file, number: self.opened, opened: now) }
            return opened
        }

        /// Whether a socket that this class opened is still open. libcurl closes some sockets without
        /// ``closeSocket(_:)`` (``CurlFault/unreportedClosures``). Their numbers may then belong to other files of the
        /// process.
        func isOpen(_ socket: Int32) -> Bool {
            guard entries[Int(socket)].isOurs else { return false }
            guard OpenFile(socket) != entries[Int(socket)].file else { return true }
            clear(socket)
            return false
        }

        /// Closes a socket that ``openSocket(family:type:protocol:)`` opened.
        func closeSocket(_ socket: Int32) -> Int32 {
            clear(socket)
            return close(socket)
        }

        /// Begins or stops counting a connection as one that libcurl keeps.
        func keep(_ isKept: Bool, _ entry: inout Entry) {
            guard entry.isKept != isKept else { return }
            entry.isKept = isKept
            keptCount += isKept ? 1 : -1
        }

        private func clear(_ socket: Int32) {
            update(socket) {
                if let path = $0.path { pool.forget(path, socket) }
                keep(false, &$0)
                $0 = Entry()
            }
        }

        /// Sets the events that libcurl waits for on a socket.
        func want(_ what: Int32, on socket: Int32, forWebSocket isOfWebSocket: Bool = false) {
            let wanted = what & Int32(CCURL_POLL_INOUT)
            let index = Int(socket)
            if index < entries.count {
                if entries[index].isTaken { return }
                // No bytes have arrived, so the number may belong to another socket by now.
                if wanted != 0, entries[index].wanted == 0, entries[index].lastArrival == 0 { _ = isOpen(socket) }
            }
            set(wanted, on: socket, forWebSocket: isOfWebSocket)
        }

        /// Sets the events that a WebSocket waits for on its socket, which libcurl has connected. From now on, the
        /// events that libcurl waits for on this socket are ignored.
        func take(_ wanted: Int32, on socket: Int32) {
            update(socket) { $0.isTaken = true }
            set(wanted, on: socket, forWebSocket: true)
        }

        private func set(_ wanted: Int32, on socket: Int32, forWebSocket isOfWebSocket: Bool) {
            update(socket) {
                if isOfWebSocket { keep(false, &$0) }
                ($0.wanted, $0.isOfWebSocket) = (wanted, isOfWebSocket)
            }
            if wanted == 0 {
                if !entries[Int(socket)].isOurs { forget(socket) }
            } else if entries[Int(socket)].registered != wanted {
                register(wanted, for: socket)
            }
        }

        func forget(_ socket: Int32) {
            if entries[Int(socket)].registered != 0 { register(0, for: socket) }
        }

        /// Registers events with the kernel.
        private func register(_ events: Int32, for socket: Int32) {
            clibcurl_epoll_set(epoll, socket, events)
            update(socket) { $0.registered = events }
        }

        func update(_ socket: Int32, _ change: (inout Entry) -> Void) {
            let index = Int(socket)
            if index >= entries.count {
                entries += Array(repeating: Entry(), count: max(64, index + 1 - entries.count))
            }
            change(&entries[index])
        }
    }
#endif
