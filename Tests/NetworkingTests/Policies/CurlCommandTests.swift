import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("cURL commands", .endsInTime)
struct CurlCommandTests {
    private let url = URL(string: "https://api.example.com/v1/users?q=a%20b&x=[1]") ?? URL(fileURLWithPath: "/")

    @Test("A request can be written as a curl command, quoted for a shell, with hidden secrets", .row("N-38"))
    func command() throws {
        let request = HTTPRequest(
            .patch, url, headers: [.authorization: "Bearer secret", .accept: "it's", "X-Empty": ""],
            body: try HTTPBody.json(["name": "O'Hara"]).encoded())
        #expect(
            request.curlCommand() == #"""
                curl --disable --globoff --path-as-is \
                    --request 'PATCH' \
                    --header 'Authorization: <redacted>' \
                    --header 'Accept: it'\''s' \
                    --header 'X-Empty: <redacted>' \
                    --header 'Content-Type: application/json' \
                    --header 'User-Agent:' \
                    --header 'Expect:' \
                    --data-raw '<17 bytes of application/json>' \
                    --url 'https://api.example.com/v1/users?q=REDACTED&x=REDACTED'
                """#)
        let revealed = request.curlCommand(redaction: .revealed)
        #expect(revealed.contains("--header 'Authorization: Bearer secret'"))
        #expect(revealed.contains(#"--data-raw '{"name":"O'\''Hara"}'"#))
        #expect(revealed.contains("--header 'X-Empty;'"))
        #expect(revealed.contains("--url '\(url.absoluteString)'"))
    }

    @Test(
        "A quote of a server ends no word of the shell, whatever follows it",
        arguments: ["\u{301}", "\u{200D}", "\u{FE0F}"])
    func quoteWithMark(mark: String) throws {
        let tag = "\"'\(mark);touch x;'\(mark)\""
        let command = HTTPRequest(.get, url, headers: [.ifNoneMatch: tag]).curlCommand()
        #expect(
            Data(command.utf8).range(of: Data("'If-None-Match: \"'\\''\(mark);touch x;'\\''\(mark)\"'".utf8)) != nil)
    }

    @Test(
        "A file is passed by its path, and binary data by printf; a form with files is passed by printf and cat, and a reader by stdin",
        .row("N-38"))
    func bodies() throws {
        func command(_ body: HTTPBody, _ method: HTTPMethod = .post) throws -> String {
            HTTPRequest(method, url, body: try body.encoded()).curlCommand(redaction: .revealed)
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("it's \(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("a.bin")
        try Data([1, 2]).write(to: file)
        let quoted = file.path.replacingOccurrences(of: "'", with: "'\\''")
        #expect(try command(.file(file)).contains("--data-binary '@\(quoted)'"))
        #expect(try command(.data(Data([0, 0x27, 0x25, 0x41]))).hasPrefix(#"{ printf '\000\047\045A'; } | curl "#))
        let form = try command(.multipart([.field("t", "x"), .file("f", at: file)], boundary: "b"))
        #expect(form.contains("cat '\(quoted)'; printf") && form.contains("multipart/form-data; boundary=b"))
        let source = try command(.source(length: nil, isReplayable: false) { DataBodyReader(Data()) })
        #expect(source.hasPrefix("curl ") && source.contains("--data-binary @-"))
        #expect(source.contains("'Transfer-Encoding: chunked'"))
        #expect(try command(.empty).contains("--data-raw ''"))
        #expect(try !command(.empty, .get).contains("--data"))
        #expect(try command(.empty, .head).contains("--head") && !command(.empty, .head).contains("--request"))
    }
}
