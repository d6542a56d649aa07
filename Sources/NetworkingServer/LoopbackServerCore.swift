package import Foundation

/// The number of connections and the number of requests of a server on 127.0.0.1.
package struct LoopbackCounters: Sendable {
    package var accepted = 0
    package var open = 0
    package var requests = 0
}

/// The state that the threads of a server on 127.0.0.1 share. It lives until the last of these threads has ended.
package final class LoopbackServerCore<Service: LoopbackService>: @unchecked Sendable {  // because of the lock
    private let service: Service
    package let port: UInt16
    /// `http://127.0.0.1:`, then the port.
    package let url: URL

    private let lock = NSLock()
    private var listener: LoopbackSocket?
    private var connections: [Int: LoopbackSocket] = [:]
    private var count = LoopbackCounters()
    /// The number of stops so far. A thread compares it with an earlier value to detect that the server was stopped.
    private var generation = 0
    /// A group that contains the listening thread. The port is free when this thread has ended.
    private let listening = DispatchGroup()

    /// Creates a server and starts it.
    ///
    /// - Parameter port: The port. With 0, the system chooses a port.
    package init(_ service: Service, port: UInt16) throws {
        self.service = service
        let socket = try LoopbackSocket.listening(on: port)
        self.port = try socket.port()
        guard let url = URL(string: "http://127.0.0.1:\(self.port)") else { throw SocketFailure("URL") }
        self.url = url
        listen(on: socket)
    }

    package var counters: LoopbackCounters { lock.withLock { count } }

    /// Listens again on the same port, unless the server is running.
    package func start() throws {
        guard lock.withLock({ listener == nil }) else { return }
        _ = listening.wait(timeout: .now() + 5)
        listen(on: try LoopbackSocket.listening(on: port))
    }

    /// Closes the listening socket and every connection.
    package func stop() {
        // The lock is held, so that no descriptor is closed and reused by the system before it is shut down.
        lock.withLock {
            listener?.shutDown()
            for connection in connections.values { connection.shutDown() }
            listener = nil
            generation += 1
        }
        #if canImport(Darwin)
            LoopbackSocket.knock(on: port)  // on Darwin, shutdown does not wake a thread in accept()
        #endif
    }

    private func listen(on socket: LoopbackSocket) {
        let generation = lock.withLock {
            listener = socket
            return self.generation
        }
        listening.enter()
        Self.run("loopback listener") { [self] in
            while let connection = socket.accepted() {
                serve(connection, generation)
                guard lock.withLock({ self.generation == generation }) else { break }
            }
            lock.withLock { if listener?.descriptor == socket.descriptor { listener = nil } }
            socket.release()
            listening.leave()
        }
    }

    private func serve(_ socket: LoopbackSocket, _ generation: Int) {
        let number: Int? = lock.withLock {
            guard self.generation == generation, count.open < service.mostConnections else { return nil }
            count.accepted += 1
            count.open += 1
            connections[count.accepted] = socket
            return count.accepted
        }
        guard let number else { return socket.release() }
        if let seconds = service.mostSecondsOfSilence { socket.limitReceiving(toSeconds: seconds) }
        Self.run("loopback connection") { [self] in
            let isStopped: @Sendable () -> Bool = { [self] in lock.withLock { self.generation != generation } }
            LoopbackConnection(socket, number: number, of: service, isStopped: isStopped) { [self] in
                lock.withLock { count.requests += 1 }
            }.serve()
            // The connection counts as open until its socket is closed.
            lock.withLock {
                connections[number] = nil
                socket.release()
                count.open -= 1
            }
        }
    }

    private static func run(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = name
        thread.stackSize = 1 << 20  // for the 64 levels of a JSON body that the inspector shows
        thread.start()
    }
}
