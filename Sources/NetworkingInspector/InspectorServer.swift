import Foundation
import Networking
import NetworkingServer

/// Serves the page. A request from another origin or with another host name is refused, so that pages of other sites
/// cannot read the inspector's page.
final class InspectorServer: LoopbackService {
    /// The answer to a request.
    enum Answer: Sendable {
        /// The body is created on the thread of the connection, because its creation may take long.
        case whole(HTTPStatus, type: String, body: @Sendable () throws -> Data, isHead: Bool, fields: [String])
        case events
    }

    /// The first segment of each path, which nobody can guess.
    let secret = InspectorPage.random()
    private let log: InspectorLog
    private let parts: InspectorParts
    private let listens = Locked<UInt16>(0)

    /// A browser opens at most six connections to a host. One of them must remain free for other requests.
    private static let mostStreams = 5

    // These limits are low, because each connection has a thread in the app. The clients are browsers on this machine,
    // which send a request at once.
    let mostConnections = 32
    let mostSecondsOfSilence: Int? = 5
    let longestHead = 16 << 10

    init(_ log: InspectorLog, _ parts: InspectorParts) { (self.log, self.parts) = (log, parts) }

    /// The port on which the server listens. It is set before any other code knows the URL.
    var port: UInt16 {
        get { listens.withLock { $0 } }
        set { listens.withLock { $0 = newValue } }
    }

