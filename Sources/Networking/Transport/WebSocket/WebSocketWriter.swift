package import Foundation

/// Writes the frames of one side of a connection into chunks of memory, which a transport sends. A chunk is not changed
/// after its sending has begun. If a part was not taken, TLS must repeat this part with the same bytes at the same
/// address.
package struct WebSocketWriter {
    /// The maximum number of bytes of a chunk. A larger message is cut into frames of this size, so that a ping or
    /// close frame waits for at most one chunk.
    package static let chunkSize = 64 << 10
    /// The maximum number of waiting pongs. If the peer sends more pings, only the latest pings are answered.
    private static let mostPongs = 16

    private let outbox: WebSocketOutbox
    /// Whether the payloads are masked, as they are on a client.
    private let masks: Bool
    private var random = SystemRandomNumberGenerator()
    private var pongs: [Data] = []
    private var current: WebSocketOutbox.Item?
    /// The number of bytes of the current message that are in earlier chunks.
    private var position = 0
    /// A close frame that does not wait for messages.
    private var urgentClose: WebSocketClose?
    /// The close frame that was written; nil if none has been written yet.
    package private(set) var closed: WebSocketClose?

    package init(_ outbox: WebSocketOutbox, masks: Bool) {
        self.outbox = outbox
        self.masks = masks
    }

    /// Answers a ping (RFC 6455 section 5.5.3).
    package mutating func pong(_ payload: Data) {
        if pongs.count == WebSocketWriter.mostPongs { pongs.removeFirst() }
        pongs.append(payload)
    }

    /// Makes a close frame the next frame, in place of the waiting messages.
    package mutating func close(_ close: WebSocketClose) { urgentClose = urgentClose ?? close }

    /// Fills a chunk with the next frames.
    ///
    /// - Parameters:
    ///   - chunk: Memory of ``chunkSize`` bytes.
    ///   - finished: Gets the messages that end in the chunk.
    /// - Returns: The number of bytes; 0 if there is nothing to send.
    package mutating func fill(
        _ chunk: UnsafeMutableRawBufferPointer, finished: inout [Settlement<Void>]
    ) -> Int {
        var count = 0
        while closed == nil, chunk.count - count >= WebSocketFrame.largestHead + WebSocketFrame.largestControl {
            let rest = UnsafeMutableRawBufferPointer(rebasing: chunk[count...])
            guard let written = writeNext(into: rest, isFirst: count == 0, finished: &finished) else { break }
            count += written
        }
        return count
    }

    /// Writes the next frame.
    ///
    /// - Returns: The number of bytes; nil if there is no frame, or no room for it.
    private mutating func writeNext(
        into rest: UnsafeMutableRawBufferPointer, isFirst: Bool, finished: inout [Settlement<Void>]
    ) -> Int? {
        if let close = urgentClose { return write(close, into: rest) }
        if !pongs.isEmpty { return write(.pong, pongs.removeFirst(), into: rest) }
        if outbox.takePing() { return write(.ping, Data(), into: rest) }
        let room = rest.count - WebSocketFrame.largestHead
        // A message that does not fit begins in a chunk of its own. Until then, it can be withdrawn.
        if current == nil {
            guard isFirst || outbox.fits(room) else { return nil }
            (current, position) = (outbox.next(), 0)
        }
        guard let item = current else { return outbox.closing.flatMap { write($0, into: rest) } }
        let left = item.payload.count - position
        guard left <= room || isFirst else { return nil }
        let length = min(left, room)
        var frame = WebSocketFrame(
            position > 0 ? .continuation : item.isText ? .text : .binary, length: length, mask: mask())
        frame.isFinal = length == left
        frame.isCompressed = item.isCompressed && position == 0
        let start = item.payload.startIndex + position
        let written = write(frame, item.payload[start..<start + length], into: rest)
        position += length
        if frame.isFinal {
            finished.append(item.isSent)
            current = nil
        }
        return written
    }

    private mutating func write(_ close: WebSocketClose, into rest: UnsafeMutableRawBufferPointer) -> Int {
        closed = close
        return write(.close, close.payload, into: rest)
    }

    private mutating func write(
        _ opcode: WebSocketFrame.Opcode, _ payload: Data, into rest: UnsafeMutableRawBufferPointer
    ) -> Int {
        write(WebSocketFrame(opcode, length: payload.count, mask: mask()), payload, into: rest)
    }

    private func write(
        _ frame: WebSocketFrame, _ payload: Data, into rest: UnsafeMutableRawBufferPointer
    ) -> Int {
        let head = frame.write(into: rest)
        let body = UnsafeMutableRawBufferPointer(rebasing: rest[head..<head + frame.length])
        payload.withUnsafeBytes { body.copyMemory(from: $0) }
        if let mask = frame.mask { WebSocketFrame.apply(mask: mask, from: 0, to: body) }
        return head + frame.length
    }

    /// A new mask for each frame, from the system's generator (RFC 6455 section 5.3).
    private mutating func mask() -> UInt32? { masks ? UInt32.random(in: .min ... .max, using: &random) : nil }

    /// Drops the waiting messages, because the connection has ended.
    package mutating func finish(_ error: any Error) {
        current?.isSent.settle(.failure(error))
        current = nil
        outbox.finish(error)
    }
}
