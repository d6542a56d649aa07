#if os(Linux)
    /// The limits of a loop's connections, and the state that several of these connections share. ``CurlSockets`` has
    /// the state of each connection.
    struct CurlPool {
        fileprivate let idleAge: UInt64
        fileprivate let lifetime: UInt64?
        fileprivate let silence: UInt64
        /// The earliest time at which an idle connection is closed.
        fileprivate(set) var nextExpiry = UInt64.max
        /// The sockets of the connections that may serve several requests at a time.
        fileprivate var sockets: [CurlStreamLog.Connection: Int32] = [:]
        /// For each origin that has had a retired connection, the current generation of its connections.
        private var generations: [HTTPOrigin: Int] = [:]
        /// The current generation of the connections to all other origins.
        private var commonGeneration = 0
        private var lastGeneration = 0
        /// The origins whose requests do not wait for other requests, and until when: see ``CurlFault/waitsForHeads``.
        private(set) var impatient: [HTTPOrigin: UInt64] = [:]

        init(_ limits: CurlTransport.Configuration.Limits) {
            idleAge = UInt64(max(limits.idleAge.nanoseconds, 1))
            lifetime = limits.lifetime.map { UInt64(max($0.nanoseconds, 1)) }
            silence = UInt64(max(limits.silence.nanoseconds, 1))
        }

        /// Begins a new generation of connections to an origin.
        fileprivate mutating func renew(_ origin: HTTPOrigin) {
            lastGeneration += 1
            generations[origin] = lastGeneration
            if generations.count > 1_000 { renewAll() }
        }

        /// Begins a new generation of all connections.
        fileprivate mutating func renewAll() {
            lastGeneration += 1
            commonGeneration = lastGeneration
            generations = [:]
        }

        /// The number of the generation of connections that a request to an origin may use.
        fileprivate func generation(of origin: HTTPOrigin?) -> Int {
            guard !generations.isEmpty, let origin else { return commonGeneration }
            return generations[origin] ?? commonGeneration
        }

        /// Records that requests to an origin do not wait for other requests for a minute.
        ///
        /// - Returns: Whether they have waited until now.
        mutating func note(impatient origin: HTTPOrigin, at now: UInt64) -> Bool {
            if impatient.count > 1_000 { impatient = [:] }
            let minute: UInt64 = 60_000_000_000
            let old = impatient.updateValue(now &+ minute, forKey: origin)
            return (old ?? 0) <= now
        }

        mutating func forget(_ path: CurlStreamLog.Connection, _ socket: Int32) {
            if sockets[path] == socket { sockets[path] = nil }
        }
    }

    /// The rules that determine which connections accept further requests, and when idle connections are closed.
    ///
    /// libcurl chooses a connection for each request, and has no option to exclude a connection. Therefore, an idle
    /// connection that must not be used again is closed. A connection that other requests use over HTTP/2 is retired:
    /// later requests belong to the next generation, and libcurl uses no connection of another generation for them. The
    /// generation is part of the list of ciphers, so only connections with TLS by OpenSSL have generations. Any other
    /// retired connection accepts requests until it is idle.
    extension CurlSockets {
        /// A connection that a handle uses.
        struct Use {
            var socket: Int32 = -1
            /// The number of the connection, because another connection may get the same socket.
            var number = 0
        }

        /// Returns the use of a connection; nil if the handle uses it already, or if libcurl opened the socket for
        /// something else.
        func join(_ socket: Int32, for origin: @autoclosure () -> HTTPOrigin?, instead old: Use) -> Use? {
            let number = entries[Int(socket)].number
            guard entries[Int(socket)].isOurs, number != old.number else { return nil }
            leave(old)
            update(socket) {
                $0.users += 1
                if !$0.isOfWebSocket { keep(true, &$0) }
                if $0.origin == nil { $0.origin = origin() }
                $0.expiry = .max
                if $0.asked <= $0.lastArrival { $0.asked = now }
            }
            return Use(socket: socket, number: number)
        }

        /// Records that a handle no longer uses a connection. Another handle may use it already.
        func leave(_ use: Use) {
            guard isCurrent(use) else { return }
            update(use.socket) {
                $0.users -= 1
                guard $0.users == 0 else { return }
                $0.expiry = $0.isRetired ? now : now &+ min($0.serverAge ?? .max, pool.idleAge)
                if let lifetime = pool.lifetime { $0.expiry = min($0.expiry, $0.opened &+ lifetime) }
                pool.nextExpiry = min(pool.nextExpiry, $0.expiry)
            }
        }

        /// Closes the idle connections whose time is over.
        ///
        /// - Returns: Whether there were any.
        @discardableResult
        func closeExpired() -> Bool {
            guard now >= pool.nextExpiry else { return false }
            guard pausesOnUnknownSockets == 0 else {
                pool.nextExpiry = now &+ 1_000_000_000  // any idle socket may belong to a paused exchange
                return false
            }
            let before = keptCount
            pool.nextExpiry = .max
            for index in entries.indices where entries[index].expiry < .max && isIdle(Int32(index)) {
                guard entries[index].expiry > now else {
                    endIdle(Int32(index))
                    continue
                }
                pool.nextExpiry = min(pool.nextExpiry, entries[index].expiry)
            }
            return keptCount != before
        }

        /// The numbers of connections, including those that are being opened.
        var connections: CurlTransport.Connections {
            let open = entries.indices.filter { isOpen(Int32($0)) && (!entries[$0].isRetired || !isIdle(Int32($0))) }
            return CurlTransport.Connections(open: open.count, idle: open.filter { isIdle(Int32($0)) }.count)
        }

        /// Whether no request uses the connection of a socket.
        func isIdle(_ socket: Int32) -> Bool {
            // The properties are read one by one here and below, because a copy of an entry retains its objects.
            let index = Int(socket)
            return entries[index].isOurs && entries[index].users == 0 && entries[index].wanted == 0
                && pausesOnUnknownSockets == 0
        }

        /// Whether the socket of a use still belongs to the same connection.
        func isCurrent(_ use: Use) -> Bool { use.socket >= 0 && entries[Int(use.socket)].number == use.number }

        /// Returns true if a connection was opened, but libcurl waits for no events on its socket.
        func isUnwanted(_ use: Use) -> Bool {
            use.socket >= 0 && (!isCurrent(use) || entries[Int(use.socket)].wanted == 0)
        }

        /// Returns the time at which bytes last arrived on a connection. Returns nil if other handles use it, too, or
        /// if no bytes have arrived. The callbacks of libcurl do not show this time, because libcurl does not report an
        /// incomplete header line.
        func lastArrival(on use: Use) -> UInt64? {
            guard isCurrent(use), entries[Int(use.socket)].users == 1 else { return nil }
            let time = entries[Int(use.socket)].lastArrival
            return time > 0 ? time : nil
        }
    }

    /// Connections that have been silent.
    extension CurlSockets {
        /// Retires a connection on which no bytes have arrived for the given time, although a request waits. A router
        /// may have forgotten the connection. Unless the retired connection was new, the router has probably also
        /// forgotten the origin's idle connections, so they are closed, too.
        func giveUp(_ use: Use, silentFor time: UInt64, isKept: Bool) {
            guard isCurrent(use) else { return }
            let entry = entries[Int(use.socket)]
            guard now &- max(entry.lastArrival, entry.asked) >= time else { return }
            retire(use.socket)
            guard isKept, let origin = entry.origin else { return }
            for index in entries.indices where isIdle(Int32(index)) && entries[index].origin == origin {
                endIdle(Int32(index))
            }
        }

        /// Retires an origin's HTTP/2 connections that have been silent for long. Called before a request that must not
        /// be repeated.
        func retireSilent(to origin: HTTPOrigin?) {
            for socket in pool.sockets.values {
                let entry = entries[Int(socket)]
                guard entry.origin == origin, !entry.isExclusive, !entry.isRetired else { continue }
                // libcurl may have read what has arrived before there was an event.
                if now &- max(entry.lastArrival, entry.opened) > pool.silence { retire(socket) }
            }
        }

        func retire(_ use: Use) {
            if isCurrent(use) { retire(use.socket) }
        }

        /// Ends a connection, for all of its requests.
        func end(_ use: Use) {
            if isCurrent(use) { endIdle(use.socket) }
        }

        /// Lets no further request use a connection.
        private func retire(_ socket: Int32) {
            guard !isIdle(socket) else { return endIdle(socket) }
            let entry = entries[Int(socket)]
            update(socket) { $0.isRetired = true }
            guard !entry.isExclusive, !entry.isRetired, let origin = entry.origin else { return }
            pool.renew(origin)
        }

        /// If the file of trusted certificates has changed, prevents requests from using connections that were opened
        /// before.
        func checkTrust() {
            if trust?.isReplaced(at: now) == true { pool.renewAll() }
        }

        /// Prevents later requests to an origin from using its present connections.
        func renew(_ origin: HTTPOrigin) { pool.renew(origin) }

        func generation(of origin: HTTPOrigin?) -> Int { pool.generation(of: origin) }

        /// Records the connection on which a request is about to be sent, if this connection may serve several requests
        /// at a time. libcurl does not report the socket of a connection that other requests already use.
        func find(_ path: CurlStreamLog.Connection, opened use: Use) -> Int32? {
            if let socket = pool.sockets[path], entries[Int(socket)].path == path { return socket }
            guard isCurrent(use) else { return nil }
            update(use.socket) { $0.path = path }
            pool.sockets[path] = use.socket
            return use.socket
        }

        /// Retires a connection whose lifetime is over, even if it is never idle.
        func checkLifetime(of use: Use) {
            guard let lifetime = pool.lifetime, isCurrent(use), !entries[Int(use.socket)].isRetired else { return }
            if now &- entries[Int(use.socket)].opened >= lifetime { retire(use.socket) }
        }
    }
#endif
