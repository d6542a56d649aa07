#if os(Linux)
    import CLibcurl
    import Glibc

    /// The sockets of one loop, and the events for which the loop waits on each of them.
    ///
    /// An idle connection stays registered with the kernel between two requests, so that a request needs no system call
    /// to register it. That is safe for sockets that this class opens, because this class closes them, too. Other
    /// sockets are unregistered when libcurl no longer waits for their events.
    ///
    /// Exclusivity is not checked at run time, because only one thread uses the object, and accesses do not overlap.
    final class CurlSockets {
        private struct Entry {
            /// Whether ``openSocket(family:type:protocol:)`` opened the socket.
            var isOurs = false
            /// Whether its connection serves one request at a time (HTTP/1.1).
            var isExclusive = false
            /// The last handle that waited for events. The value remains until that handle ends, because a paused
            /// handle waits for no events.
            var user: ObjectIdentifier?
            /// The time at which bytes last arrived, in nanoseconds of the loop's clock.
            var lastArrival: UInt64 = 0
            /// The events that libcurl waits for.
            var wanted: Int32 = 0
            /// The events that are registered with the kernel.
            var registered: Int32 = 0
        }

        private let epoll: Int32
        private let alarm: Int32
        @exclusivity(unchecked) private var entries: [Entry] = []
        @exclusivity(unchecked) private var ready = [clibcurl_event](repeating: clibcurl_event(), count: 256)
        @exclusivity(unchecked) private var readyCount = 0
        /// The number of exchanges that were paused before libcurl waited for their socket. While this number is not 0,
        /// any idle socket may belong to one of these exchanges.
        @exclusivity(unchecked) var pausesOnUnknownSockets = 0

        /// - Throws: ``NetworkError`` if the system has no descriptor left.
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

        /// Passes the events of the last wait to a closure, and ends idle HTTP/1.1 connections that have an event.
        func handleReady(at now: UInt64, _ handle: (clibcurl_event) -> Void) {
            for event in ready[..<readyCount] where event.socket != alarm {
                let entry = entries[Int(event.socket)]
                if entry.wanted != 0 {
                    if event.events & Int32(CCURL_CSELECT_IN) != 0 { update(event.socket) { $0.lastArrival = now } }
                    handle(event)
                } else if entry.isExclusive, entry.user == nil, pausesOnUnknownSockets == 0 {
                    endIdle(event.socket)
                } else {
                    forget(event.socket)
                }
            }
            readyCount = 0
        }

        /// Ends an idle HTTP/1.1 connection that has an event: the server closed it, or sent a response that
        /// belongs to no request. libcurl would take that response for the response to the next request. (On an idle
        /// HTTP/2 connection, frames may arrive; libcurl reads them with the next request.)
        private func endIdle(_ socket: Int32) {
            guard clibcurl_socket_end(socket) == 0 else { return forget(socket) }
            update(socket) { $0.registered = 0 }  // the old socket is closed, and so no longer registered
        }

        /// Records that the connection of a socket serves one request at a time.
        func noteExclusive(_ socket: Int32) {
            guard socket >= 0 else { return }
            update(socket) { if $0.isOurs { $0.isExclusive = true } }
        }

        /// Returns the time at which bytes last arrived on the connection of a handle. Returns nil if another handle
        /// uses the connection, or if no bytes have arrived. The callbacks of libcurl do not show this time, because
        /// libcurl does not report an incomplete header line.
        func lastArrival(for user: ObjectIdentifier, on socket: Int32) -> UInt64? {
            guard socket >= 0, case let entry = entries[Int(socket)], entry.user == user, entry.lastArrival > 0 else {
                return nil
            }
            return entry.lastArrival
        }

        /// Records that a handle no longer uses the connection of a socket. Another handle may use it already.
        func noteEnd(of user: ObjectIdentifier, on socket: Int32) {
            guard socket >= 0, entries[Int(socket)].user == user else { return }
            update(socket) { $0.user = nil }
        }

        /// Opens a socket.
        func openSocket(family: Int32, type: Int32, protocol number: Int32) -> Int32 {
            let opened = socket(family, type | Int32(SOCK_CLOEXEC.rawValue), number)
            if opened >= 0 { update(opened) { $0 = Entry(isOurs: true) } }
            return opened
        }

        /// Closes a socket that ``openSocket(family:type:protocol:)`` opened.
        func closeSocket(_ socket: Int32) -> Int32 {
            update(socket) { $0 = Entry() }
            return close(socket)
        }

        /// Sets the events that libcurl waits for on a socket.
        func want(_ what: Int32, on socket: Int32, by user: ObjectIdentifier?) {
            let wanted = what & Int32(CCURL_POLL_INOUT)
            update(socket) {
                $0.wanted = wanted
                if wanted != 0 { $0.user = user }
            }
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
