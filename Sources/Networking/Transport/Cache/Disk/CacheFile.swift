import Foundation

/// The body of a stored response in an open file. The bytes remain readable if the file is removed or replaced.
final class CacheFile: Sendable {
    private let descriptor: Int32
    /// The position of the body in the file.
    private let start: Int64
    /// The length of the body in bytes.
    let count: Int64

    /// Takes ownership of an open file.
    init(_ descriptor: Int32, start: Int64, count: Int64) {
        (self.descriptor, self.start, self.count) = (descriptor, start, count)
    }

    deinit {
        close(descriptor)
    }

    /// Returns bytes of the body; nil if they cannot be read.
    func read(_ range: Range<Int64>) -> Data? {
        CacheFile.read(descriptor, start + range.lowerBound..<start + range.upperBound).map { Data($0) }
    }

    /// Returns bytes of an open file; nil if they cannot be read.
    static func read(_ descriptor: Int32, _ range: Range<Int64>) -> [UInt8]? {
        let count = range.count
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count, let base = buffer.baseAddress {
                let read = pread(descriptor, base + filled, count - filled, off_t(range.lowerBound) + off_t(filled))
                if read < 0, errno == EINTR { continue }
                guard read > 0 else { break }
                filled += read
            }
        }
        return bytes.count == count ? bytes : nil
    }
}

/// The text of the files in which a cache stores its responses:
///
/// ```
/// networking-cache 1 0f6c3a5e9d2b7184
/// https://api.example.com:443/films?page=2
/// 1763971200.25 1763971200.5
/// Accept-Language: de
///
/// 200
/// ETag: "33a64df5"
/// Content-Type: application/json
///
/// [{"title": "Alien"}]
/// ```
///
/// The first line contains the version of the format, and the checksum of everything after this line. The second line
/// contains the URL. The third line contains the times at which the request was sent and its response received, in
/// seconds since 1970. The next lines are the request's fields on which the response depends. An empty line ends these
/// fields. The next line is the status. If the content is incomplete, this line also contains the range
/// (`206 0-100/300` for the first 100 bytes). The next lines are the response's fields. An empty line ends these
/// fields, and the body follows.
enum CacheFileFormat {
    private static let version = "networking-cache 1 "
    /// The length of the first line, including its line feed.
    static let firstLineCount = version.utf8.count + 17
    /// The maximum length of the lines before the body.
    static let largestHead = 1 << 17

    static func firstLine(checksum: UInt64) -> Data { Data("\(version)\(checksum.hexadecimal)\n".utf8) }

    /// Returns the checksum in the first line; nil if the file has another format.
    static func checksum(_ bytes: some Collection<UInt8>) -> UInt64? {
        let line = bytes.prefix(firstLineCount)
        guard line.count == firstLineCount, line.starts(with: version.utf8),
            line.dropFirst(firstLineCount - 1).first == 0x0A
        else { return nil }
        let digits = line.dropFirst(version.utf8.count).dropLast()
        return UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    /// Returns the lines between the first line and the body; nil if a value cannot be written as one line, or if the
    /// lines are too long.
    static func head(of response: CachedResponse, key: String) -> Data? {
        var text = "\(key)\n\(response.freshness.requested.timeIntervalSince1970)"
        text += " \(response.freshness.received.timeIntervalSince1970)\n"
        for field in response.audience.fields { text += "\(field.name): \(field.value)\n" }
        text += "\n\(response.status.code)"
        if let part = response.part { text += " \(part.bytes.lowerBound)-\(part.bytes.upperBound)/\(part.total)" }
        text += "\n"
        for field in response.headers { text += "\(field.name): \(field.value)\n" }
        text += "\n"
        let fields = [response.audience.fields, response.headers].joined()
        guard text.utf8.count <= largestHead, isOneLine(key), !key.isEmpty,
            fields.allSatisfy({ !$0.name.rawValue.contains(":") && isOneLine($0.name.rawValue) && isOneLine($0.value) })
        else { return nil }
        return Data(text.utf8)
    }

    private static func isOneLine(_ text: String) -> Bool { !text.utf8.contains(0x0A) }

    /// The lines between the first line and the body.
    struct Head {
        var key: Substring
        var requested: Date
        var received: Date
        var audience: HTTPHeaders
        var status: HTTPStatus
        var part: CachedResponse.Part?
        var headers: HTTPHeaders
        /// The position of the body in the file.
        var bodyStart: Int

        /// Reads the lines. Returns nil if they are malformed.
        init?(_ bytes: ArraySlice<UInt8>) {
            var lines = Lines(bytes)
            guard let key = lines.next(), let times = lines.next()?.split(separator: " "), times.count == 2,
                let requested = Double(times[0]), let received = Double(times[1]), requested.isFinite,
                received.isFinite, let audience = lines.fields(), let status = lines.next()?.split(separator: " "),
                let code = status.first.flatMap({ Int($0) }), let headers = lines.fields()
            else { return nil }
            (self.key, self.audience, self.headers) = (key, audience, headers)
            self.requested = Date(timeIntervalSince1970: requested)
            self.received = Date(timeIntervalSince1970: received)
            self.status = HTTPStatus(code)
            bodyStart = lines.position
            guard status.count > 1 else { return }
            let numbers = status[1].split { $0 == "-" || $0 == "/" }.compactMap { Int64($0) }
            guard numbers.count == 3, numbers[0] < numbers[1], numbers[1] <= numbers[2] else { return nil }
            part = CachedResponse.Part(bytes: numbers[0]..<numbers[1], total: numbers[2])
        }
    }

    /// Reads the lines of a text.
    private struct Lines {
        private let bytes: ArraySlice<UInt8>
        private(set) var position: Int

        init(_ bytes: ArraySlice<UInt8>) {
            self.bytes = bytes
            position = bytes.startIndex
        }

        /// Returns the next line; nil at the end of the text.
        mutating func next() -> Substring? {
            guard let end = bytes[position...].firstIndex(of: 0x0A) else { return nil }
            defer { position = end + 1 }
            return Substring(decoding: bytes[position..<end], as: UTF8.self)
        }

        /// Returns the fields up to the next empty line; nil if a line is not a field, or if there is no empty line.
        mutating func fields() -> HTTPHeaders? {
            var fields = HTTPHeaders()
            while let line = next() {
                if line.isEmpty { return fields }
                guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")),
                    let value = line.utf8.index(colon, offsetBy: 2, limitedBy: line.utf8.endIndex)
                else { return nil }
                fields.append(HTTPHeader(HTTPHeader.Name(String(line[..<colon])), String(line[value...])))
            }
            return nil
        }
    }
}
