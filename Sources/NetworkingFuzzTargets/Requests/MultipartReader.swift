import Foundation

/// A reader of multipart bodies (RFC 2046 section 5.1.1).
enum MultipartReader {
    static func parts(of bytes: [UInt8], boundary: String) -> [(head: String, body: [UInt8])] {
        let delimiter = Data("\r\n--\(boundary)".utf8)
        var rest = Data("\r\n".utf8 + bytes)
        var parts: [(String, [UInt8])] = []
        guard let first = rest.range(of: delimiter) else { return [] }
        rest = rest[first.upperBound...]
        while rest.starts(with: Data("\r\n".utf8)), let next = rest.range(of: delimiter) {
            let part = rest[(rest.startIndex + 2)..<next.lowerBound]
            guard let end = part.range(of: Data("\r\n\r\n".utf8)) else { return [] }
            parts.append((String(decoding: part[..<end.lowerBound], as: UTF8.self), [UInt8](part[end.upperBound...])))
            rest = rest[next.upperBound...]
        }
        return rest == Data("--\r\n".utf8) ? parts : []
    }
}
