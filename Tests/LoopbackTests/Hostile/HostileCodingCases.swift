import Foundation
import Networking

/// The text `hello hello hello` in several content codings.
enum Coded {
    static let zlib = bytes("eNrLSM3JyVfIQJAAOi4GfQ==")
    static let rawDeflate = bytes("y0jNyclXyECQAA==")
    static let brotli = bytes("GxAAACRAahBk6vCcHg==")
    static let zstd = bytes("KLUv/QRoZQAAMGhlbGxvIAEAMUoRou0eDA==")
    static let gzipTwice = bytes("H4sIAAAAAAACA5Pv5mAAASbm0x5nT54MP+EwgaGh4+dTQaAYAHs5WBEcAAAA")
    static let brotliThenGzip = bytes("H4sIAAAAAAACA5MWYGBQccgSSHn1YY4cAAFJfc0NAAAA")
    /// gzip with an extra field, a name, a comment and a header checksum.
    static let fullGzip = bytes("H4sIHgAAAAACAwQAQUIAAG5hbWUAY29tbWVudACwL8tIzcnJV8hAkACAiPnlEQAAAA==")
    static let emptyGzip = bytes("H4sIAAAAAAACAwMAAAAAAAAAAAA=")
    /// 100,000 zero bytes, compressed with gzip to 132 bytes.
    static let bomb = bytes("H4sIAAAAAAACA+3BMQEAAADCoPVPbQ0PoA==") + Data(count: 96) + bytes("gFcDfZUR1KCGAQA=")

    static let brotliBomb = bytes("W5+GAUACIB4LJMsvAA==")
    static let zstdBomb = bytes("KLUv/QRoTQAACAABAJyGORAC2yNO8w==")

    /// A gzip stream of 120,000 empty blocks, compressed with zstd. The first decoding results in 600 KB, the second
    /// one in no bytes.
    static let emptyBomb = bytes(
        "KLUv/QRotAAAcB+LCAAAAAAAAP8AAAD/AQDv/8iLEkQAAAABAP3/yAsQRAAAAAEA/f85AAJE"
            + "AAAAAQD9/zkAAq0AAGgBAAD//wAAAAAAAAAAAQDHJzkAAld4mi0=")
    /// 10,000 empty zstd frames, compressed with zstd.
    static let emptyFrames = bytes("KLUv/QRojQAASCi1L/0AaAEAAAEAKl/MyxF7cALn")

    /// `Gzip.hello` in chunks of one byte.
    static let chunkedGzip =
        Gzip.hello.reduce(into: Data()) { $0.append(contentsOf: Array("1\r\n".utf8) + [$1, 13, 10]) }
        + Data("0\r\n\r\n".utf8)

    private static func bytes(_ base64: String) -> Data { Data(base64Encoded: base64) ?? Data() }
}

/// Content codings (RFC 9110 section 8.4).
extension HostileCase {
    static let contentCodings: [HostileCase] = [
        coded("gzip", Gzip.hello), coded("GZIP", Gzip.hello), coded("x-gzip", Gzip.hello),
        coded("gzip", Coded.fullGzip, "with every optional part"), coded("deflate", Coded.zlib),
        coded("deflate", Coded.rawDeflate, "without zlib's header and trailer"), coded("br", Coded.brotli),
        coded("zstd", Coded.zstd), coded("gzip, gzip", Coded.gzipTwice), coded("br, gzip", Coded.brotliThenGzip),
        coded("gzip, identity", Gzip.hello), coded("gzip,", Gzip.hello), coded(", gzip", Gzip.hello),
        coded("gzip", Coded.emptyGzip, "of an empty text", .empty), coded("gzip", Data(), "with an empty body", .empty),
        coded("br", Data(), "with no body", .empty), coded("deflate", Data(), "with no body", .empty),
        HostileCase(
            "two Content-Encoding fields",
            .reply(response("gzip", Coded.gzipTwice, "Content-Encoding: gzip\r\n")), .unpacked),
        HostileCase(
            "gzip in chunks of one byte",
            .reply(Data.head(["Content-Encoding: gzip", "Transfer-Encoding: chunked"]) + Coded.chunkedGzip), .unpacked),
        HostileCase(
            "gzip truncated together with its framing",
            .reply(response("gzip", Gzip.hello).dropLast(12), then: .close), .truncated),
        HostileCase(
            "gzip without a length, then a close",
            .reply(Data.head(["Content-Encoding: gzip"]) + Gzip.hello, then: .close), .unpacked),
    ]

    /// Unknown codings: the body is delivered as it was received.
    static let unknownCodings: [HostileCase] =
        [
            "utf-8", "UTF-8", "binary", "text", "none", "aws-chunked", "compress", "x-unknown", "identity",
            "identity, identity", "", "gzip;q=1", "gzip deflate", "gzip, x-unknown", "\u{1}",
        ].map { coded($0, Data("hello".utf8), "", .hello) }.map(\.decodedByFoundation) + [
            coded("x-unknown, gzip", Gzip.hello, "", .either(.size(Gzip.hello.count), .unpacked)).decodedByFoundation
        ]

