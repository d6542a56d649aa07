/// The body of a response whose head and framing are unambiguous: status 200, a few fields, and a `Content-Length` or
/// chunks without extensions or trailers (RFC 9112 sections 6 and 7.1).
struct FramedBody {
    let bytes: [UInt8]

    /// Reads the body of a response. Returns nil if the head or the framing has another form.
    init?(_ response: [UInt8]) {
        var lines = FramedLines(response)
        guard lines.next() == "HTTP/1.1 200 OK" else { return nil }
        var (length, isChunked): (Int?, Bool) = (nil, false)
        while let line = lines.next(), !line.isEmpty {
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            guard parts.count == 2, parts[1].hasPrefix(" "), !parts[1].hasPrefix("  ") else { return nil }
            switch (parts[0].lowercased(), parts[1].dropFirst()) {
            case ("transfer-encoding", "chunked") where !isChunked: isChunked = true
            case ("content-length", let value) where length == nil && value.utf8.allSatisfy(FramedBody.isDigit):
                guard let number = Int(value) else { return nil }
                length = number
            case ("content-type", let value) where Bytes.isFieldValue(String(value)): break
            default: return nil
            }
        }
        guard isChunked != (length != nil), lines.hasEndedHead else { return nil }
        guard let body = isChunked ? lines.chunks() : length.flatMap({ lines.bytes($0) }) else { return nil }
        bytes = body
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
}

/// Reads a response line by line. Each line ends with CRLF.
private struct FramedLines {
    private var rest: ArraySlice<UInt8>
    private(set) var hasEndedHead = false

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// Returns the next line; nil if the rest does not begin with a complete line of printable ASCII.
    mutating func next() -> String? {
        guard let end = rest.firstIndex(of: 0x0D), rest.dropFirst(end - rest.startIndex + 1).first == 0x0A,
            rest[..<end].allSatisfy({ $0 >= 0x20 && $0 < 0x7F })
        else { return nil }
        defer { rest = rest[(end + 2)...] }
        if end == rest.startIndex { hasEndedHead = true }
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    /// Returns the next `count` bytes; nil if fewer bytes remain.
    mutating func bytes(_ count: Int) -> [UInt8]? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// Returns the content of the chunks; nil if a chunk is malformed or the last chunk is missing.
    mutating func chunks() -> [UInt8]? {
        var content: [UInt8] = []
        while let line = next() {
            guard !line.isEmpty, line.utf8.count <= 4, line.utf8.allSatisfy(Bytes.isLetterOrDigit),
                let size = Int(line, radix: 16)
            else { return nil }
            guard size > 0 else { return next() == "" ? content : nil }
            guard let chunk = bytes(size), next() == "" else { return nil }
            content += chunk
        }
        return nil
    }
}
