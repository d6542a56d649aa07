import Foundation
import Networking

extension FuzzTarget {
    /// A multipart form: the name, file name, bytes and media type of a file, and the name and value of a field. A
    /// reader finds two parts with the expected heads.
    static let multipartNames = FuzzTarget("multipart-names") { input in
        let type = input.parts.count > 3 ? MediaType(input.text(3)) : nil
        let (name, fileName) = (input.text(0), input.text(1))
        let (data, value) = (Data(input[2]), input.text(5))
        let parts: [HTTPBody.Part] = [
            .data(name, data, fileName: fileName, contentType: type), .field(input.text(4), value),
        ]
        let body: [UInt8]
        let media: MediaType?
        do {
            let request = try service.request(of: AdHocEndpoint(.post, "").body(.multipart(parts)))
            try request.validate()
            try requireEscaped(request)
            media = request.allHeaders.contentType
            body = try bytes(of: request)
        } catch let error as NetworkError {
            return try requireReason(error, .bodyNotEncodable)
        }
        let found = MultipartReader.parts(of: body, boundary: media?[parameter: "boundary"] ?? "")
        try require(found.count, equals: 2, "the number of parts")
        try requireHead(found[0].head, name, fileName, hasType: true)
        try requireHead(found[1].head, input.text(4), nil, hasType: false)
        try require(found[0].body, equals: [UInt8](data), "the bytes of the file")
        try require(found[1].body, equals: Array(value.utf8), "the bytes of the field")
    }

    private static let service = FuzzService()

    private static func requireHead(_ head: String, _ name: String, _ fileName: String?, hasType: Bool) throws {
        let lines = head.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
            .map { String(Substring($0.last == 0x0D ? $0.dropLast() : $0)) }
        try require(lines.count, equals: hasType ? 2 : 1, "the lines of \(head.debugDescription)")
        for line in lines { try require(Bytes.isFieldValue(line), "\(line.debugDescription) is not one line") }
        let quotes = lines[0].utf8.count { $0 == UInt8(ascii: "\"") }
        try require(quotes, equals: fileName == nil ? 2 : 4, "the quotes of \(lines[0].debugDescription)")
        var expected = "Content-Disposition: form-data; name=\"\(escaped(name))\""
        if let fileName { expected += "; filename=\"\(escaped(fileName))\"" }
        try require(lines[0], equals: expected, "the first line")
    }

    private static func escaped(_ name: String) -> String {
        let bytes = name.utf8.flatMap { byte -> [UInt8] in
            let isEscaped = byte == UInt8(ascii: "\"") || byte < 0x20 && byte != 0x09 || byte == 0x7F
            let digits = String(byte, radix: 16, uppercase: true)
            return isEscaped ? Array("%\(digits.count < 2 ? "0" : "")\(digits)".utf8) : [byte]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func bytes(of request: HTTPRequest) throws -> [UInt8] {
        let reader = try request.openBody()
        defer { reader.close() }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while case .bytes(let count) = try buffer.withUnsafeMutableBytes({ try reader.read(into: $0) }) {
            bytes += buffer.prefix(count)
        }
        return bytes
    }
}