    func answer(_ request: IncomingRequest) async -> Answer {
        let isHead = request.method == .head
        func refuse(_ status: HTTPStatus, _ reason: String, _ fields: [String] = []) -> Answer {
            .whole(
                status, type: "text/plain; charset=utf-8", body: { Data(reason.utf8) }, isHead: isHead, fields: fields)
        }
        func values(_ name: HTTPHeader.Name) -> [String] { request.fields.filter { $0.name == name }.map(\.value) }
        // A client omits port 80 from the `Host` field.
        let hosts = ["127.0.0.1", "localhost"].flatMap { port == 80 ? [$0, "\($0):80"] : ["\($0):\(port)"] }
        guard let host = values(.host).first, values(.host).count == 1, hosts.contains(host.lowercased()) else {
            return refuse(HTTPStatus(421), "expected the host 127.0.0.1:\(port), found another host")
        }
        guard values("Origin").allSatisfy({ $0.lowercased() == "http://\(host.lowercased())" }) else {
            return refuse(.forbidden, "expected a request without another origin, found the origin of another page")
        }
        guard values("Sec-Fetch-Site").allSatisfy({ ["same-origin", "none"].contains($0) }) else {
            return refuse(.forbidden, "expected a request of this page, found a request of another site")
        }
        guard request.method == .get || isHead else {
            return refuse(.methodNotAllowed, "expected the method GET or HEAD", ["Allow: GET, HEAD"])
        }
        guard request.target.utf8.count < 200 else { return refuse(.notFound, "no such page") }
        let path = request.target.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)
        guard path.count > 2, path[0].isEmpty, path[1] == secret else { return refuse(.notFound, "no such page") }
        func page(_ type: String, _ text: @escaping @Sendable () throws -> String) -> Answer {
            .whole(.ok, type: type, body: { Data(try text().utf8) }, isHead: isHead, fields: [])
        }
        let log = log
        switch path.dropFirst(2).joined(separator: "/") {
        case "": return page("text/html; charset=utf-8") { InspectorPage.html }
        case "inspector.css": return page("text/css; charset=utf-8") { InspectorPage.style }
        case "inspector.js": return page("text/javascript; charset=utf-8") { InspectorPage.script }
        case "events": return isHead ? page("text/event-stream") { "" } : .events
        case "calls.har":
            return .whole(
                .ok, type: "application/json",
                body: {
                    try NetworkInspector.Archive(record: log.everything(), redaction: log.redaction).har.encoded()
                },
                isHead: isHead, fields: ["Content-Disposition: attachment; filename=\"calls.har\""])
        case let name where name.hasPrefix("call/"):
            guard let number = Int(name.dropFirst(5)), let call = log.call(number) else {
                return refuse(.notFound, "no such call")
            }
            return page("application/json") {
                try InspectorPage.json(InspectorContent.Details(call, log.redaction))
            }
        default: return refuse(.notFound, "no such page")
        }
    }

    func write(
        _ answer: Answer, on socket: LoopbackSocket, after unread: Data, isStopped: @escaping @Sendable () -> Bool
    ) throws -> Bool {
        socket.limitSending(toSeconds: 10)  // a page that reads nothing loses its connection
        switch answer {
        case .whole(let status, let type, let makeBody, let isHead, let fields):
            let body = try makeBody()
            let head = head(status, ["Content-Type: \(type)", "Content-Length: \(body.count)"] + fields)
            try socket.write(isHead ? head : head + body)
            return false
        case .events:
            let streams = log.watch(1)
            defer { _ = log.watch(-1) }
            guard streams <= InspectorServer.mostStreams else {
                try socket.write(head(.serviceUnavailable, ["Content-Length: 0"]))
                return false
            }
            try socket.write(head(.ok, ["Content-Type: text/event-stream"]))
            try stream(on: socket, isStopped: isStopped)
            return false
        }
    }

    private func head(_ status: HTTPStatus, _ fields: [String]) -> Data {
        let lines =
            ["HTTP/1.1 \(status.code) \(status.reasonPhrase)"] + fields + [
                "Content-Security-Policy: \(InspectorPage.policy)", "X-Content-Type-Options: nosniff",
                "X-Frame-Options: DENY", "Referrer-Policy: no-referrer", "Cache-Control: no-store",
                "Cross-Origin-Resource-Policy: same-origin", "Cross-Origin-Opener-Policy: same-origin",
                "Connection: close",
            ]
        return Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    /// Sends what changes, at most ten times a second, until the page is closed or the server is stopped.
    private func stream(on socket: LoopbackSocket, isStopped: @Sendable () -> Bool) throws {
        var position = InspectorLog.Position()
        var text = ""
        func add(_ name: String, _ value: some Encodable) throws {
            text += "event: \(name)\ndata: \(try InspectorPage.json(value))\n\n"
        }
        try add("about", About(isRevealed: log.redaction.isRevealed))
        for turn in 0... {
            if isStopped() { return }
            let begun = ContinuousClock.now
            parts.refreshSoon()
            if let changes = log.changes(since: &position, sendingWaiting: turn % 10 == 0) {
                if changes.isWhole, turn > 0 { try add("about", About(isRevealed: log.redaction.isRevealed)) }
                let calls = changes.calls.map { InspectorContent.Summary($0, log.redaction, changes.queues) }
                let batches = max(calls.count, changes.removed.isEmpty ? 0 : 1)
                for start in stride(from: 0, to: batches, by: 500) {
                    let batch = Array(calls[start..<min(start + 500, calls.count)])
                    try add("calls", Batch(removed: start == 0 ? changes.removed : [], calls: batch))
                }
                if let notes = changes.notes { try add("notes", notes.map { InspectorContent.Note($0) }) }
                if let parts = changes.parts { try add("parts", parts) }
            }
            if !text.isEmpty { try socket.write(Data(text.utf8)) }
            text = ""
            if socket.waitForPeerToLeave(milliseconds: 100) { return }
            // If the client sends bytes, the thread wakes up earlier.
            let rest = .milliseconds(100) - (ContinuousClock.now - begun)
            if rest > .zero { Thread.sleep(forTimeInterval: rest / .seconds(1)) }
        }
    }

    private struct About: Encodable { let isRevealed: Bool }

    private struct Batch: Encodable {
        /// The numbers of the calls that were removed.
        let removed: [Int]
        let calls: [InspectorContent.Summary]
    }
}