    static let brokenCodings: [HostileCase] = [
        coded("gzip", Gzip.hello.dropLast(8), "without its trailer", .undecodable),
        coded("gzip", changed(Gzip.hello, at: 21), "with a wrong checksum", .undecodable),
        coded("gzip", changed(Gzip.hello, at: 25), "with a wrong length", .undecodable),
        coded("gzip", changed(Gzip.hello, at: 12), "with a changed byte", .undecodable),
        coded("gzip", changed(Gzip.hello, at: 2), "of an unknown method", .undecodable),
        coded("gzip", changed(Gzip.hello, at: 3, to: 0xE0), "with reserved flags", .undecodable),
        coded("gzip", Data("hello".utf8), "of plain bytes", .undecodable),
        coded("deflate", Data("hello".utf8), "of plain bytes", .undecodable),
        coded("br", Data("hello".utf8), "of plain bytes", .undecodable),
        coded("zstd", Data("hello".utf8), "of plain bytes", .undecodable),
        coded("deflate", changed(Coded.zlib, at: 15), "with a wrong checksum", .undecodable),
        coded("zstd", changed(Coded.zstd, at: 22), "with a wrong checksum", .undecodable),
        coded("gzip, gzip", Gzip.hello, "compressed once", .undecodable),
        coded("gzip, gzip", Data(Coded.gzipTwice.dropLast(9)), "and truncated", .undecodable),
        coded("zstd, zstd", Coded.emptyFrames, "of empty frames", .tooLarge),
        coded("gzip, gzip, gzip", Gzip.hello, "compressed once", .undecodable),
        coded(Array(repeating: "gzip", count: 50).joined(separator: ", "), Gzip.hello, "compressed once", .undecodable),
    ].map(\.decodedByFoundation)

    /// Bytes after a complete gzip member: another member, or bytes that are ignored.
    static let gzipEnds: [HostileCase] = [
        coded("gzip", Gzip.hello + Data("trailing bytes".utf8), "with trailing bytes"),
        coded("gzip", Gzip.hello + Data(count: 512), "with trailing zeros"),
        coded("gzip", Gzip.hello + Data(repeating: 0x61, count: 100_000), "with 100 KB of trailing bytes"),
        coded("gzip", Gzip.hello + Data([0x1F]), "with the first byte of another member"),
        coded("gzip", Gzip.hello + Gzip.hello, "of two members", .response(200, "hello hello hellohello hello hello")),
        coded("gzip", Gzip.hello + Coded.emptyGzip, "with an empty second member"),
        coded("gzip", Coded.emptyGzip + Gzip.hello, "with an empty first member"),
        coded("gzip", (0..<100).reduce(into: Data()) { data, _ in data += Gzip.hello }, "of 100 members", .size(1_700)),
        coded("gzip", Gzip.hello + Gzip.hello.dropLast(8), "with a truncated second member", .undecodable),
        coded("deflate", Coded.zlib + Data("trailing bytes".utf8), "with trailing bytes"),
        coded(
            "br", Coded.brotli + Data("trailing bytes".utf8), "with trailing bytes", .either(.unpacked, .undecodable)),
        late("gzip", Gzip.hello), late("deflate", Coded.zlib), late("deflate", Coded.rawDeflate),
        late("br", Coded.brotli), late("zstd", Coded.zstd),
    ].map(\.decodedByFoundation)

    static let bombs: [HostileCase] = [
        // Foundation does not limit the decompressed size (L20).
        bomb("gzip", Coded.bomb), bomb("gzip, identity", Coded.bomb), bomb("br", Coded.brotliBomb),
        bomb("zstd", Coded.zstdBomb),
        bomb("gzip, zstd", Coded.emptyBomb, "between the two codings"),
        bomb("gzip", (0..<10).reduce(into: Data()) { data, _ in data += Coded.bomb }, "in ten members"),
        HostileCase(
            "100 KB, not compressed, over the limit for decompressed bytes",
            .ok("Content-Length: 100000", "Content-Encoding: identity", body: long(100_000)), .size(100_000)
        ).through(.bounded),
    ]

    /// Bodies in each coding with valid framing, truncated after each of their bytes.
    static let cutCodings: [HostileCase] = [
        ("gzip", Gzip.hello), ("deflate", Coded.zlib), ("deflate", Coded.rawDeflate), ("br", Coded.brotli),
        ("zstd", Coded.zstd),
    ].flatMap { coding, bytes in
        (1..<bytes.count).map {
            coded(coding, Data(bytes.prefix($0)), "cut to \($0) of \(bytes.count) bytes", .undecodable)
        }
    }.map(\.decodedByFoundation)

    /// The libcurl inside Foundation always decodes the body, and Foundation does not report decoding errors.
    private var decodedByFoundation: HostileCase {
        on(.urlSessionOnLinux, .either(.status(200), .undecodable, .malformed), because: "L30")
    }

    private static func response(_ coding: String, _ body: Data, _ more: String = "") -> Data {
        let head = "HTTP/1.1 200 OK\r\n\(more)Content-Encoding: \(coding)\r\nContent-Length: \(body.count)\r\n\r\n"
        return Data(head.utf8) + body
    }

    private static func coded(
        _ coding: String, _ body: Data, _ note: String = "", _ expected: HostileOutcome = .unpacked
    ) -> HostileCase {
        HostileCase(
            "Content-Encoding: \(coding.prefix(40).debugDescription) \(note)", .reply(response(coding, body)), expected)
    }

    /// Returns a case in which trailing bytes arrive some time after the compressed stream.
    private static func late(_ coding: String, _ body: Data) -> HostileCase {
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(body.count + 14)\r\n\r\n"
        return HostileCase(
            "\(coding) with trailing bytes in a separate packet",
            [.readHead, .text(head), .bytes(body), .pause(milliseconds: 30), .text("trailing bytes"), .drain], .unpacked
        )
    }

    private static func bomb(_ coding: String, _ body: Data, _ note: String = "") -> HostileCase {
        HostileCase("\(coding) over the limit when decompressed \(note)", .reply(response(coding, body)), .tooLarge)
            .through(.bounded).decodedByFoundation
    }

    private static func changed(_ bytes: Data, at index: Int, to byte: UInt8? = nil) -> Data {
        var bytes = bytes
        bytes[index] = byte ?? ~bytes[index]
        return bytes
    }
}
