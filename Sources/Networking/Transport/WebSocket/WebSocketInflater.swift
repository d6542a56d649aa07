package import Foundation

#if os(Linux)
    import CLibcurl
#endif

/// The decompressor of a connection's messages (RFC 7692 section 7.2.2). It is created with the first compressed
/// message, because it needs 40 KiB.
package final class WebSocketInflater {
    package enum Outcome: Equatable {
        case done
        /// The message exceeds its limit.
        case tooLarge
        /// The bytes are not valid, or there is no memory.
        case broken
    }

    /// Whether a message may refer to earlier messages.
    private let keepsContext: Bool
    /// The number of streams that have ended within the current message. The number is limited, because ending a stream
    /// takes much more time than decompressing its bytes.
    private var ends = 0
    private static let mostEnds = 64
    #if os(Linux)
        private var stream: OpaquePointer?
    #endif

    package init(keepsContext: Bool) {
        self.keepsContext = keepsContext
    }

    /// Whether the system can compress and decompress. On Apple platforms, the system does both itself.
    package static var isAvailable: Bool {
        #if os(Linux)
            cdeflating_is_available()
        #else
            false
        #endif
    }

    #if os(Linux)
        deinit { if let stream { cdecoding_free(stream) } }

        /// Appends the decompressed bytes to the message, which becomes at most `limit` bytes long.
        func inflate(_ bytes: UnsafeRawBufferPointer, into message: inout Data, limit: Int) -> Outcome {
            if stream == nil { stream = cdecoding_create(CDECODING_DEFLATE) }
            guard let stream else { return .broken }
            return withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 16) { output in
                var input = bytes
                while true {
                    var (read, written) = (input.count, output.count)
                    let result = cdecoding_run(stream, input.baseAddress, &read, output.baseAddress, &written)
                    guard result != CDECODING_BROKEN else { return .broken }
                    guard written <= limit - message.count else { return .tooLarge }
                    message.append(contentsOf: output[..<written])
                    input = UnsafeRawBufferPointer(rebasing: input[read...])
                    if result == CDECODING_END {
                        ends += 1
                        guard ends <= WebSocketInflater.mostEnds, cdecoding_continue(stream) else { return .broken }
                        if input.isEmpty { return .done }
                    } else if input.isEmpty, written < output.count {
                        return .done
                    } else if read == 0, written == 0 {
                        return .broken
                    }
                }
            }
        }

        /// Records the end of a message.
        func endMessage() {
            ends = 0
            if !keepsContext, let stream { _ = cdecoding_restart(stream) }
        }
    #else
        func inflate(_ bytes: UnsafeRawBufferPointer, into message: inout Data, limit: Int) -> Outcome { .broken }

        func endMessage() {}
    #endif
}

/// The compressor of messages (RFC 7692 section 7.2.1). Each message is compressed independently, so that an idle
/// connection needs no memory for compression.
package enum WebSocketDeflater {
    /// Messages of fewer bytes are not compressed.
    package static let smallest = 1_024

    /// Compresses the payload of a message.
    ///
    /// - Parameter windowBits: The binary logarithm of the window that the peer supports.
    /// - Returns: The bytes to send; nil if compression does not reduce their number.
    package static func deflate(_ payload: Data, windowBits: Int) -> Data? {
        #if os(Linux)
            // zlib cannot make raw deflate with a window of 256 bytes.
            guard (9...15).contains(windowBits), let stream = cdeflating_create(Int32(windowBits)) else { return nil }
            defer { cdeflating_free(stream) }
            var deflated = Data()
            let isSmaller = payload.withUnsafeBytes { bytes in
                withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 16) { output in
                    run(stream, bytes, output, &deflated, limit: payload.count)
                }
            }
            // A flush ends with an empty block, which is not sent: the peer adds it again.
            guard isSmaller, deflated.suffix(4).elementsEqual([0, 0, 0xFF, 0xFF]) else { return nil }
            return deflated.dropLast(4)
        #else
            return nil
        #endif
    }

    #if os(Linux)
        private static func run(
            _ stream: OpaquePointer, _ bytes: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer,
            _ deflated: inout Data, limit: Int
        ) -> Bool {
            var input = bytes
            while true {
                // zlib counts in 32 bits.
                let part = UnsafeRawBufferPointer(rebasing: input.prefix(1 << 30))
                var (read, written) = (part.count, output.count)
                let isLast = part.count == input.count
                guard cdeflating_run(stream, part.baseAddress, &read, output.baseAddress, &written, isLast) else {
                    return false
                }
                guard deflated.count + written < limit else { return false }
                deflated.append(contentsOf: output[..<written])
                input = UnsafeRawBufferPointer(rebasing: input[read...])
                if input.isEmpty, isLast, written < output.count { return true }
            }
        }
    #endif
}
