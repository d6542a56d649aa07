package import Foundation

/// The error of a failed system call.
package struct SocketFailure: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }

    let call: String
    let code: Int32

    package init(_ call: String) {
        self.call = call
        self.code = errno
    }

    package var description: String { "\(call): \(String(cString: strerror(code)))" }
}

/// A socket descriptor, with the POSIX calls that the server needs.
package struct LoopbackSocket: Sendable {
    let descriptor: Int32

    /// Returns a socket that listens on 127.0.0.1.
    package static func listening(on port: UInt16) throws -> LoopbackSocket {
        #if canImport(Darwin)
            let type = SOCK_STREAM
        #else
            let type = Int32(SOCK_STREAM.rawValue)
        #endif
        let descriptor = socket(AF_INET, type, 0)
        guard descriptor >= 0 else { throw SocketFailure("socket") }
        let socket = LoopbackSocket(descriptor: descriptor)
        do {
            try socket.set(SOL_SOCKET, SO_REUSEADDR, 1)
            try socket.take(port)
            guard listen(descriptor, 4_096) == 0 else { throw SocketFailure("listen") }
            return socket
        } catch {
            socket.release()
            throw error
        }
    }

    private func take(_ port: UInt16) throws {
        let result = Self.withAddress(port) { bind(descriptor, $0, $1) }
        guard result == 0 else { throw SocketFailure("port \(port) of 127.0.0.1") }
    }

    private static func withAddress<Result>(
        _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    #if canImport(Darwin)
        /// Connects to a port and closes the connection, to wake the thread that waits in `accept`.
        static func knock(on port: UInt16) {
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
            guard descriptor >= 0 else { return }
            _ = withAddress(port) { connect(descriptor, $0, $1) }
            _ = close(descriptor)
        }
    #endif

    /// Returns the local port of the socket.
    package func port() throws -> UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0 else { throw SocketFailure("getsockname") }
        return UInt16(bigEndian: address.sin_port)
    }

    func set(_ level: Int32, _ option: Int32, _ value: Int32) throws {
        var value = value
        guard setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
            throw SocketFailure("setsockopt")
        }
    }

    /// Waits for a connection. Returns nil after the socket was shut down.
    package func accepted() -> LoopbackSocket? {
        while true {
            let accepted = accept(descriptor, nil, nil)
            if accepted >= 0 {
                let socket = LoopbackSocket(descriptor: accepted)
                try? socket.set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
                #if canImport(Darwin)
                    // This call fails if the client has already closed the connection. A write would then end the
                    // process with SIGPIPE.
                    guard (try? socket.set(SOL_SOCKET, SO_NOSIGPIPE, 1)) != nil else {
                        socket.release()
                        continue
                    }
                #endif
                return socket
            }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EMFILE, ENFILE: usleep(1_000)
            default: return nil
            }
        }
    }

    /// Waits for at least one byte, and reads the available bytes. Returns nil at the end of the stream, or if the
    /// connection is lost.
    package func read(upTo count: Int = 65_536) -> Data? {
        var buffer = [UInt8](repeating: 0, count: count)
        while true {
            let received = recv(descriptor, &buffer, count, 0)
            if received > 0 { return Data(buffer[..<received]) }
            if received == 0 || errno != EINTR { return nil }
        }
    }

    /// Writes all bytes. Waits while the peer does not read.
    package func write(_ data: Data) throws {
        #if canImport(Darwin)
            let flags: Int32 = 0
        #else
            let flags = Int32(MSG_NOSIGNAL)
        #endif
        try data.withUnsafeBytes { bytes in
            var position = 0
            while position < bytes.count {
                let sent = send(descriptor, bytes.baseAddress?.advanced(by: position), bytes.count - position, flags)
                if sent >= 0 {
                    position += sent
                } else if errno != EINTR {
                    throw SocketFailure("send")
                }
            }
        }
    }

    /// Waits until the peer closes the connection or sends bytes, or until the time has passed. Returns true if the
    /// peer has closed the connection.
    package func waitForPeerToLeave(milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, milliseconds) > 0 else { return false }
        var byte: UInt8 = 0
        if recv(descriptor, &byte, 1, Int32(MSG_PEEK)) <= 0 { return true }
        usleep(1_000)
        return false
    }

    /// Limits the time for which a write waits for a peer that does not read. After this time, the write throws.
    package func limitSending(toSeconds seconds: Int) {
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Limits the time for which a read waits for a peer that sends nothing. After this time, the read returns nil.
    func limitReceiving(toSeconds seconds: Int) {
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Ends reading and writing, so that a system call that waits on the socket returns.
    package func shutDown() {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Configures the socket to send a reset (RST) instead of an orderly end when it is closed.
    package func resetOnClose() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    }

    /// Closes the descriptor.
    package func release() {
        _ = close(descriptor)
    }
}
