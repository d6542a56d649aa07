import Foundation
import Testing

#if os(Linux)
    import Glibc
#else
    import Darwin
#endif

/// A server that does with each connection, bytes and all, what a test says: for what no decent server does.
final class RawServer: Sendable {
    /// One accepted connection, on a thread of its own; closed when the closure returns.
    struct Connection {
        let socket: Int32
        /// How many came before.
        let number: Int

        /// Reads a request's head; false if the client has gone.
        func readHead() -> Bool {
            var head = Data()
            var byte: UInt8 = 0
            while head.suffix(4) != Data("\r\n\r\n".utf8) {
                guard recv(socket, &byte, 1, 0) == 1 else { return false }
                head.append(byte)
            }
            return true
        }

        /// How many bytes have come within so many milliseconds, without taking them.
        func available(within milliseconds: Int32) -> Int {
            var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, milliseconds) > 0 else { return 0 }
            var bytes = [UInt8](repeating: 0, count: 1_024)
            return max(recv(socket, &bytes, bytes.count, Int32(MSG_PEEK)), 0)
        }

        /// Reads so many bytes.
        func read(_ count: Int) -> Data {
            var bytes = [UInt8](repeating: 0, count: count)
            let got = recv(socket, &bytes, count, Int32(MSG_WAITALL))
            return Data(bytes.prefix(max(got, 0)))
        }

        func write(_ text: String) {
            let bytes = Array(text.utf8)
            _ = send(socket, bytes, bytes.count, RawServer.sendFlags)
        }

        /// Has the connection end by a reset and not by an orderly close.
        func resetOnClose() {
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        }

        /// Says that nothing more will be written, and goes on reading.
        func closeWriting() { _ = shutdown(socket, Int32(SHUT_WR)) }
    }

    let url: URL
    private let listener: Int32

    init(family: Int32 = AF_INET, _ serve: @escaping @Sendable (Connection) -> Void) throws {
        let listener = socket(family, RawServer.streamType, 0)
        let port = family == AF_INET6 ? RawServer.bindV6(listener) : RawServer.bindV4(listener)
        self.listener = listener
        let bound = try #require(port, "there is no socket to listen on")
        url = try #require(URL(string: "http://\(family == AF_INET6 ? "[::1]" : "127.0.0.1"):\(bound)/"))
        Thread.detachNewThread {
            var number = 0
            while case let socket = accept(listener, nil, nil), socket >= 0 {
                RawServer.ignorePipeSignals(socket)
                let connection = Connection(socket: socket, number: number)
                number += 1
                Thread.detachNewThread {
                    serve(connection)
                    close(socket)
                }
            }
            // Closed by the thread that uses it: its number may otherwise be that of another server's socket already.
            close(listener)
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    #if os(Linux)
        private static let streamType = Int32(SOCK_STREAM.rawValue)
        /// Writing to a closed connection is an error, and not a signal.
        static let sendFlags = Int32(MSG_NOSIGNAL)
        private static func ignorePipeSignals(_ socket: Int32) {}
    #else
        private static let streamType = SOCK_STREAM
        static let sendFlags: Int32 = 0
        /// Writing to a closed connection is an error, and not a signal.
        private static func ignorePipeSignals(_ socket: Int32) {
            var isOn: Int32 = 1
            setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout.size(ofValue: isOn)))
        }
    #endif

    /// Whether this machine has a loopback of IPv6.
    static let hasV6: Bool = {
        let probe = socket(AF_INET6, streamType, 0)
        defer { close(probe) }
        return bindV6(probe) != nil
    }()

    private static func bindV4(_ listener: Int32) -> UInt16? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
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
                bind(listener, address, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        return isBound ? port(address) : nil
    }
}
