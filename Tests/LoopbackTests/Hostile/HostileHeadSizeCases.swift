import Foundation
import Networking

/// Heads that are large, slow or endless.
extension HostileCase {
    static let headSizes: [HostileCase] = [
        line(8 << 10, .hello), line(64 << 10, .hello), line(90_000, .hello),
        // libcurl 7.88 accepts lines of up to 100 KiB.
        line(100 << 10, .either(.tooLarge, .hello, .malformed)), line(300 << 10, .tooLarge),
        HostileCase("a name of 300 KB", .ok("\(long(300_000)): v", "Content-Length: 5"), .tooLarge).on(
            .urlSessionOnLinux, .either(.tooLarge, .malformed), because: "Foundation has one code for both"),
        HostileCase("200 KB in 100 fields", .ok(many(100, long: 2_000), "Content-Length: 5"), .hello),
        HostileCase("a head of 300 KB in 100 fields", .ok(many(100, long: 3_000), "Content-Length: 5"), .tooLarge).on(
            .urlSessionOnLinux, .either(.hello, .malformed),
            because: "Foundation has no limit, libcurl since 8.6 has one"),
        HostileCase("1,000 fields", .ok(many(999), "Content-Length: 5"), .hello),
        HostileCase("4,000 fields", .ok(many(3_999), "Content-Length: 5"), .hello),
        HostileCase("5,001 fields", .ok(many(5_000), "Content-Length: 5"), .tooLarge).on(
            .urlSessionOnLinux, .either(.tooLarge, .hello, .malformed), because: "Foundation has no limit"),
        HostileCase("20,000 fields", .ok(many(19_999), "Content-Length: 5"), .tooLarge)
            .on(.urlSessionOnLinux, .blocksAllSessions, because: "L19, L45"),
        HostileCase("1,000 fields with one name", .ok(repeated("X: v", 1_000), "Content-Length: 5"), .hello),
        HostileCase("1,000 cookies", .ok(repeated("Set-Cookie: a=b", 1_000), "Content-Length: 5"), .hello),
    ]

    static let endlessHeads: [HostileCase] = [
        flood("fields", "HTTP/1.1 200 OK\r\n", "X: v\r\n"),
        flood("long fields", "HTTP/1.1 200 OK\r\n", "X: \(long(2_000))\r\n"),
        flood("field", "HTTP/1.1 200 OK\r\nX: ", "vvvvvvvvvv"),
        flood("name", "HTTP/1.1 200 OK\r\n", "vvvvvvvvvv"),
        // The lines are long, so that the field has few lines. If the memory cannot grow in place, as under a
        // sanitizer, libcurl copies the whole field for each line.
        flood("folded field", "HTTP/1.1 200 OK\r\nX: v\r\n", "  \(long(500))\r\n"),
        flood("reason", "HTTP/1.1 200 ", "vvvvvvvvvv"),
    ]

    static let slowHeads: [HostileCase] = [
        HostileCase(
            "a head sent byte by byte", [.readHead, .drip(Data(String.hello.utf8), milliseconds: 2), .drain], .hello),
        HostileCase(
            "a status line that takes longer than the idle timeout",
            [
                .readHead, .drip(Data("HTTP/1.1 200 OK\r\n".utf8), milliseconds: 50),
                .text("Content-Length: 0\r\n\r\n"), .drain,
            ],
            .empty
        ).stalling.on(.urlSessionOnLinux, .idle, because: "Foundation reports only complete heads"),
        HostileCase(
            "a field that takes longer than the idle timeout",
            [
                .readHead, .text("HTTP/1.1 200 OK\r\n"), .drip(Data("Content-Length: 0\r\n".utf8), milliseconds: 50),
                .text("\r\n"), .drain,
            ], .empty
        ).stalling.on(.urlSessionOnLinux, .idle, because: "Foundation reports only complete heads"),
        HostileCase("one byte of a head, then silence", .reply("H"), .idle).stalling,
        HostileCase("half a status line, then silence", .reply("HTTP/1.1 2"), .idle).stalling,
        HostileCase("a status line, then silence", .reply("HTTP/1.1 200 OK\r\n"), .idle).stalling,
        HostileCase("a head without its empty line, then silence", .reply("HTTP/1.1 200 OK\r\nX: v\r\n"), .idle)
            .stalling,
    ]

    private static func line(_ count: Int, _ expected: HostileOutcome) -> HostileCase {
        let hostile = HostileCase(
            "a line of \(count) bytes", .ok("X: \(long(count - 5))", "Content-Length: 5"), expected)
        return count < 100 << 10
            ? hostile
            : hostile.on(
                .urlSessionOnLinux, .either(.tooLarge, .malformed), because: "Foundation has one code for both")
    }

    private static func flood(_ name: String, _ start: String, _ rest: String) -> HostileCase {
        let block = Data(String(repeating: rest, count: max(65_536 / rest.utf8.count, 1)).utf8)
        return HostileCase(
            "endless \(name)", [.readHead, .text(start), .flood(block, upTo: 4 << 20), .drain], .tooLarge
        )
        .on(.urlSessionOnLinux, .blocksAllSessions, because: "L19, L45")
    }

    /// Returns fields with different names.
    private static func many(_ count: Int, long length: Int = 1) -> String {
        (0..<count).map { "X-\($0): \(long(length))" }.joined(separator: "\r\n")
    }

    private static func repeated(_ field: String, _ count: Int) -> String {
        Array(repeating: field, count: count).joined(separator: "\r\n")
    }
}
