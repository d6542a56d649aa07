import Foundation
import Networking
import NetworkingTesting
import Testing

extension Loopback {
    @Suite("Multipart forms, read by independent parsers")
    struct MultipartTests {
        private struct Expected: Codable, Equatable {
            let name: String
            let fileName: String?
            let type: String?
            let content: Data
        }

        private static func text(_ random: inout SystemRandomNumberGenerator) -> String {
            let strange = Array("\"\\;=%\r\n'()ü✓ 漢.")
            return String(
                (0..<Int.random(in: 1...10, using: &random)).map { _ in
                    Bool.random(using: &random)
                        ? strange.randomElement(using: &random) ?? "x" : "abcXYZ09".randomElement(using: &random) ?? "y"
                })
        }

        private static func bytes(_ random: inout SystemRandomNumberGenerator) -> Data {
            let count = [0, 1, 2, 100, 70_000].randomElement(using: &random) ?? 0
            let tricky = Array("\r\n--boundary\r\n-".utf8)
            return Data(
                (0..<count).map { _ in
                    Bool.random(using: &random)
                        ? .random(in: 0...255, using: &random) : tricky.randomElement(using: &random) ?? 0
                })
        }

        /// Returns a part (a field, data, a file or a stream), and the values that a parser must read from it.
        private func part(
            _ scratch: Scratch, _ number: Int, _ random: inout SystemRandomNumberGenerator
        ) throws -> (HTTPBody.Part, Expected) {
            let name = Self.text(&random)
            let content = Self.bytes(&random)
            switch number % 4 {
            case 0:
                let value = "\(Int.random(in: -9...9, using: &random))"
                return (.field(name, value), Expected(name: name, fileName: nil, type: nil, content: Data(value.utf8)))
            case 1:
                let fileName = Self.text(&random) + ".png"
                return (
                    .data(name, content, fileName: fileName),
                    Expected(name: name, fileName: fileName, type: "image/png", content: content)
                )
            case 2:
                let file = scratch.file("file-\(number)-\(UUID().uuidString).bin")
                try content.write(to: file)
                return (
                    .file(name, at: file),
                    Expected(
                        name: name, fileName: file.lastPathComponent, type: "application/octet-stream", content: content
                    )
                )
            default:
                let part = HTTPBody.Part.stream(name, fileName: "stream", length: content.count, isReplayable: true) {
                    try HTTPBody.data(content).open()
                }
                return (
                    part, Expected(name: name, fileName: "stream", type: "application/octet-stream", content: content)
                )
            }
        }

        @Test(
            "Independent parsers read every part unchanged", .row("R-30", "N-12", "N-13", "N-14"),
            .enabled(if: Tool.python.isExpected, Tool.python.comment))
        func readBack() async throws {
            var random = SystemRandomNumberGenerator()
            let scratch = try Scratch()
            let sink = try UploadSink()
            var expected: [[Expected]] = []
            for _ in 0..<40 {
                let parts = try (0..<Int.random(in: 0...6, using: &random)).map { try part(scratch, $0, &random) }
                expected.append(parts.map(\.1))
                try await sink.send(.multipart(parts.map(\.0)))
            }
            for (index, received) in sink.all.enumerated() {
                #expect(received.length == "\(received.body.count)", "the length is known before the body is sent")
                try received.body.write(to: scratch.file("body-\(index)"))
                try Data(received.contentType.utf8).write(to: scratch.file("type-\(index)"))
            }
            try Data(Self.parser.utf8).write(to: scratch.file("read.py"))
            try Tool.python.run(["read.py", "\(sink.all.count)"], in: scratch.url)
            for parser in ["email", "werkzeug"] {
                guard let data = try? Data(contentsOf: scratch.file("\(parser).json")) else { continue }
                let read = try JSONDecoder().decode([[Expected]].self, from: data)
                #expect(read.count == expected.count)
                for (read, expected) in zip(read, expected) {
                    #expect(read == expected.map { Self.asParsed($0, by: parser) }, "\(parser)")
                }
            }
        }

        /// Returns the part as a parser reads it: quotes and line breaks in names are percent-encoded, as in the forms
        /// that browsers send.
        private static func asParsed(_ part: Expected, by parser: String) -> Expected {
            func shown(_ text: String) -> String {
                text.unicodeScalars.map { scalar in
                    switch scalar {
                    case "\"": "%22"
                    case "\r": "%0D"
                    case "\n": "%0A"
                    default: String(scalar)
                    }
                }.joined()
            }
            return Expected(
                name: shown(part.name), fileName: part.fileName.map(shown), type: part.type, content: part.content)
        }

        private static let parser = """
            import base64, json, re, sys
            count = int(sys.argv[1])

            def disposition(line, key):
                found = re.search(key + '="([^"]*)"', line)
                return found and found.group(1)

            # Parses strictly by RFC 2046, with only the standard library.
            from email.parser import BytesHeaderParser
            forms = []
            for index in range(count):
                body = open(f"body-{index}", "rb").read()
                boundary = re.search("boundary=(.*)", open(f"type-{index}").read()).group(1).strip('"').encode()
                pieces = (b"\\r\\n" + body).split(b"\\r\\n--" + boundary)
                assert pieces[0] == b"" and pieces[-1] == b"--\\r\\n", pieces[-1]
                parts = []
                for piece in pieces[1:-1]:
                    assert piece[:2] == b"\\r\\n"
                    head, content = piece[2:].split(b"\\r\\n\\r\\n", 1)
                    fields = {k.lower(): v for k, v in (line.split(": ", 1) for line in head.decode().split("\\r\\n"))}
                    parts.append({
                        "name": re.search('; name="([^"]*)"', fields["content-disposition"]).group(1),
                        "fileName": disposition(fields["content-disposition"], "filename"),
                        "type": fields.get("content-type"), "content": base64.b64encode(content).decode()})
                forms.append(parts)
            json.dump(forms, open("email.json", "w"))

            try:
                from werkzeug.sansio.multipart import MultipartDecoder, Field, File, Data, Epilogue, NeedData
                from werkzeug.http import parse_options_header
            except ImportError:
                sys.exit(0)
            forms = []
            for index in range(count):
                boundary = parse_options_header(open(f"type-{index}").read())[1]["boundary"].encode()
                body = open(f"body-{index}", "rb").read()
                decoder = MultipartDecoder(boundary)
                decoder.receive_data(body)
                decoder.receive_data(None)
                parts = []
                while True:
                    event = decoder.next_event()
                    if isinstance(event, (Epilogue, NeedData)):
                        break
                    if isinstance(event, (Field, File)):
                        raw = dict(event.headers)["Content-Disposition"]
                        parts.append({"name": disposition(raw, "; name"), "fileName": disposition(raw, "filename"),
                            "type": event.headers.get("Content-Type"), "content": b""})
                    if isinstance(event, Data):
                        parts[-1]["content"] += event.data
                for part in parts:
                    part["content"] = base64.b64encode(part["content"]).decode()
                forms.append(parts)
            json.dump(forms, open("werkzeug.json", "w"))
            """
    }
}
