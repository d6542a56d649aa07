import Foundation

/// Texts and errors that say why a body cannot be sent.
extension HTTPBody {
    /// Returns a text that describes an encoding error. The text contains the path of the value that cannot be encoded,
    /// but never the value itself.
    static func describe(_ error: any Error, of part: String) -> String {
        if let error = error as? TextNotEncodable { return "\(part) cannot be encoded: \(error)" }
        guard case EncodingError.invalidValue(let value, let context) = error else {
            return "\(part) cannot be encoded: \(type(of: error))"
        }
        let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
        let place = path.isEmpty ? "its value" : "\"\(path)\""
        let isFinite = (value as? Double)?.isFinite ?? (value as? Float)?.isFinite ?? true
        let fault = isFinite ? "of type \(type(of: value)), which is not supported" : "not a finite number"
        return "\(part) cannot be encoded: \(place) is \(fault)"
    }

    /// Returns the size of a file in bytes.
    static func fileLength(_ url: URL) throws -> Int {
        guard url.isFileURL else {
            throw NetworkError(
                .bodyUnreadable, reason: "the request's body: expected a file URL, found \(url.withoutSecrets)")
        }
        let attributes: [FileAttributeKey: Any]
        do { attributes = try FileManager.default.attributesOfItem(atPath: url.path) } catch {
            throw unreadable(url, error)
        }
        guard attributes[.type] as? FileAttributeType == .typeRegular, let size = attributes[.size] as? NSNumber,
            FileManager.default.isReadableFile(atPath: url.path)
        else { throw unreadable(url, nil) }
        return size.intValue
    }

    static func unreadable(_ url: URL, _ error: (any Error)?) -> NetworkError {
        let isThere = FileManager.default.fileExists(atPath: url.path)
        return NetworkError(
            .bodyUnreadable,
            reason:
                "the request's body: the file \(url.lastPathComponent) "
                + "\(isThere ? "cannot be read" : "does not exist")",
            underlying: error)
    }
}

/// The error that is thrown if a text contains a character that the encoding cannot represent.
struct TextNotEncodable: Error, CustomStringConvertible {
    let encoding: String.Encoding
    var description: String { "the text contains a character that \(encoding) cannot represent" }
}
