import Foundation
import Testing

/// A server that runs a closure of the test on each connection. Tests use this server to write raw bytes, and to break
/// the rules of HTTP.
final class RawServer: Sendable {
    /// An accepted connection. It has its own thread, and is closed when the closure returns.
    struct Connection {
        let socket: Int32
        /// The number of connections that were accepted before this one.
        let number: Int

        /// Reads the head of a request. Returns false if the client has closed the connection.
        func readHead() -> Bool { head() != nil }

        /// Reads the head of a request; nil if the connection ends before.
        func head() -> String? {
            var head = Data()
            var byte: UInt8 = 0
            while head.suffix(4) != Data("\r\n\r\n".utf8) {
                guard recv(socket, &byte, 1, 0) == 1 else { return nil }
                head.append(byte)
            }
            return String(decoding: head, as: UTF8.self)
        }

        /// Waits up to the given time for bytes. Returns the number of available bytes, at most 1,024. The bytes remain
        /// in the socket.
        func available(within milliseconds: Int32) -> Int {
            var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, milliseconds) > 0 else { return 0 }
            var bytes = [UInt8](repeating: 0, count: 1_024)
            return max(recv(socket, &bytes, bytes.count, Int32(MSG_PEEK)), 0)
        }

        /// Reads this number of bytes, or fewer if the connection ends.
        func read(_ count: Int) -> Data {
            var bytes = [UInt8](repeating: 0, count: count)
            let got = recv(socket, &bytes, count, Int32(MSG_WAITALL))
            return Data(bytes.prefix(max(got, 0)))
        }

        func write(_ text: String) {
            _ = writes(text)
        }

        func write(_ bytes: [UInt8]) {
            _ = send(socket, bytes, bytes.count, RawServer.sendFlags)
        }

        /// Returns whether the text, or a part of it, was written.
        func writes(_ text: String) -> Bool {
            let bytes = Array(text.utf8)
            return send(socket, bytes, bytes.count, RawServer.sendFlags) > 0
        }

        /// Makes the connection end with a reset instead of an orderly close.
        func resetOnClose() {
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        }

        /// Closes the writing side of the connection. Reading is still possible.
        func closeWriting() { _ = shutdown(socket, Int32(SHUT_WR)) }
    }

    let url: URL
    private let listener: Int32
    /// The address on which the server listens.
    private let address: sockaddr_storage
    private let isEnded = Box(false)

    init(family: Int32 = AF_INET, _ serve: @escaping @Sendable (Connection) -> Void) throws {
        let listener = socket(family, RawServer.streamType, 0)
        let port = family == AF_INET6 ? RawServer.bindV6(listener) : RawServer.bindV4(listener)
        self.listener = listener
        let bound = try #require(port, "no listening socket could be created")
        url = try #require(URL(string: "http://\(family == AF_INET6 ? "[::1]" : "127.0.0.1"):\(bound)/"))
        address = RawServer.address(of: listener)
        Thread.detachNewThread { [isEnded] in
            var number = 0
            while case let socket = accept(listener, nil, nil), socket >= 0 {
                guard !isEnded.value else {
                    close(socket)
                    break
                }
                RawServer.ignorePipeSignals(socket)
                let connection = Connection(socket: socket, number: number)
                number += 1
                Thread.detachNewThread {
                    serve(connection)
                    close(socket)
                }
            }
            // The listening socket is closed on the thread that uses it. If another thread closed it, the descriptor
            // could belong to another server while this thread still uses the descriptor.
            close(listener)
        }
    }

    /// A server that answers the first message of a TLS handshake as a server without TLS does.
    static func withoutTLS() throws -> RawServer {
        try RawServer { connection in
            _ = connection.read(5)
            connection.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            _ = connection.readHead()
        }
    }

    deinit {
        isEnded.change { $0 = true }
        shutdown(listener, Int32(SHUT_RDWR))
        #if canImport(Darwin)
            knock()
        #endif
    }

    /// Connects to the server, because `shutdown` does not wake a thread in `accept` on Apple platforms.
    private func knock() {
        let visitor = socket(Int32(address.ss_family), RawServer.streamType, 0)
        guard visitor >= 0 else { return }
        defer { close(visitor) }
        let length =
            address.ss_family == sa_family_t(AF_INET6)
            ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = connect(visitor, $0, socklen_t(length)) }
        }
    }

    private static func address(of listener: Int32) -> sockaddr_storage {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(listener, $0, &length) }
        }
        return address
    }

    #if os(Linux)
        private static let streamType = Int32(SOCK_STREAM.rawValue)
        /// Makes writing to a closed connection an error instead of a signal.
        static let sendFlags = Int32(MSG_NOSIGNAL)
        private static func ignorePipeSignals(_ socket: Int32) {}
    #else
        private static let streamType = SOCK_STREAM
        static let sendFlags: Int32 = 0
        /// Makes writing to a closed connection an error instead of a signal.
        private static func ignorePipeSignals(_ socket: Int32) {
            var isOn: Int32 = 1
            setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout.size(ofValue: isOn)))
        }
    #endif

    /// Whether this machine has an IPv6 loopback address.
    static let hasV6: Bool = {
        let probe = socket(AF_INET6, streamType, 0)
        defer { close(probe) }
        return bindV6(probe) != nil
    }()

    static func bindV4(_ listener: Int32, host: UInt32 = 0x7F00_0001, port: UInt16 = 0) -> UInt16? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(host).bigEndian
        return bound(listener, &address) { UInt16(bigEndian: $0.sin_port) }
    }

    private static func bindV6(_ listener: Int32) -> UInt16? {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        return bound(listener, &address) { UInt16(bigEndian: $0.sin6_port) }
    }

    private static func bound<Address>(
        _ listener: Int32, _ address: inout Address, _ port: (Address) -> UInt16
    ) -> UInt16? {
        var length = socklen_t(MemoryLayout<Address>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 4_096) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        return isBound ? port(address) : nil
    }
}
