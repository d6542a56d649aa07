import Foundation
import Networking

extension FuzzTarget {
    /// A request that the engine sends: the method, a segment, a query value, the name and value of a field, and the
    /// body. Either the server receives one request with exactly these parts, or the request is refused with a reason.
    static let requestHeads = FuzzTarget("request-heads", count: 30_000) { input in
        let server = try requestServer.get()
        server.prepare(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8))
        let body = input[5]
        var endpoint = AdHocEndpoint(HTTPMethod(input.text(0)), "users/\(input.text(1))")
            .query("q", input.text(2)).header(HTTPHeader.Name(input.text(3)), input.text(4))
        if !body.isEmpty { endpoint = endpoint.body(.data(Data(body), contentType: nil)) }
        let request: HTTPRequest
        do {
            request = try FuzzService(NetworkEnvironment(baseURL: server.url)).request(of: endpoint)
            try request.validate()
            try requireEscaped(request)
        } catch let error as NetworkError {
            return try requireReason(error, .invalidRequest)
        }
        guard request.method != .head else { return }
        _ = try waiting {
            do { return try await PlatformTransport.shared.send(request, delivering: .buffered(limit: 1_024)) } catch {
                throw FuzzViolation(rule: "a valid request is not sent: \(error)")
            }
        }
        let received = server.received
        try require(received.count, equals: 1, "the number of requests")
        try requireSame(received[0], request, body)
    }

    private static let requestServer = Result { try FuzzServer() }

    private static func requireSame(_ received: [UInt8], _ request: HTTPRequest, _ body: [UInt8]) throws {
        let bytes = Data(received)
        guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { throw FuzzViolation(rule: "there is no head") }
        try require([UInt8](bytes[end.upperBound...]), equals: body, "the body")
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).utf8
            .split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
                String(Substring(line.last == 0x0D ? line.dropLast() : line))
            }
        let target = request.url.path(percentEncoded: true) + "?" + (request.url.query(percentEncoded: true) ?? "")
        try require(lines[0], equals: "\(request.method) \(target) HTTP/1.1", "the request line")
        let expected = request.allHeaders.map { "\($0.name): \($0.value)" }
        let own = ["host", "accept-encoding", "content-length", "accept", "content-type"]
        for line in lines.dropFirst() {
            try require(Bytes.isFieldValue(line), "\(line.debugDescription) is not one line")
            let name = line.prefix { $0 != ":" }.lowercased()
            let isExpected =
                own.contains(name) || expected.contains { $0.utf8.elementsEqual(line.utf8) }
                || expected.contains { $0.hasSuffix(": ") && "\($0.dropLast())" == line }
            try require(isExpected, "\(line.debugDescription) is not a field of the request")
        }
        let missing = request.allHeaders.filter { field in
            !lines.contains { $0.utf8.starts(with: "\(field.name):".utf8) }
        }
        try require(missing.isEmpty, "\(missing.map(\.name)) are not sent")
    }
}
